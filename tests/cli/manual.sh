# Each manual page has exactly the options of the help, with the same letters and values.
pages=$TESTS/../../cli
plain() { sed -E 's/\\f[BIR]//g; s/\\-/-/g; s/\\\(aq/'"'"'/g; s/\\\(ha/^/g' "$1"; }
commands=$(echelon --help | sed -n '/^Commands:/,/^$/s/^  \([a-z0-9]*\) .*/\1/p' | grep -v '^help$')
for command in $commands; do
    page=$pages/echelon-$command.1
    [ -f "$page" ] || { echo "$page is missing" && continue; }
    echelon help "$command" >help.txt
    sed -n '/^Options:/,/^$/p' help.txt | grep -o -E '^  (-[A-Za-z], |    )--[a-z0-9-]+( [A-Z][^ ]*|\[=[A-Z]*\])?' |
        sed 's/^ *//' | sort >options
    plain "$page" | sed -n '/^\.SH OPTIONS/,/^\.SH/p' | grep -A 1 '^\.TP' | grep -E '^--?[A-Za-z]' | sort >documented
    diff options documented >differences || { echo "$command: help (<) and manual page (>)" && cat differences; }
    plain "$page" | grep -q -F "echelon-$command - $(sed -n "1s/^echelon $command - //p" help.txt)" ||
        echo "$command: the page has another summary than the help"
    plain "$pages/echelon.1" | grep -q -F "echelon-$command(1)" || echo "echelon.1 does not list $command"
done
for page in "$pages"/echelon-*.1; do
    command=${page##*/echelon-}
    echo "$commands" | grep -q -x "${command%.1}" || echo "$page is the page of no command"
done
echelon help gen | sed -n '/^Distributions/,/^$/p' | grep -o -E '^  [a-z0-9-]+' |
    while read -r distribution; do
        plain "$pages/echelon-gen.1" | grep -q -w -e "$distribution" || echo "$distribution is not in the manual"
    done
for code in 0 1 2 3 4; do
    plain "$pages/echelon.1" | sed -n '/EXIT STATUS/,/^\.SH/p' | grep -q -x "$code" || echo "exit status $code is missing"
done
if command -v mandoc >/dev/null; then mandoc -Tlint -W warning "$pages"/*.1; fi
echo "done"
