# Invalid numbers are reported with their line, and no output is written.
echo before >out.txt
try() {
    code echelon sort "$@" -o out.txt
}
printf '1\n2\nthree\n' | try --format text
printf '1\n\n2\n' | try --format text
printf '1\n2\n\n' | try --format text
printf '1\n  \t\r\n' | try --format text
printf '1,2\n3,4\n' >a.csv
try --format text a.csv
printf '1 2\n' | try --format text
printf '0x10\n' | try --format text
printf '1e\n' | try --format text
printf '1.5.2\n' | try --format text
printf -- '--1\n' | try --format text
printf -- '-\n' | try --format text
printf '.\n' | try --format text
printf 'na\n' | try --format text
printf 'infinite\n' | try --format text
printf '1\n2\0003\n' | try --format text
printf '1\n%0100d x\n' 5 | try --format text
printf '1\n\033[31m2\n' | try --format text
echo "out of the range of the type"
printf '1\n256\n' | try --type u8
printf '1\n-1\n' | try --type u64
printf -- '-129\n' | try --type i8
printf '1\n2.5\n' | try --type i32
printf '18446744073709551616\n' | try --type u64
echo "unknown formats"
head -c 1000 "$ECHELON" | code echelon scan -o out.txt
printf 'hello\n' | code echelon scan -o out.txt
printf '\x01\x02\x03' >a.bin
try a.bin
try a.bin --type u16
printf '\x01\x02\x03' | try --type f64
cat out.txt
files
