# A header that is longer than the look-ahead of 4096 bytes, with a newline between quotes.
{ printf '"the\nkey"'; seq -f ',column%.0f' 60000 | tr -d '\n'; echo; } >head.csv
{ cat head.csv; printf '3\n1\n2\n'; } >t.csv
{ cat head.csv; printf '1\n2\n3\n'; } >want.csv
sort_all() {
    echelon sort --csv -k 1n --header "$@"
}
sort_all t.csv | cmp - want.csv && echo "a file in memory"
cat t.csv | sort_all | cmp - want.csv && echo "a pipe"
sort_all --verify t.csv | cmp - want.csv && echo "a file"
sort_all --verify t.csv -o out.csv && cmp out.csv want.csv && echo "a file to a file"
cat t.csv | sort_all --verify -u t.csv - want.csv | cmp - want.csv && echo "several inputs"
echo "larger than memory"
{ cat head.csv; seq 700000; } >want.csv
{ cat head.csv; seq 700000 | tac; } >t.csv
sort_all -S 16Mi t.csv -o out.csv && cmp out.csv want.csv && echo "a file"
sort_all -S 16Mi t.csv | cmp - want.csv && echo "to a pipe"
cat t.csv | sort_all -S 16Mi -o out.csv && cmp out.csv want.csv && echo "a pipe"
echo "only a header"
cat head.csv | sort_all | cmp - head.csv && echo "a pipe"
head -c -1 head.csv | sort_all | cmp - head.csv && echo "without a newline"
head -c -1 head.csv >h.csv
sort_all --verify h.csv t.csv | cmp - want.csv && echo "and records in another input"
echo "errors"
sed 's/column7,/column8,/' want.csv | code sort_all --verify t.csv - -o out.csv
head -c 5000000 /dev/zero | tr '\0' x | code sort_all -S 16Mi -o out.csv
head -c 50000 head.csv >cut.csv
code sort_all --verify t.csv cut.csv -o out.csv
printf '"' | cat - head.csv | code sort_all -o out.csv
files
