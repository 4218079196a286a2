# Combinations of options of "sort" that are rare, and what they mean or why they are errors.
printf 'b\na\nc' >l
: >e
echo "empty inputs"
for options in '' -u -m -z --csv --header --verify '-k2,2n' '--record 4' '--type u32' '--column 1'; do
    # shellcheck disable=SC2086  # words
    echelon sort $options e -o out && [ ! -s out ] && echo "$options: empty"
    rm -f out
done
code echelon sort -k name e
code echelon sort --csv -k name:n - <e
echo "a folder of temporary files that is not used"
printf 'b\na\n' | code echelon sort -T none
printf 'a\nb\n' >sorted
code echelon sort -m -T none sorted sorted -u
rm sorted
code echelon sort -c -T none e
echo "records: an option that has no meaning is an error"
printf 'aabbaa' >rec
code echelon sort -s -u --order total --format raw --record 2 rec -o rec && cat rec && echo
for options in -f -n --csv --string '-t ,' -z --header --no-header '--type u16' '--rows 1' '--bits 0:1' \
    '--column 1' '--format text' -m -c -C; do
    # shellcheck disable=SC2086  # words
    code echelon sort --record 2 $options rec
done
echo "--check writes nothing"
for option in --verify --dry-run --consume; do
    code echelon sort -c $option l
done
echo "--consume needs a file"
code echelon sort --consume l -o -
code echelon sort --consume l -o /dev/null
code echelon sort --consume l missing -o out
cp l l2
ln l2 l3
code echelon sort --consume l2 -o l3
cp l l4
code echelon sort --consume l4 l4 -o l4
cat l4
echo "text is needed"
npy '<u4' '(1,)' >a.npy
printf '\1\0\0\0' >>a.npy
code echelon sort -m a.npy l
code echelon sort -m l a.npy -o out
code echelon sort -c --string a.npy
code echelon sort -C -k1 a.npy
echo "words"
printf '10\n9\n' | code echelon sort --sort=num
code echelon sort --sort=x l
code echelon sort --parallel x l
code echelon sort --parallel 100000 l
files
