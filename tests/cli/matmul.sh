# Products of matrices of numbers.
printf '%%%%MatrixMarket matrix array real general\n2 3\n1\n4\n2\n5\n3\n6\n' >a.mtx
printf '%%%%MatrixMarket matrix coordinate real general\n3 2 3\n1 1 1\n2 2 1\n3 1 10\n' >b.mtx
code echelon matmul a.mtx b.mtx --check
code echelon matmul a.mtx b.mtx --type f32 --algorithm tiled -o c.npy
dump f4 c.npy 128
code echelon matmul --transpose-a a.mtx a.mtx -o gram.mtx --check
cat gram.mtx
code echelon matmul --transpose-b b.mtx a.mtx
code echelon matmul --transpose-b a.mtx a.mtx
code echelon matmul - a.mtx --transpose-b <a.mtx | tail -n 1
printf '1\n-1\n1\n' >x.txt
code echelon matmul a.mtx x.txt
code echelon matmul a.mtx a.mtx
code echelon matmul a.mtx
code echelon matmul - -
code echelon matmul a.mtx b.mtx --type i32
code echelon matmul a.mtx b.mtx --algorithm magic
code echelon matmul a.mtx not_there.mtx
code echelon matmul a.mtx b.mtx -o /not/there.mtx
files
