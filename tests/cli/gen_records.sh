# The records of the sort benchmark.  The checksums are those that gensort 1.5 prints with -c.
for flags in '' --ascii --skewed '--ascii --skewed'; do
    echo "records $flags"
    for part in '0 1' '0 129' '0 20480' '1 20481' '255 1000' '4294967290 60000' '18446744073709551610 12'; do
        # shellcheck disable=SC2086  # options and their values
        echo "$part $(echelon gen records $flags --start ${part% *} -N ${part#* } --checksum 2>&1 >x)" \
            "$(cksum <x)"
    done
done
echo "checksums that were published"
echelon gen records -N 1M --checksum 2>sum | wc -c
cat sum
echelon gen records -N 163840 --ascii --checksum 2>sum | wc -c
cat sum
echo "ASCII"
echelon gen records -N 3 --ascii --start 2^32 | tr -d '\r'
echo "binary"
echelon gen records -N 1 | od -An -v -t x1 -w10
echo "parts are the same records as the whole"
for flags in '' --ascii --skewed '--ascii --skewed'; do
    # shellcheck disable=SC2086
    echelon gen records $flags -N 70000 -o whole.raw --threads 1
    # shellcheck disable=SC2086
    { echelon gen records $flags -N 30000; echelon gen records $flags -N 40000 --start 30000 --threads 3; } |
        cmp - whole.raw && echo same
done
echelon gen records | wc -c
echelon gen records -N 0 --checksum | wc -c
echelon gen records --ascii -N 20 -o a.txt
wc -l <a.txt
echo "options"
code echelon gen records --type u8
code echelon gen records --seed 2
code echelon gen records --values 2
code echelon gen records --format raw
code echelon gen --ascii
code echelon gen zipf --start 3
code echelon gen zipf --threads 1
code echelon gen records -o x.npy
code echelon gen records -o x.txt
code echelon gen records --ascii -o x.npy
code echelon gen records -N 2^62
code echelon gen records --start 2^64
code echelon gen records --threads many
code echelon gen records -N 1M >/dev/full
files
