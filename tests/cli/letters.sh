# Each short option is in the table of docs/cli.md and in echelon.1, with the same long option.  Only -k has two: it is
# --key in sort, whose simplest case is the --column of the other subcommands.
table() { sed -n '/^## Short options/,$p' "$TESTS/../../docs/cli.md" | grep '^| `-'; }
table | cut -d'`' -f 2 | sort | uniq -d | grep -v -x -e -k | sed 's/$/ is in the table twice/'
for command in $(echelon --help | sed -n '/^Commands:/,/^$/s/^  \([a-z0-9]*\) .*/\1/p' | grep -v '^help$'); do
    echelon help "$command" | sed -n -E 's/^  (-[A-Za-z]), (--[a-z0-9-]+).*/\1 \2/p'
done | sort -u >used
while read -r letter option; do
    table | grep -q -F "| \`$letter\` | \`$option\` |" || echo "$letter, $option is not in docs/cli.md"
done <used
table | grep -v '| reserved |' | sed -E 's/^\| `(-.)` \| `([a-z-]+)`.*/\1 \2/' | sort >listed
diff used listed && echo "the table has no other letters"
sed -n '/^\.SH "SHORT OPTIONS"/,/^\.SH "EXIT/p' "$TESTS/../../cli/echelon.1" | tr -d '\\' |
    sed -n -E 's/^fB(-.), (--[a-z0-9-]+)fR$/\1 \2/p' | sort | diff listed - && echo "echelon.1 has the same"
reserved=$(table | grep '| reserved |' | cut -d'`' -f 2)
for letter in $reserved; do
    tr -d '\\' <"$TESTS/../../cli/echelon.1" | grep -q -e "fB${letter}fR" || echo "echelon.1 does not reserve $letter"
done
# GNU sort is the reference for its letters.
for letter in b d f g h i M n R r V c C k m o s S t T u z; do
    table | grep -q -F "| \`-$letter\` |" || echo "-$letter of GNU sort is not in the table"
done
# An option with the name of a subcommand has its meaning, as --unique and --merge of GNU sort: --stats would be confused
# with "echelon stats".
commands=$(echelon --help | sed -n '/^Commands:/,/^$/s/^  \([a-z0-9]*\) .*/\1/p')
for command in $commands; do
    for name in $(echelon help "$command" | sed -n -E 's/^  (-[A-Za-z],|   ) --([a-z-]+).*/\2/p'); do
        echo "$commands" | grep -q -x "$name" || continue
        case $name in help | sort | merge | unique | check) ;; *) echo "$command --$name is also a subcommand" ;; esac
    done
done
echo "done"
