# sort --rows and --axis: rows and columns of arrays, lines of text, argsorts, wrong shapes.
printf '%s\n' 3 1 2 9 7 8 >a.txt
code echelon sort --rows 3 a.txt
code echelon sort --rows 2 -r a.txt
code echelon sort --rows 3 --argsort a.txt
printf '2,a\n1,b\n1,c\n0,d\n' >a.csv
code echelon sort --rows 2 --column 1 a.csv
echo "raw"
printf '\x03\x01\x02\x09\x07\x08' >a.u8
echelon sort --rows 3 a.u8 | od -An -t u1
echelon sort --rows 6 --bits 0:1 a.u8 | od -An -t u1
echo "a .npy array: each row, each column, in C and Fortran order"
{ npy '|u1' '(2, 3)'; cat a.u8; } >c.npy
{ npy '|u1' '(2, 3)' True; cat a.u8; } >f.npy
for name in c f; do
    for axis in 1 0; do
        echo "$name $axis"
        echelon sort --axis "$axis" "$name.npy" -o s.npy
        head -c 127 s.npy | tail -c +11 | tr -s ' '
        dump u1 s.npy 128
        echelon sort --axis "$axis" "$name.npy" -o s.u8
        dump u1 s.u8
        echelon sort --axis "$axis" --argsort "$name.npy" -o i.npy
        head -c 127 i.npy | tail -c +11 | tr -s ' '
        dump u8 i.npy 128
    done
done
echelon sort c.npy | cmp - <(echelon sort --axis 1 c.npy) && echo same
npy '<f4' '(0, 3)' >empty.npy
code echelon sort empty.npy -o s.npy
cmp empty.npy s.npy && echo same
echo "large rows"
echelon gen uniform --type f32 -N 60k -o many.f32
echelon sort --rows 20k many.f32 -o rows.f32
for i in 0 1 2; do
    head -c $(((i + 1) * 80000)) many.f32 | tail -c 80000 | echelon sort -y f32 --format raw
done | cmp - rows.f32 && echo same
echo "a matrix larger than a quarter of the budget is sorted out of core"
parts() { # INPUT OUTPUT OPTION...
    local in=$1 out=$2
    shift 2
    echelon sort -S 4G "$@" "$in" -o "want.$out"
    echelon sort -S 16Mi "$@" "$in" -o "got.$out" --json | grep -c 'out of core'
    cmp "want.$out" "got.$out" && echo "$in $out $*"
    # shellcheck disable=SC2002  # a pipe
    cat "$in" | echelon sort -S 16Mi "$@" - -o "got.$out" && cmp "want.$out" "got.$out"
}
echelon gen normal --type f32 -N 1200k -o big.f32
{ npy '<f4' '(1500, 800)'; cat big.f32; } >C.npy
{ npy '>f4' '(1500, 800)' True; cat big.f32; } >F.npy
parts C.npy npy --axis 1 -r
parts C.npy f32 --axis 0
parts C.npy u64 --axis 0 --argsort
parts C.npy npy --axis 1 --argsort
parts F.npy npy --axis 0
parts F.npy npy --axis 1 -r
parts big.f32 npy --rows 1200 --type f32 --format raw
echelon sort -S 16Mi --axis 0 -o got.npy <C.npy && cmp got.npy <(echelon sort --axis 0 -S 4G C.npy)
code echelon sort -S 16Mi --rows 7 big.f32
code echelon sort -S 16Mi --rows 7 -y f32 --format raw - <big.f32
cat big.f32 | code echelon sort -S 16Mi --rows 7 -y f32 --format raw -
code echelon sort -S 16Mi --axis 0 -T none C.npy
head -c 4000000 C.npy >short.npy
code echelon sort -S 16Mi short.npy -o got.npy
{ cat C.npy; echo; } >long.npy
code echelon sort -S 16Mi long.npy -o got.npy
{ npy '|u1' '(1, 20000000)'; head -c 20000000 /dev/zero; } >wide.npy
code echelon sort -S 16Mi wide.npy -o got.npy
rm -f ./*.npy ./*.f32 got.* want.*
npy '<f4' '(0, 3)' >empty.npy
{ npy '|u1' '(2, 3)'; cat a.u8; } >c.npy
echo "wrong"
code echelon sort --rows 4 a.u8
code echelon sort --rows 0 a.u8
code echelon sort --rows x a.u8
code echelon sort --axis 0 a.u8
code echelon sort --axis 2 c.npy
code echelon sort --axis 0 --rows 3 c.npy
code echelon sort --rows 3 c.npy
code echelon sort --check --rows 3 a.u8
code echelon sort --unique --axis 0 c.npy
code echelon sort --rows 3 --algorithm unheard-of a.u8
echo "plan"
echelon explain sort --rows 3 -N 6 | grep -E '^(device|algorithm)'
echelon explain sort --rows 3 -N 6 --argsort --json | grep operation
code echelon explain sort --rows 4 -N 6
code echelon explain sort --rows 0 -N 6
code echelon explain hist --rows 4
