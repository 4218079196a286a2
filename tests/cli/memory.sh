# A limit of device memory: a GPU sorts in chunks; the CPU fails if the limit is too small.
echelon gen few -N 30000 --values 100 -o a.txt
echelon sort a.txt -o sorted.txt
code echelon sort a.txt --memory 10M -o b.txt
cmp sorted.txt b.txt && echo same
code echelon sort a.txt --device cpu --memory 1k -o b.txt
code echelon sort a.txt --memory much -o b.txt
if echelon info | grep -q simt; then
    ECHELON_LOG=info echelon sort a.txt --device simt --memory 200k -o b.txt 2>log.txt
    grep -c -E 'does not fit on simt: [0-9]+ chunks' log.txt
    cmp sorted.txt b.txt && echo same
else
    echo 1
    echo same
fi
