# Every kind of sort keeps to the memory budget, of which 16 MiB is the minimum, and has the result
# of a sort in memory.  The process itself needs about 4 MB more.
unset TMPDIR
export ECHELON_DEVICE=cpu # a driver of a GPU needs memory of its own
needs_plain_build
same() { # NAME INPUT OPTION...: of a file and of a pipe; with a suffix, the output is a file
    local name=$1 input=$2 want=want$suffix got=got$suffix
    shift 2
    if [ "$suffix" ]; then
        echelon sort -S 4G "$@" "$input" -o "$want"
        echelon sort -S 16Mi --timing "$@" "$input" -o "$got" 2>report
        cmp "$want" "$got" && echo "$name"
        echelon sort -S 16Mi --timing "$@" - -o "$got" <"$input" 2>>report
    else
        echelon sort -S 4G "$@" "$input" >want
        echelon sort -S 16Mi --timing "$@" "$input" 2>report | cmp - want && echo "$name"
        echelon sort -S 16Mi --timing "$@" - <"$input" 2>>report >got
    fi
    cmp "$want" "$got" && grep -o 'peak memory: process [0-9]*' report | tr -dc '0-9\n' |
        while read -r megabytes; do
            [ "$megabytes" -lt 24 ] && echo "  within the budget" || echo "  $megabytes MB"
        done
}

seq 100001 370000 | sed 's/\(.\)\(.*\)\(..\)$/\3.\2\1/' >n.txt # so many that a sort in memory exceeds the budget
yes '' | head -n 300000 >short.txt
yes 7 | head -n 300000 >sevens.txt
{ printf 'name,"x\ny"\r\n'; sed 's/.*/"a ""&"", b\n",&\r/' n.txt | head -n 150000; } >n.csv

suffix=
same 'positions' n.txt --argsort
same 'positions, unique' sevens.txt --argsort -u
same 'positions by a column' n.csv --argsort --column 2
same 'rows of lines' n.txt --rows 27000
same 'rows of lines by a column' n.csv --rows 250 --column 2 -r
same 'positions in rows' n.txt --rows 5 --argsort
same 'short lines' short.txt --string
same 'short numbers' sevens.txt
suffix=.npy
same 'an array' n.txt
same 'an array of positions by a column' n.csv --argsort --column 2
suffix=.f64
same 'rows of an array' n.txt --rows 27000 --type f64

echelon sort --debug -k1,1n -s n.txt 2>/dev/null >want
echelon sort -S 16Mi --debug -k1,1n -s n.txt 2>/dev/null | cmp - want && echo "--debug"

echo "arrays"
echelon gen uniform -N 4100k --type u8 -o a.u8
npy '|u1' '(2050, 2000)' True >f.npy
cat a.u8 >>f.npy
suffix=.npy
same 'columns, positions' f.npy --axis 0 --argsort
same 'rows, positions' f.npy --axis 1 --argsort
echelon gen uniform -N 6200k --type u8 -o g.u8
npy '|u1' '(3100, 2000)' True >g.npy
cat g.u8 >>g.npy
echelon sort -S 4G --key 0 --key 1:desc g.npy -o want.npy
code echelon sort -S 16Mi --key 0 --key 1:desc g.npy -o got.npy
cmp want.npy got.npy && echo 'rows as records'
code echelon records -S 16Mi --keys 0,1:desc - -o got.npy <g.npy
cmp want.npy got.npy && echo 'a pipe of them'
code echelon sort --resume -S 16Mi --key 0 g.npy -o got.npy
suffix=.u8
same 'columns' f.npy --axis 0
same 'rows' f.npy
suffix=.npy
npy '|u1' '(4100000,)' >a.npy
cat a.u8 >>a.npy
same 'an algorithm' a.npy --algorithm msd
same 'positions, an algorithm' a.npy --argsort --algorithm msd
code echelon sort -S 16Mi --algorithm nosuch a.npy -o b.npy
echelon sort -u a.npy -o b.npy
echelon sort -S 16Mi -u - <a.npy | cmp - b.npy && echo "a .npy pipe"
echelon sort -S 16Mi --format raw --type u8 --rows 1000 - <a.u8 -o b.npy
echelon sort --rows 1000 a.u8 | cmp - <(tail -c +129 b.npy) && echo "rows of a pipe"

echo "what is freed goes back to the system: blocks of more than 1 MB, each of another size"
seq 4000000 >many.txt
echelon sort -S 64Mi -f --timing many.txt -o many.sorted 2>report
megabytes=$(sed -n 's/.*peak memory: process \([0-9]*\).*/\1/p' report)
[ "$megabytes" -lt 72 ] && echo "  within the budget" || echo "  $megabytes MB"
rm many.txt many.sorted

echo "check"
sorted() { # NAME OPTION...: the message for a file and for a pipe
    code echelon sort -S 16Mi -c "$@"
    code echelon sort -S 16Mi -c "${@:2}" - <"$1"
}
sort -n sevens.txt n.txt >s.txt
sorted s.txt
{ cat s.txt; echo 5; } >t.txt
sorted t.txt
sorted t.txt --string
{ cat s.txt; echo x; } >t.txt
sorted t.txt
{ printf 'a,"b\nc"\n'; sed 's/.*/"p\nq",&/' s.txt; echo 1,2; } >t.csv
sorted t.csv --column 2
echelon sort a.u8 -o s.u8
sorted s.u8 --type u8 --format raw
printf '\3' >>s.u8
sorted s.u8 --type u8 --format raw
sorted s.u8 --type u16 --format raw

echo "quotes of CSV"
yes k,1 | head -n 1200000 >k.csv # equal keys, which are copied
for bad in 'x"y"z,1' '"a"b"c",1' '"a'; do
    { cat k.csv; echo "$bad"; echo a,1; } >bad.csv
    for option in '-S 4G' '-S 16Mi' -c -m; do
        # shellcheck disable=SC2086  # words
        echelon sort --csv -s -k2,2 $option bad.csv 2>&1 >/dev/null | grep -o 'a quote is .*near' || echo "$bad $option"
    done
done
files
