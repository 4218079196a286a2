# The plan of a sort; no device is needed.
for words in "--type f32 -N 100M" "--type u64 -N 2^30 --values 8" "--argsort" "-r --bits 0:8"; do
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
# The size from which a GPU chooses by a sample of the keys.
while read -r chosen words; do
    # shellcheck disable=SC2086
    echelon explain sort $words --device cuda >text 2>err
    code=$?
    if [ $code -eq 0 ]; then
        sed -n 's/^algorithm  *\([a-z]*\):.*/\1/p' text
    else
        grep -q "no CUDA backend" err && echo "$chosen"
    fi
done <<END
msd --type u32 -N 16777215
adaptive --type u32 -N 2^24
adaptive --type f32 -N 2^30
onesweep --type f32 -N 2^24 --values 4
adaptive --type i32 -N 2^24 --values 4
msd --type u64 -N 8388607
adaptive --type f64 -N 2^23 --values 8
onesweep --type u64 -N 2^32
END
# Products and eliminations over GF(2).
for words in "mul --b-columns 7" rref pluq "solve --b-columns 7" nullspace inverse "batch --batch-count 7"; do
    # shellcheck disable=SC2086
    echelon explain gf2 $words --shape 1000x2Ki --device cpu | grep -c -E '^(algorithm|workspace)'
done
code echelon explain gf2 batch --b-columns 7
code echelon explain gf2 mul --batch-count 7
echelon explain gf2 rref --shape 64x64 --device cpu --algorithm gauss | head -1
code echelon explain gf2 rref --shape 10 --device cpu
code echelon explain gf2 rref --shape 10xx --device cpu
code echelon explain gf2 ref
code echelon explain gf2
code echelon explain gf2 rref -N 10
code echelon explain sort --shape 10x10
# Products and systems; the output must not depend on the vendor libraries of the machine.
for words in "--shape 100x200 --b-columns 7" "--shape 100x200 --transpose-a --algorithm tiled" "--type f16 --shape 9x9 --transpose-b"; do
    # shellcheck disable=SC2086
    echelon explain matmul $words --device cpu | grep -c -E '^(algorithm|workspace)'
done
echelon explain solve --shape 1000x1000 --device cpu
echelon explain solve --shape 1Mx1M --nnz 5M --method cg --precond ic0 --device cpu
echelon explain solve --shape 2^25x2^25 --nnz 1 --type f32 --device cpu
echelon explain solve --method qr --shape 3000x100 --b-columns 5 --device cpu | grep -c -E '^(algorithm|kind|workspace)'
echelon explain solve --method lu --shape 0x0 --device cpu
code echelon explain solve --shape 10x20
code echelon explain solve --method ccg
code echelon explain solve --precond jacobi
code echelon explain solve --method cg --precond ic0
code echelon explain solve --method lu --nnz 10
code echelon explain solve --method lu --precond ic0
code echelon explain solve --b-columns 3
code echelon explain solve --algorithm tiled
code echelon explain solve --type f16
code echelon explain matmul --type i32
code echelon explain matmul --algorithm magic --device cpu
code echelon explain matmul mul
code echelon explain matmul -N 10
code echelon explain sort --transpose-a
code echelon explain matrix
# The same as JSON.
if command -v python3 >/dev/null; then
    for words in "sort" "hist --bins 10" "matmul" "solve" "gf2 rref"; do
        # shellcheck disable=SC2086
        echelon explain $words --device cpu --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["operation"])'
    done
else
    printf '%s\n' sort histogram matmul solve gf2_echelon
fi
