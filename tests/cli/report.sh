# --timing and --json: text on standard error, JSON on standard output if the data is in a file.
export ECHELON_DEVICE=cpu # the messages are those of the CPU
echelon gen -N 1000 --type f32 -o a.npy
code echelon sort a.npy -o b.npy --timing 2>stats
sed -E 's/[0-9]+\.[0-9]+/N/g; s/at most [0-9]+ threads?$/at most N threads/; s/ +/ /g; /^(device|reason|alternative|isa|thread|work|algo)/d' stats
code echelon sort a.npy -o b.npy --json >json
sed -E 's/"plan": "[^"]*"/"plan": P/; s/[0-9.]+(e-?[0-9]+)?([,}])/N\2/g' json
code echelon sort a.npy --json 2>json >c.npy
cat c.npy | head -c 6 | tail -c 5
echo
cut -c 1-10 json
if command -v python3 >/dev/null; then python3 -m json.tool json >/dev/null || echo "bad JSON"; fi
echo "the number of threads"
echelon gen -N 3M --type u32 -o a.u32
export OMP_NUM_THREADS=3 # the explanation does not depend on --threads
for threads in 1 3; do
    code echelon sort a.u32 -o b.u32 --threads $threads --timing 2>&1 | grep -o 'at most [0-9]* *thread.*\|^threads *at most [0-9]*'
    code echelon sort a.u32 -o b.u32 --threads $threads --json | grep -o -E '"threads": [0-9]+|threads +at most [0-9]+'
done
code echelon stats a.npy --timing 2>&1 >/dev/null | grep -o 'at most.*'
code echelon info | grep threads
code echelon info --json | grep -o -E '"threads": [0-9]+'
unset OMP_NUM_THREADS
echo "no output without an option"
code echelon sort a.npy -o b.npy
echo "the log"
ECHELON_LOG=error echelon sort a.npy -o b.npy
ECHELON_LOG=trace echelon sort a.npy -o b.npy 2>&1 | grep -c '^echelon: ' | sed 's/^[1-9][0-9]*$/many/'
