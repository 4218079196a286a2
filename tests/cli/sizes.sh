# A short file with a large size in its header is rejected before memory is allocated.
market='%%MatrixMarket matrix coordinate'
echo "$market real general
2000000000 2000000000 1
1 1 1" >big.mtx
echo "$market real symmetric
9000000000000000000 9000000000000000000 0" >huge.mtx
echo "$market real general
3000000 3000000 1
1 1 1" >dense.mtx
echo "%%MatrixMarket matrix array real general
2000000 2000000
1" >array.mtx
echo "$market pattern general
100000 100000 1
1 1" >bits.mtx
printf '100000 100000 2\n1\n-1\n' >a.jcf
printf '100000 100000\n1 1\n1\n' >a.alist
printf 'P1\n100000 100000\n1\n' >text.pbm
printf 'P4\n100000 100000\n1' >a.pbm
{ npy '|u1' '(100000, 100000)'; printf 1; } >a.npy
for file in big.mtx huge.mtx array.mtx a.npy; do
    code echelon matrix info $file
    code echelon solve $file big.mtx
done
code echelon matmul dense.mtx dense.mtx 2>message.txt
sed 's/the [0-9]* bytes/N bytes/' message.txt
for file in bits.mtx a.jcf a.alist text.pbm a.pbm a.npy; do
    code echelon gf2 info $file
done
for file in bits.mtx a.jcf a.alist; do
    code echelon gf2 info <$file
    cat $file | code echelon gf2 info
done
echo "large matrices of few entries"
echo "$market real general
5000000 5000000 1
1 1 1" >fits.mtx
code echelon matrix info --no-picture --no-condition fits.mtx >facts
head -n 1 facts
echo "$market pattern general
50000 50000 1
1 1" | code echelon gf2 info >facts
head -n 1 facts
