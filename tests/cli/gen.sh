# The same seed gives the same file on every machine: these checksums never change.
for distribution in uniform normal sorted reversed almost constant few zipf hot and2 and4 and8; do
    for type in u8 i16 u32 i64 f16 bf16 f32 f64; do
        echo "$distribution $type $(echelon gen $distribution -N 10000 --type $type --format raw |
            cksum)"
    done
done
for type in f16 bf16 f32 f64; do
    echo "nan-mix $type $(echelon gen nan-mix -N 10000 --type $type --format raw | cksum)"
done
echo "seeds differ"
echelon gen uniform -N 3 --seed 2
echo "properties of the distributions"
echelon gen sorted -N 1000 --type f64 --format raw | echelon sort -c --type f64 --format raw
echo "exit $?"
echelon gen reversed -N 1000 --type i16 --format raw | echelon sort -cr --type i16 --format raw
echo "exit $?"
echelon gen few --values 3 -N 1000 | sort -u | wc -l
echelon gen constant -N 1000 --type f32 | sort -u | wc -l
echelon gen hot -N 10000 | tail -n 4096 | sort -u | wc -l
echelon gen zipf -N 10000 | sort -n | head -n 1000 | tail -n 1
echelon gen normal --type f64 -N 10000 | awk '{s += $1; q += $1 * $1}
    END {printf "%.1f %.1f\n", s / NR, q / NR}'
echo "counts"
for n in 0 7 2k 2Ki 1e3 2^10; do echelon gen -N $n | wc -l; done
echelon gen -N 1000 -o x.u16
wc -c <x.u16
echelon gen -N 1000 --type f64 -o x.npy
wc -c <x.npy
echo "text parses to the same keys"
for type in i8 u64 f16 bf16 f32 f64; do
    echelon gen normal -N 1000 --type $type -o a.txt
    echelon gen normal -N 1000 --type $type -o a.$type
    cmp <(echelon sort --type $type --argsort a.txt) \
        <(echelon sort --argsort a.$type | od -An -v -w8 -t u8 | tr -d ' ') && echo "$type same"
done
