# Every option and distribution that help names is in the manual.
manual=$TESTS/../../cli/echelon.1
for command in sort unique select shuf stats hist reduce scan gen gf2 matrix matmul solve explain profile ladder info; do
    echelon help $command | grep -o -E '^  (-[a-z], |    )--[a-z-]+' | grep -o -E -e '--[a-z-]+' |
        grep -v -e --help | while read -r option; do
        tr -d '\\' <"$manual" | grep -q -e "$option\b" || echo "$command $option is not in the manual"
    done
done
echelon help gen | sed -n '/^Distributions/,/^$/p' | grep -o -E '^  [a-z0-9-]+' |
    while read -r distribution; do
        tr -d '\\' <"$manual" | grep -q "$distribution" || echo "$distribution is not in the manual"
    done
for code in 0 1 2 3 4; do grep -q "^\.B $code\$" "$manual" || echo "exit code $code is not there"; done
echo "done"
