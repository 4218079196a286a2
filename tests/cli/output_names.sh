# The format of the output is that of its extension, otherwise that of the input.
seq 3 >n.txt
printf '\1\2\1' >a.u8
echelon gen sorted -N 3 --type u16 -o a.npy
{ npy '>i2' '(2,)'; printf '\0\1\0\2'; } >big.npy
show() {
    code "$@"
    for file in o.*; do
        if head -c 6 "$file" | grep -q NUMPY; then
            head -c 128 "$file" | tail -c +11 | tr -s ' '
            tail -c +129 "$file" | od -An -v -t u1
        else
            od -An -v -c "$file"
        fi
        rm "$file"
    done
}
echo "another format"
show echelon scan n.txt -o o.npy
show echelon scan --type f32 n.txt -o o.f32
show echelon scan max a.npy -o o.txt
show echelon scan --accumulate-wide a.u8 -o o.npy
show echelon scan max big.npy -o o.bin
show echelon select '>1' n.txt -o o.npy
show echelon select '>1' n.txt --index -o o.u64
show echelon select '>1' a.npy -o o.txt
show echelon select '>=1' a.u8 --index -o o.txt
show echelon unique a.u8 -o o.csv
show echelon unique n.txt -o o.npy
show echelon shuf --seed 1 a.u8 -o o.txt
show echelon sort -r n.txt -o o.npy
show echelon sort -r --type f32 n.txt -o o.f32
show echelon sort -u a.npy -o o.txt
show echelon sort big.npy -r -o o.i16
show echelon sort -u a.u8 -o o.npy
show echelon sort --argsort n.txt -o o.npy
show echelon sort --argsort a.npy -o o.u64
show echelon sort --argsort a.u8 -o o.txt
printf 'x,y\n1,2\n0,1\n' | show echelon sort --column y -o o.npy
show echelon gen sorted -N 3 -o o.u16
show echelon gen sorted -N 3 --type u16 --format npy -o o.npy
show echelon shuf --seed 1 a.u8 -o o.npy
printf 'x,y\n1,2\n' | show echelon select zero -v -k y -o o.npy
echo "unknown extensions"
show echelon scan n.txt -o o.dat
show echelon scan a.u8 -o o.dat
show echelon sort n.txt -o o.dat
show echelon sort --argsort a.u8 -o o.dat
show echelon unique --count a.u8 -o o.dat
show echelon shuf --permutation 1 -o o.dat
echo "errors"
code echelon scan a.u8 --accumulate-wide -o o.u8
code echelon scan a.u8 -o o.i8
code echelon select '>1' a.u8 --index -o o.u8
code echelon select '>1' a.u8 --count -o o.u8
code echelon unique --count a.u8 -o o.u8
code echelon sort a.npy -o o.f32
code echelon sort n.txt -o o.u8
code echelon sort --argsort a.u8 -o o.u8
code echelon gen --format npy -o o.f32
code echelon gen --format raw --type f32 -o o.txt
code echelon gen --type u8 -o o.u16
code echelon shuf n.txt -o o.npy
code echelon shuf a.npy -o o.u64
code echelon shuf --permutation 5 --type u64 -o o.u32
code echelon reduce sum a.npy -o o.u64
files
