# echelon unique, stats, merge and set of text: lines and columns, compared with sort, uniq and comm.
printf '%s\n' pear fig '' apple fig 07 7 fig '' >w.txt
echo "unique: every option"
for options in '' --count '--count --by-count' --by-count --repeated --singletons --mode '--mode --count' --appearance \
    '--appearance --count' --index --inverse '--inverse --appearance' --runs '--runs --count'; do
    # shellcheck disable=SC2086  # several words
    echo "$options: $(echelon unique $options w.txt | tr '\n' '|')"
done
code echelon unique --string --index w.txt -o i.npy
dump u8 i.npy 128
echo "a column; lines are those of the first occurrences"
printf '%s\n' 'city,x' Oslo,1 '"Ber,gen",2' Oslo,3 'Bodø,4' '"Ber,gen",5' >t.csv
code echelon unique -k city t.csv
code echelon unique -k 1 --count --by-count t.csv
code echelon stats -k city t.csv
code echelon stats -k 1 t.csv --json
echo "records of CSV with newlines"
printf '%s\n' '"a' 'b",1' c,2 '"a' 'b",1' >r.csv
code echelon unique --string r.csv
code echelon unique --string --count - <r.csv
code echelon unique -k 1 --appearance r.csv
code echelon stats -k 1 r.csv
rm r.csv
echo "numbers as text"
printf '%s\n' 1 01 1.0 10 9 1 >n.txt
code echelon unique n.txt
code echelon unique --string n.txt
code echelon stats --string n.txt
echo "what is text: neither of the first two values is a number"
printf '%s\n' '' x 1 | code echelon unique
printf '%s\n' '' x y 1 | code echelon unique
printf '%s\n' x '' y 1 | echelon unique --json 2>&1 | grep -o '"type": "[a-z0-9]*"'
printf '%s\n' name 1 2 | code echelon unique
printf '%s\n' 1 name 2 | code echelon unique
printf '%s\n' x y | code echelon unique --type i32
printf '%s\n' x y | code echelon unique --string --type i32
printf 'a\0b\nc\n' | code echelon unique
printf 'a\0b\na\n' | code echelon stats --string
printf 'b\r\na\nb\n' | echelon unique --count | od -c | head -3
code echelon stats --string </dev/null
code echelon stats --string --json </dev/null
echo "stats: bytes that are not text"
printf '\033[31m\n\377\n' | code echelon stats --string
printf '\033[31m\n\377\n' | code echelon stats --string --json
echo "compared with sort and uniq"
echelon gen few --values 300 -N 20000 --type u32 | od -An -v -w3 -t x1 | tr -d ' ' >hex.txt
code echelon unique --string hex.txt | cmp - <(sort -u hex.txt) && echo same
code echelon unique --string --count hex.txt | cmp - <(sort hex.txt | uniq -c) && echo same
code echelon unique --string --repeated hex.txt | cmp - <(sort hex.txt | uniq -d) && echo same
code echelon unique --string --appearance hex.txt | cmp - <(awk '!seen[$0]++' hex.txt) && echo same
echo "few and many distinct strings, which are ranked in different ways"
for distinct in 3000 20000; do
    for copy in 1 2; do seq $distinct | echelon shuf --seed $copy; done >numbers.txt
    code echelon unique --string --count numbers.txt | cmp - <(sort numbers.txt | uniq -c) && echo same
    code echelon unique --string --inverse numbers.txt |
        cmp - <(sort -u numbers.txt | awk 'NR == FNR { at[$0] = NR - 1; next } { print at[$0] }' - numbers.txt) && echo same
done
rm numbers.txt
echo "merge and set of files that are sorted as text"
printf '%s\n' apple banana banana fig >a.txt
printf '%s\n' app banana fig fig >b.txt
: >empty.txt
code echelon merge a.txt b.txt empty.txt
for operation in union intersection difference symmetric; do
    echo "$operation: $(echelon set $operation a.txt b.txt | tr '\n' ' ')"
done
printf '%s\n' fig banana | code echelon merge -r - b.txt
printf '%s\n' fig banana >r.txt
printf '%s\n' pear banana >s.txt
code echelon merge -r r.txt s.txt
code echelon set -r union r.txt s.txt
sort -u <(head -n 9000 hex.txt) >x.txt
sort -u <(tail -n 9000 hex.txt) >y.txt
sort -u <(tail -n 15000 hex.txt | head -n 9000) >z.txt
code echelon merge --string x.txt y.txt z.txt | cmp - <(sort -m x.txt y.txt z.txt) && echo same
code echelon set --string union x.txt y.txt | cmp - <(sort -m -u x.txt y.txt) && echo same
code echelon set --string intersection x.txt y.txt | cmp - <(comm -12 x.txt y.txt) && echo same
code echelon set --string difference x.txt y.txt | cmp - <(comm -23 x.txt y.txt) && echo same
code echelon set --string symmetric x.txt y.txt | cmp - <(comm -3 x.txt y.txt | tr -d '\t') && echo same
echo "a column of text"
printf '%s\n' k,v '"a,b",1' b,2 >p.csv
printf '%s\n' k,v '"a,b",3' c,4 >q.csv
code echelon merge -k k p.csv q.csv
code echelon set -k k difference p.csv q.csv
echo "errors"
printf '%s\n' 1 2 >n.txt
code echelon merge a.txt n.txt
code echelon merge --string a.txt n.txt -o m.npy
printf '%s\n' b a | code echelon merge --string a.txt -
printf '%s\n' h b a | code echelon set union a.txt - --header
code echelon merge --string --order total a.txt b.txt
code echelon set --string --type u8 union a.txt b.txt
code echelon merge --string a.txt i.npy
code echelon unique --string i.npy
code echelon unique w.txt -o w.npy
code echelon unique --count w.txt -o w.npy
files
