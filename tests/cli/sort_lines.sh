# Lines of text with the options of GNU sort; tests/sort_gnu.py compares the order itself.
printf 'pear 3\napple 10\nfig 3\n' >fruit.txt
code echelon sort fruit.txt
code echelon sort -k2,2n -k1,1r fruit.txt
code echelon sort -s -k 2n --parallel 1 fruit.txt
code echelon sort --sort=numeric -k2 -r fruit.txt
echo "the choice between numbers and lines"
printf '10\n9\n' >numbers.txt
for option in --string --numeric-sort --general-numeric-sort --reverse; do
    code echelon sort $option numbers.txt
done
printf '10\n9\nx\n' | code echelon sort
printf '10\n\n9\n' | code echelon sort
printf '1.5\n\0\n' | code echelon sort | od -An -c
note() { grep -o -e '"note": "[^"]*"' -e '"plan": "order[^"]*"' report; }
echelon sort numbers.txt --json -o out >report && note
echelon sort fruit.txt --json -o out >report && note
echelon sort -k2,2n -k1.2,1.3fb fruit.txt --json -o out >report && note
echo "several inputs"
code echelon sort numbers.txt fruit.txt -
printf 'numbers.txt\0fruit.txt' >names
code echelon sort --files0-from=names -u
printf 'numbers.txt\0\0' | code echelon sort --files0-from=-
code echelon sort --files0-from names fruit.txt
code echelon sort --files0-from /dev/null
code echelon sort fruit.txt missing.txt
echo "--merge"
printf 'a\nc\nc\n' >one
printf 'b\nc' >two
code echelon sort -m one two
code echelon sort -m -u one two
code echelon sort -m one two -o one
cat one
echo "--check"
code echelon sort -c -s fruit.txt
code echelon sort -C -s fruit.txt
code echelon sort -c -u two one
printf 'a\nb\nb\n' | code echelon sort -c
printf 'a\nb\nb\n' | code echelon sort -cu
printf 'h\nb\na\n' | code echelon sort -c --header --string
printf '3\n2\n' | code echelon sort -C
echo "a header"
printf 'name price\nfig 3\napple 10\n' >table.txt
code echelon sort --header -k2n table.txt
code echelon sort -k price:nr table.txt
code echelon sort -k price:n table.txt table.txt
code echelon sort -k prize table.txt
code echelon sort -k price --no-header table.txt
code echelon sort --header table.txt fruit.txt
code echelon sort -m -k price:n table.txt table.txt
code echelon sort -m -k price:n table.txt fruit.txt
echo "CSV"
printf '\357\273\277id,"the name"\r\n2,"b, c"\r\n10,"a\nz"\r\n' >table.csv
code echelon sort --csv -k id:n table.csv | od -An -c
code echelon sort --csv -k 'the name' table.csv | od -An -c
code echelon sort --csv -t '"' -k2 numbers.txt
code echelon sort --csv -t '\0' -k2 numbers.txt
# A quote opens a value only at the begin of a field, after spaces.
printf '1,  "x\ny"\n3,a "b\n4,c" d\n' >quotes.csv
code echelon sort --csv -m -k1,1nr quotes.csv <(printf '2,z\n')
code echelon sort --csv -c -k1,1nr quotes.csv
code echelon sort --csv -k1,1nr quotes.csv
code echelon sort --csv -t ';' -k2 numbers.txt
for record in '5" pipe,1' '"a"b,1' '1,"a' '"a""b" ,"",""""'; do
    printf '1,2\n%s\n' "$record" | code echelon sort --csv -k2,2
done
echo "zero-terminated records, delimiters"
printf 'b\nx\0a\0' | code echelon sort -z | od -An -c
printf 'a\tz\nb\ty\n' | code echelon sort -t tab -k2
printf 'a\0z\nb\0y\n' | code echelon sort -t '\0' -k2 | od -An -c
echo "--debug"
code echelon sort -k2n -k1.2,1.3 --debug fruit.txt
echo "a random order can be repeated"
head -c 16 /dev/zero >seed
echelon sort -R --random-source seed fruit.txt >first
echelon sort -R --random-source seed fruit.txt | cmp - first && sort first | cmp - <(sort fruit.txt) && echo same
code echelon sort -R --random-source /dev/null fruit.txt
echo "combinations without a meaning"
code echelon sort -k1 --column 1 fruit.txt
code echelon sort -n --type u8 numbers.txt
code echelon sort --argsort numbers.txt fruit.txt
code echelon sort --string -n numbers.txt
code echelon sort -n -M numbers.txt
code echelon sort -k1nM numbers.txt
code echelon sort -k1nd numbers.txt
code echelon sort --parallel 2 --threads 2 numbers.txt
code echelon sort -t, --field-separator=, fruit.txt
code echelon sort --csv -z fruit.txt
code echelon sort -c -C fruit.txt
code echelon sort -c -m fruit.txt
code echelon sort -c -o out fruit.txt
code echelon sort -c fruit.txt numbers.txt
code echelon sort --debug -o out fruit.txt
code echelon sort --header --no-header fruit.txt
code echelon sort --sort=size fruit.txt
code echelon sort -t ab fruit.txt
code echelon sort -t '' fruit.txt
code echelon sort -k 0 fruit.txt
code echelon sort -k 1.0 fruit.txt
code echelon sort -k 1, fruit.txt
code echelon sort -k 1x fruit.txt
code echelon sort -s -o out.npy fruit.txt
printf '\223NUMPY' | code echelon sort -s
code echelon sort -s .
echelon sort --version | grep -E -x 'echelon [0-9]+\.[0-9]+\.[0-9]+' | tr 0-9 N
files
echo "--check with a word, which only follows an equals sign"
for word in quiet silent diagnose-first q s diag; do
    code echelon sort -s --check=$word fruit.txt
    code echelon sort --check=$word two
done
code echelon sort --check quiet
code echelon sort -c --check two
code echelon sort --check=loud two
code echelon sort --check= two
code echelon sort --check=quiet --check two
code echelon sort -c --check=silent two
code echelon sort --check=silent -C two
code echelon sort --check=diagnose-first -C two
