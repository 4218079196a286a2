# echelon stats: compared with awk, and with python3 if it is available.
seq 0 100 >n.txt
code echelon stats n.txt
printf '%s\n' 1 2.5 nan -3 1e10 -nan 2.5 >f.txt
code echelon stats f.txt
code echelon stats --json f.txt
printf '0.1\n0.2\n0.4\n' | code echelon stats --type f32
printf '0.1\n0.2\n0.4\n' | code echelon stats --type f32 --json
echo "one number, empty input, only NaN"
printf '7\n' | code echelon stats
code echelon stats </dev/null
printf 'nan\n' | code echelon stats --json
echo "minimum and maximum of the types"
printf '%s\n' 18446744073709551615 1 | code echelon stats
printf '%s\n' inf -inf | code echelon stats
printf '%s\n' -9223372036854775808 9223372036854775807 | code echelon stats --json
echo "exact integers"
printf '%s\n' 9223372036854775807 | code echelon stats --json
printf '%s\n' 18446744073709551615 18446744073709551615 | code echelon stats --json
printf '%s\n' -9223372036854775808 -9223372036854775808 5 | code echelon stats
echo "16-bit floats"
printf '%s\n' 65504 2049 260 4.125 0.1 | code echelon stats --type f16
printf '%s\n' 260 258 4.125 0.1 1e30 | code echelon scan max --type bf16
echo "columns, arrays of several dimensions"
printf 'x;y\n1;5\n2;\n3;7\n' | code echelon stats -k y
{ npy '|i1' '(2, 3)'; printf '\1\2\3\4\5\377'; } | code echelon stats --json
echo "compared with awk and python"
echelon gen normal -N 10000 --type f64 --format text >g.txt
echelon stats g.txt | awk '$1 ~ /^(mean|sd)$/ { printf "%s %.9f\n", $1, $2 }'
awk '{ s += $1; q += $1 * $1 } END { m = s / NR; printf "mean %.9f\nsd %.9f\n", m, sqrt(q / NR - m * m) }' g.txt
if command -v python3 >/dev/null; then
    echelon stats --json g.txt | python3 -c '
import json, math, sys
x = sorted(float(line) for line in open("g.txt"))
got = json.load(sys.stdin)
for p in (1, 5, 25, 50, 75, 95, 99):
    at = (len(x) - 1) * p / 100
    a, b = x[int(at)], x[min(int(at) + 1, len(x) - 1)]
    if abs(a + (b - a) * (at - int(at)) - got["%d%%" % p]) > 1e-12: print("quantile", p)
if [got["n"], got["min"], got["max"], got["distinct"]] != [len(x), x[0], x[-1], len(set(x))]: print(got)
if abs(got["sum"] - math.fsum(x)) > 1e-9: print("sum", got["sum"], math.fsum(x))'
fi
echo "errors"
code echelon stats --median n.txt
code echelon stats no.txt
code echelon stats n.txt n.txt
printf 'a\n' | code echelon stats --format text
printf 'a,b\n' >empty.csv
code echelon stats -k c empty.csv
code echelon stats -k b empty.csv
