# The values of "sort --memory", which are those of GNU sort, except that a number without a unit counts bytes.
printf '2\n1\n' >in.txt
for value in 50M 20Mi 1G 2Ti 1P 1Pi 15E 20000000b 10e7 2^30 0 10 100b 1k; do
    echo "$value $(echelon sort --dry-run -S "$value" in.txt | sed -n 's/^memory *//p')"
done
for value in 1% 050%; do
    echelon sort --dry-run -S "$value" in.txt | grep -c '^memory'
done
for value in % 101% 10%% 10%b 1KiB 1MB 16E 1Z 1Qi 1PB 1Eix 5w -5 1.5G b P ''; do
    code echelon sort -S "$value" in.txt
done
code echelon sort -S 1M -S 2M in.txt
