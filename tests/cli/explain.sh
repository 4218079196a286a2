# What a sort would do; no device is needed.
for words in "--type f32 -n 100M" "--type u64 -n 2^30 --values 8" "--argsort" "-r --bits 0:8"; do
    for device in cpu cuda; do
        # shellcheck disable=SC2086
        echelon explain sort $words --device $device >text 2>err
        code=$?
        if [ $code -eq 0 ]; then
            grep -c -E '^(algorithm|workspace)' text
        else # a build without the backend
            grep -q "no CUDA backend" err && echo 2
        fi
    done
done
# And products and eliminations over GF(2).
for call in mul rref pluq solve kernel inverse batch; do
    echelon explain gf2 $call --shape 1000x2Ki --other 7 --device cpu | grep -c -E '^(algorithm|workspace)'
done
echelon explain gf2 rref --shape 64x64 --device cpu --algorithm gauss | head -1
code echelon explain gf2 rref --shape 10 --device cpu
code echelon explain gf2 rref --shape 10xx --device cpu
code echelon explain gf2 ref
code echelon explain gf2
code echelon explain gf2 rref -n 10
code echelon explain sort --shape 10x10
