# Real data: hourly temperatures of a year.
cp "$DATA/seattle-temperatures.txt" hours.txt
code echelon sort hours.txt -o sorted.txt
cmp <(sort -s -g hours.txt) sorted.txt && echo "identical to GNU sort"
head -n 1 sorted.txt
tail -n 1 sorted.txt
echelon sort -u hours.txt | wc -l
code echelon sort -c sorted.txt
code echelon sort -c hours.txt
echo "the hottest hour of the year, counted from 0"
echelon sort --argsort -r hours.txt | head -n 1
