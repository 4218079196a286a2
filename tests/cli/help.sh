# The text of the help, so that changes are visible in the diff.
code echelon --help
code echelon help
for command in sort topk merge set unique select shuf stats quantile hist reduce scan gen gf2 matrix matmul solve explain profile emulate ladder info completion records search check bench; do
    code echelon help "$command"
    echelon "$command" --help | cmp - <(echelon help "$command") && echo "same"
done
echelon --version | sed 's/[0-9][0-9.]*\.[0-9]*$/N/'
for command in $(echelon --help | sed -n '/^Commands:/,/^$/s/^  \([a-z0-9]*\) .*/\1/p' | grep -v '^help$'); do
    echelon "$command" --version | cmp - <(echelon --version)
done
