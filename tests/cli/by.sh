# echelon topk --by and quantile --by: lines and quantiles of each group.
printf '%s\n' city,price,year Oslo,3,2020 Bodø,2.5,2020 Oslo,,2021 Oslo,7,2020 Bodø,1,2021 Oslo,7,2021 >t.csv
echo "topk"
code echelon topk -K 2 -k price --by city t.csv
code echelon topk -K 1 --smallest -k price --by year --by city t.csv
code echelon topk -K 2 --unsorted -k price --by city t.csv
code echelon topk -K 1 -k price --by city --index t.csv
code echelon topk -K 1 -k price --by year --string t.csv -o i.npy --index
dump u8 i.npy 128
code echelon topk -K 0 -k price --by city t.csv
code echelon topk -k price --by city t.csv
echelon gen few --values 40 -N 20000 --type u8 --format text >k.txt
echelon gen uniform -N 20000 --type i16 --seed 2 --format text >v.txt
paste -d ' ' k.txt v.txt >kv.txt
code echelon topk -K 3 -k 2 --by 1 kv.txt | cmp - <(sort -s -k 1,1n -k 2,2nr kv.txt | awk '++n[$1] <= 3') && echo same
echo "quantile"
code echelon quantile -k price --by city t.csv
code echelon quantile -k price --by city --nan ignore -q 0,0.25,1 t.csv
code echelon quantile -k price --by city --nan ignore -q 0.5 --method lower t.csv --json
code echelon quantile -k price --by city -o q.csv t.csv
cat q.csv
echo "errors"
code echelon topk --by city t.csv
code echelon topk --by city -k price --rows 3 t.csv
code echelon topk --string -k price t.csv
code echelon topk -k price --by city -o x.npy t.csv
{ npy '<i4' '(1,)'; printf '\1\0\0\0'; } >one.npy
code echelon topk -k 1 --by 1 one.npy
code echelon quantile --string -k price t.csv
code echelon quantile --by city t.csv
code echelon quantile -q 0.5,0.5 -k price --by city t.csv
code echelon quantile -k price --by city -o q.npy t.csv
files
