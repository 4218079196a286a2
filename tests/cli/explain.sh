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
# What a GPU chooses.
while read -r chosen words; do
    # shellcheck disable=SC2086
    echelon explain $words --device cuda >text 2>err
    code=$?
    if [ $code -eq 0 ]; then
        got=$(sed -n 's/^algorithm  *\([a-z]*\):.*/\1/p' text)
        echo "$got"
        # The words of the list must be right, because a build without the backend prints them.
        [ "$got" = "$chosen" ] || echo "instead of $chosen: explain $words"
    else
        grep -q "no CUDA backend" err && echo "$chosen"
    fi
done <<END
msd sort --type u32 -N 16777215
adaptive sort --type u32 -N 2^24
adaptive sort --type f32 -N 2^30
onesweep sort --type f32 -N 2^24 --values 4
adaptive sort --type i32 -N 2^24 --values 4
msd sort --type u64 -N 8388607
adaptive sort --type f64 -N 2^23 --values 8
onesweep sort --type u64 -N 2^32
warp search --needles 4096
binary search --needles 4097
tree search
sorted search -N 2^22 --needles 2^22 --needles-sorted
rounds merge -N 2^26 --runs 16
sort merge -N 2^26 --runs 17
rounds merge -N 2^26 --runs 17 --values 4
sort quantile
select quantile -N 2^24 --ranks 16
sort quantile -N 2^24 --ranks 17
merge strings -N 2^17
refine strings
END
echelon explain unique --appearance --device cuda >text 2>err
if [ $? -eq 0 ]; then grep -c unique_appear text; else grep -q "no CUDA backend" err && echo 1; fi
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
# Sorted arrays, distinct elements, quantiles, columns and strings.
while read -r words; do
    # shellcheck disable=SC2086
    echelon explain $words --device cpu | sed -n -E 's/^(algorithm|alternative)  *([a-z_]*):.*/\2/p; s/^workspace .* bytes$/bytes/p' |
        tr '\n' ' ' && echo "$words"
done <<END
merge
merge --type f32 -N 100 --values 4 -r --order total
merge --runs 3
merge --runs 17
merge --runs 17 --algorithm rounds
merge --runs 17 --type f32
merge --runs 17 --type f32 --order total
set union
set symmetric --values 8 --type f64 -r --order total
unique
unique --mode
unique --appearance --type f64
search
search --needles-sorted --needles 2^22 -N 2^28 -r
search --algorithm sorted --type f64 --order total
quantile
quantile --ranks 5 --algorithm sort
columns
columns --type i32,f64,u8 --nulls -r --order total
strings --nulls -r
END
# The options reach the library: the workspace depends on them.
bytes() { echelon explain "$@" --device cpu | sed -n 's/^workspace  *//p'; }
[ "$(bytes unique)" != "$(bytes unique --mode)" ] && echo "mode"
[ "$(bytes merge --runs 3)" != "$(bytes merge --runs 3 --values 8)" ] && echo "values"
[ "$(bytes merge --runs 3)" != "$(bytes merge --runs 3 --type u64)" ] && echo "type"
[ "$(bytes strings)" != "$(bytes strings -N 1000)" ] && echo "n"
[ "$(bytes columns --type u64)" != "$(bytes columns --type u64,u64)" ] && echo "columns"
[ "$(echelon explain columns --type u8,u16 --device cpu | grep '^key bits')" != \
    "$(echelon explain columns --type u8,u16 --nulls --device cpu | grep '^key bits')" ] && echo "nulls"
code echelon explain set
code echelon explain set unoin
code echelon explain set union intersection
code echelon explain merge union
code echelon explain merge --needles 3
code echelon explain merge --runs 0 --device cpu
code echelon explain search --runs 3
code echelon explain search --values 4
code echelon explain unique --algorithm sort
code echelon explain unique --appearance --mode
code echelon explain unique -r
code echelon explain quantile --order total
code echelon explain quantile --algorithm magic --device cpu
code echelon explain columns --type i32,
code echelon explain columns --type i32,f63
code echelon explain columns --type u8,u8,u8,u8,u8,u8,u8,u8,u8,u8,u8,u8,u8,u8,u8,u8,u8
code echelon explain strings --type u8
code echelon explain sort --nulls
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
    for words in "sort" "hist --bins 10" "matmul" "solve" "gf2 rref" "merge --runs 5" "set union" "unique" "search" "quantile" "columns" "strings" \
        "is_sorted" "scan" "reduce dot" "select flags" "arrange fill" "records" "matvec" "csr spmm"; do
        # shellcheck disable=SC2086
        echelon explain $words --device cpu --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["operation"])'
    done
else
    printf '%s\n' sort histogram matmul solve gf2_echelon merge_many union unique_all lower_bound quantiles argsort_columns argsort_strings \
        is_sorted scan_rows dot select_flags fill sort_records matvec spmm
fi
# Each function of the library that explains a call has an operation.
echelon explain frobnicate 2>&1 | sed 's/.*use one of: //' | tr ' ' '\n' | sort >operations
sed -n 's/.*ech_status ech_\(.*\)_explain(.*/\1/p' "$TESTS"/../../include/echelon/*.h |
    sed -e 's/^argsort$/sort/' -e 's/^argsort_columns$/columns/' -e 's/^sort_records$/records/' -e 's/^sort_segments$/sort/' \
        -e 's/^set_operation$/set/' -e 's/^merge_many$/merge/' -e 's/^histogram$/hist/' -e 's/^direct$/solve/' -e 's/^solve_sparse$/solve/' |
    sort -u | diff - operations && echo "explained"
# Scans, reductions, selections, arrangements, checks of order, records, sparse and dense matrices.
while read -r words; do
    # shellcheck disable=SC2086
    echelon explain $words --device cpu | sed -n -E 's/^(algorithm|alternative)  *([a-z_]*):.*/\2/p; s/^workspace .* bytes$/bytes/p' |
        tr '\n' ' ' && echo "$words"
done <<END
scan
scan max --rows 1000 --type f32 -r
scan --segments 10
scan --by-key
reduce
reduce minmax --rows 1000
reduce max --segments 10
reduce --by-key --type f64
reduce dot --type f32
select
select flags
select partition-if --type u8
select partition-flags
select partition-3way
select unique
select unique-by-key --values 8
select rle-encode
select rle-decode
arrange
arrange scatter
arrange reverse
arrange rotate
arrange transpose --type f64
arrange fill
arrange iota
arrange permutation
arrange shuffle
is_sorted --type f32 -r --order total
records --type i32,f64 --record 100
records --type u8 -r --algorithm lsd
sort --segments 10 --argsort
sort --segments 10 --values 8
topk --segments 10
matvec --shape 100x200 --transpose-a --type f32
csr --shape 1Mx1M --nnz 5M
csr spmm --b-columns 8
csr transpose
csr from-coo
END
[ "$(bytes csr from-coo --shape 100x100 --nnz 1M)" != "$(bytes csr from-coo --shape 100x100)" ] && echo "nnz"
[ "$(bytes records --record 8)" != "$(bytes records --record 80)" ] && echo "record"
code echelon explain scan mean
code echelon explain scan frobnicate
code echelon explain reduce dot --rows 10
code echelon explain reduce --rows 10 --segments 10
code echelon explain reduce --rows 10 --by-key
code echelon explain select where
code echelon explain select --values 8
code echelon explain arrange sort
code echelon explain csr spmv --b-columns 8
code echelon explain csr --type i32
code echelon explain is_sorted --algorithm sort
code echelon explain records --type i32 --record 2 --device cpu
code echelon explain matvec --transpose-b
