# echelon quantile: every method, types, NaN, formats, and words that are wrong.
printf '%s\n' 7 1 9 3 4 2 >n.txt
echo "the median, and several quantiles"
code echelon quantile n.txt
code echelon quantile -q 0.1,0,1,0.55 n.txt
for method in linear inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen weibull \
    median_unbiased normal_unbiased lower higher midpoint nearest; do
    printf '%-26s %s\n' $method "$(echelon quantile --method $method -q 0.1,0.25,0.5,0.75 n.txt | tr '\n' ' ')"
done
echo "types: an element has that of the input"
printf '%s\n' 18446744073709551615 1 18446744073709551614 | code echelon quantile --method nearest
printf '%s\n' 18446744073709551615 1 18446744073709551614 | code echelon quantile
printf '%s\n' 0.1 0.2 | code echelon quantile --type f32 --method lower
echo "NaN"
printf '%s\n' 1 nan 3 | code echelon quantile -q 0,1
printf '%s\n' 1 nan 3 | code echelon quantile -q 0,0.5,1 --nan ignore
printf 'nan\n' | code echelon quantile --nan ignore
echo "JSON, files, a column"
code echelon quantile --json -q 0.25,0.5 --method lower n.txt
code echelon quantile -q 0.25,0.5 n.txt -o q.npy
code echelon quantile -q 1 q.npy
code echelon quantile n.txt -o q.txt
cat q.txt
printf 'name,price\na,3\nb,5\nc,4\n' >goods.csv
code echelon quantile -k price goods.csv
echo "many elements, on the emulator if there is one"
echelon gen uniform --type u32 -N 50000 --seed 3 -o u.u32
echelon quantile -q 0,0.001,0.5,0.999,1 u.u32
echo "words that are wrong"
code echelon quantile </dev/null
code echelon quantile -q 1.5 n.txt
code echelon quantile -q 0.5, n.txt
code echelon quantile -q x n.txt
code echelon quantile --method lineal n.txt
code echelon quantile --nan maybe n.txt
code echelon quantile --json -o x.txt n.txt
code echelon quantile n.txt -o x.f32
