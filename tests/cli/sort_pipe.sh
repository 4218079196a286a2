# Text without an option for lines, and columns of numbers, that do not fit in the budget: a file or
# a pipe, which is copied if it may be numbers.  The result is that of a sort in memory.
unset TMPDIR
same() { # NAME OPTION...: of a file, of a pipe, and with --verify
    local name=$1
    shift
    echelon sort -S 4G "$@" "$name" >want 2>want.err
    echo "$name $*: exit $?, $(wc -l <want) lines"
    echelon sort -S 16Mi "$@" "$name" 2>got.err | cmp - want && cmp got.err want.err
    echelon sort -S 16Mi --verify "$@" "$name" 2>got.err | cmp - want && cmp got.err want.err
    # shellcheck disable=SC2002  # a pipe
    cat "$name" | echelon sort -S 16Mi "$@" 2>got.err | cmp - want
    sed "s/standard input/$name/" got.err | cmp - want.err
    cat want.err >&2
}
blanks=$(printf '%90s' '')
echelon gen uniform -N 45k --type i64 | sed "s/\$/$blanks/" >a.txt
{ cat a.txt; echo abc; head -n 9 a.txt; } >late.txt
{ echo abc; cat a.txt; } >early.txt
{ printf '\357\273\277'; cat a.txt; printf 7; } >mark.txt
{ cat a.txt; echo 0.5; } >float.txt
for name in a late early mark float; do same $name.txt; done
same a.txt -u --type i64 --bits 0:6
echo "the choice"
for name in a late; do
    cat $name.txt | echelon sort -S 16Mi --timing 2>&1 >/dev/null | grep 'a number'
done
printf '10\n9\n' | code echelon sort --verify
printf '10\n9\nx\n' | code echelon sort --verify
cat a.txt | code echelon sort -S 16Mi -T none
cat a.txt | code echelon sort -S 16Mi --resume -o out.txt
echo "columns"
seq 1 45000 | sed 's/.*/&,"x, &"/' | paste -d, a.txt - >b.csv
{ echo 'value,id,"no
te"'; sed 's/,"x, 2[0-9]*7"/,"a\n""b"""/; s/^[0-9-]*3,/,/' b.csv; } >quotes.csv
{ cat b.csv; echo '1;2'; } >short.csv
{ cat b.csv; echo '1,2,"a'; } >open.csv
{ cat quotes.csv; echo '1,"2"3,'; } >text.csv
same b.csv --column 2 -r
same quotes.csv --column id -u
same quotes.csv --column value --type f64 --order total -r
same quotes.csv --column value
same short.csv --column 2
same open.csv --column 2
same text.csv --column 2
printf 'id,x' | code echelon sort --verify --column id
code echelon sort --verify --column id </dev/null
printf 'b 2\na 10\n' | code echelon sort --verify --column 2
cat b.csv | code echelon sort -S 16Mi --column 2 -r --json 2>&1 >/dev/null | grep -o '"\(type\|n\|header\)": [^,]*'
head -c 9000000 /dev/zero | tr '\0' 1 | code echelon sort -S 16Mi --type f64
printf '1\n2\n' | code echelon sort --verify --argsort --format text
echo "a reader that ends early ends the sort without a message, also if a thread writes"
for memory in 4G 16Mi; do
    echelon sort -S $memory --string a.txt | head -n 1 | tr -d ' '
    echo "status ${PIPESTATUS[0]}"
done
