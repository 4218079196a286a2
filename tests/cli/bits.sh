# --bits sorts by part of the key; numbers with equal bits keep their order.
printf '%s\n' 17 33 2 18 1 34 >a.txt
code echelon sort --bits 0:4 a.txt
code echelon sort --bits 4:8 -r a.txt
code echelon sort --bits 0:4 -u a.txt
code echelon sort --bits 0:4 --argsort a.txt
echo "raw"
printf '\x11\x21\x02\x12\x01\x22' >a.u8
echelon sort --bits 0:4 a.u8 | od -An -t x1
echelon sort --bits 0:4 -u a.u8 | od -An -t x1
echelon sort --bits 0:4 a.u8 | echelon sort -c --bits 0:4 --type u8 --format raw
echo "exit $?"
for bits in 0:1 7:8 0:8 3:5; do
    for flags in '' -r -u; do
        for type in i8 f16 f32 u64; do
            # shellcheck disable=SC2086
            echelon gen uniform -N 1000 --type $type --format raw |
                echelon sort --type $type --format raw --bits $bits $flags |
                echelon sort -c --type $type --format raw --bits $bits $flags || echo "not sorted"
        done
    done
done
