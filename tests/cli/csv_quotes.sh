# Records of CSV with quoted delimiters, quotes and newlines keep their bytes.
cat >notes.csv <<'CSV'
id,"a ""long""
name",price
7,"Smith, A.",1.5
3,"two
lines, and
three",-2
9,"a ""quote""","4"
1,"",
CSV
echo "each subcommand"
code echelon sort --column id notes.csv
code echelon sort --column price -r notes.csv
code echelon sort --argsort --column 1 notes.csv
code echelon sort -u --column 1 notes.csv -o out.csv
code echelon sort -c --column id out.csv
code echelon topk --smallest -K 2 -k id notes.csv
code echelon select -k id '>2' notes.csv
code echelon select --invert -k price '>0' notes.csv
code echelon unique --count -k id notes.csv
code echelon merge -k id out.csv out.csv
code echelon merge -k id out.csv notes.csv
code echelon set intersection -k id out.csv out.csv
code echelon quantile -q 0.5 -k price notes.csv
code echelon stats -k price notes.csv
code echelon reduce sum -k id notes.csv
code echelon scan sum -k id notes.csv
code echelon hist -k id --bins 2 notes.csv
code echelon shuf --seed 1 --header notes.csv -o mixed.csv
code echelon sort --column id mixed.csv | cmp - out.csv && echo same
code echelon shuf --seed 1 -K 2 - <mixed.csv
echo "names of columns: quotes are removed, two quotes are one"
printf '"x ""y""",z\n2,a\n1,b\n' | code echelon sort --column 'x "y"'
printf '"a\nb",z\n2,a\n1,b\n' | code echelon sort --column $'a\nb'
printf '"a\nb",z\n2,a\n1,b\n' | code echelon sort --column missing
echo "the delimiter is outside quotes"
printf '"a,b";1\n"c\td";0\n' | code echelon sort --column 2
printf 'x,"a\tb",2\ny,"c;d",1\n' | code echelon sort --column 3
printf '"a b" 2\n"c d" 1\n' | code echelon sort --column 3
printf '"a b" 2\n"c d" 1\n' | code echelon sort --column 2 --delimiter ' '
printf "1|'x|y'\n0|'z'\n" | code echelon sort --column 1 --delimiter '|'
echo "CRLF, a byte order mark, no newline at the end"
printf '\xef\xbb\xbfid,x\r\n2,"a\r\nb"\r\n1,c\r\n' | code echelon sort --column id | od -An -c
printf '2,"a\n"\n1,"b\n"' | code echelon sort --column 1 | od -An -c
printf '2,"a\rb"\r\n1,c\r\n' | code echelon sort --column 1 | od -An -c
echo "blanks around quotes; quotes inside a field; empty quotes; a record of quotes"
printf '"2" , "a,\nb" ,x\n1,5" pipe,y\n' | code echelon sort --column 1
printf '"",x\n"1",y\n" 0 ",z\n' | code echelon sort --column 1
printf '2,""""\n1,""""""\n' | code echelon sort --column 1
printf '2,"\n\n\n"\n1,"\n"\n' | code echelon sort --column 1
echo "errors name the line of the fault"
printf 'id,x\n1,"a\nb"\n2,"c\n3,d\n' | code echelon sort --column id
printf 'id,x\n1,"a\nb",2\n2\n' | code echelon sort --column 3
printf 'x,id\n"a\nb",1\n"c\nd",z\n' | code echelon sort --column id
printf 'x,id\n"a\nb",1\n"c\nd","5"6\n' | code echelon sort --column id
printf 'x,id\n"a\nb",\n"c\nd",9007199254740993\n' | code echelon sort --column id
printf 'x,id\n"a\nb",-1\n"c\nd",9223372036854775808\n' | code echelon sort --column id --type i64
printf 'id,x\n1,"a\n' | code echelon shuf --seed 1
printf 'id,x\n1,"a\n' >open.csv
code echelon shuf --seed 1 open.csv
code echelon sort --column id open.csv -o out.csv
printf '"id,x\n1,a\n' | code echelon sort --column id
echo "quotes have no meaning without columns, or if blanks separate them"
printf '1 "a\n0 b"\n' | code echelon sort --column 1
printf '"1"\n' | code echelon stats --format text
echo "many records, compared with Python"
cat >make.py <<'PY'
import csv, io, random
rng = random.Random(4)
rows = [[str(rng.randrange(1000)), "".join(rng.choice('a",\n;') for _ in range(rng.randrange(9)))] for _ in range(5000)]
def text(rows):
    to = io.StringIO()
    csv.writer(to, lineterminator="\r\n").writerows(rows)
    return to.getvalue()
open("many.csv", "w", newline="").write(text(rows))
open("want.csv", "w", newline="").write(text(sorted(rows, key=lambda row: int(row[0]))))
PY
python3 make.py
code echelon sort --column 1 many.csv | cmp - want.csv && echo same
files
echo "a quote that one input opens and another one closes: in memory, and with a budget below the size of the inputs"
printf '2,"a\n' >opens.csv
printf '1,b"\n3,c\n' >closes.csv
printf '1,b\n' >plain.csv
seq 600000 | cat - opens.csv >large.csv
code echelon sort --csv -k1,1n opens.csv closes.csv
code echelon sort --csv -k1,1n --debug plain.csv opens.csv closes.csv
code echelon sort --csv -k1,1n - closes.csv <opens.csv
code echelon sort --csv -k1,1n -S 16M plain.csv large.csv closes.csv -o out.csv
code echelon sort --csv -k1,1n -S 16M - closes.csv <large.csv
code echelon sort --csv -k1,1n plain.csv closes.csv opens.csv
