# The text of the help, so that changes are visible in the diff.
code echelon --help
code echelon help
for command in sort topk merge set unique select shuf stats quantile hist reduce scan gen gf2 matrix matmul solve explain profile emulate ladder info; do
    code echelon help "$command"
    echelon "$command" --help | cmp - <(echelon help "$command") && echo "same"
done
echelon --version | grep -E -x 'echelon [0-9]+\.[0-9]+\.[0-9]+' | tr 0-9 N
