# The line that "sort --check" names is that of the file, also if records span several lines.
printf 'n,"a\nb"\n1,"x\n\ny"\n3,z\n2,"p\nq"\n' >t.csv
code echelon sort -c --csv -k n:n t.csv
code echelon sort -c --csv -k n:n - <t.csv
code echelon sort -c --csv --header -k1,1n t.csv
code echelon sort -c --column n t.csv
code echelon sort -c --column n -u - <t.csv
printf '1,"x\ny"\n2,z\n2,y\n' | code echelon sort -c --csv -k1,1n -s -u
printf '1,"x\ny"\n2,z\n2,y\n' | code echelon sort -c --column 1 -t , -u
echo "several blocks"
{ seq 400000 | awk '{ printf "%07d,\"a\nb\nc\"\n", $1 }'; echo 0; } >t.csv
code echelon sort -c --csv -k1,1 t.csv
echo "lines and zero bytes"
printf 'a\0b\nb\0a\0' | code echelon sort -cz
printf 'h\n2\n1\n' | code echelon sort -c --column h
printf 'h\n2\nx\n1\n' | code echelon sort -c --header
