# Lines are reordered and otherwise unchanged.
printf '10\n9\n-3\n+7\n007\n' >integers.txt
code echelon sort integers.txt
code echelon sort -r integers.txt
code echelon sort -u integers.txt
echo "blanks, CRLF, no newline at the end"
printf ' 3\r\n\t1 \r\n2' | echelon sort | od -An -c
echo "floats"
printf '1e3\n.5\n-inf\nNaN\n5.\n-0\n0\nInfinity\n-nan\n1e-400\n' | code echelon sort
echo "descending: NaN first, equal numbers keep their order"
printf '1\n-0\nnan\n0\n-nan\n' | code echelon sort -r
echo "totalOrder"
printf '0\n-0\nnan\n-nan\n1\n' | code echelon sort --order total --type f64
echo "--unique keeps the first of equal numbers"
printf '1.0\n1\n2\n1.00\nnan\n-nan\n-0\n0\n' | code echelon sort -u
echo "automatic types"
printf '18446744073709551615\n9007199254740993\n9007199254740992\n' | code echelon sort
printf -- '-9223372036854775808\n9223372036854775807\n9223372036854775806\n' | code echelon sort
echo "integers are not rounded without --type f64"
printf '18446744073709551615\n-1\n' | code echelon sort
printf -- '-1\n5\n9223372036854775809\n' | code echelon sort
printf -- '-1\n5\n9223372036854775808\n' | code echelon sort
printf '99999999999999999999999\n1\n' | code echelon sort
printf '18446744073709551616\n1\n' | code echelon unique
printf -- '-9223372036854775809\n1\n' | code echelon select '>0'
printf '9007199254740993\n0.5\n9007199254740992\n' | code echelon unique
printf '9007199254740992\n0.5\n-9007199254740992\n9007199254740993.0\n1e30\n' | code echelon sort
printf '0.5\n-9007199254740993\n' | code echelon stats
printf '0.5\n 9007199254740993 \nx\n' | code echelon sort --format text
printf 'id,x\n7,9007199254740993\n8,\n9,9007199254740992\n' >ids.csv
code echelon unique -k x ids.csv
code echelon sort --column x ids.csv
code echelon select -k x '==9007199254740992' ids.csv
code echelon sort --column x --type f64 ids.csv
code echelon unique -k x --type u64 ids.csv
printf '18446744073709551616\n1\n' | code echelon sort --type f64
printf '%01000d\n0.5\n' 9 | sed s/00/11/g | code echelon sort
echo "--type"
printf '255\n0\n128\n' | code echelon sort --type u8
printf -- '-128\n127\n0\n' | code echelon sort --type i8
printf '0.1\n1e-9\n65504\n' | code echelon sort --type f16
printf '3e38\n1e-40\n1\n' | code echelon sort --type bf16
printf '16777217\n16777216\n0.1\n' | code echelon sort --type f32
echo "empty input"
code echelon sort </dev/null
printf '5' >one.txt
code echelon sort one.txt
