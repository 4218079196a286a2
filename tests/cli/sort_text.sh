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
printf '18446744073709551615\n-1\n' | code echelon sort
printf '99999999999999999999999\n1\n' | code echelon sort
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
