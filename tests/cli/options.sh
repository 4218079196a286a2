# The syntax of options: abbreviations, values, repetitions, "--", "-", colours; the same in all subcommands.
plain() { tr '\033' '^'; }
printf '3\n1\n2\n' >in.txt
printf 'a,b\n3,30\n1,10\n' >in.csv
echo "abbreviations"
echelon sort --rev in.txt | tr '\n' ' '
echelon sort --colu b --del , --hea in.csv | tr '\n' ' '
echelon sort --out=out.txt in.txt && tr '\n' ' ' <out.txt && rm out.txt
echelon sort --he | head -1
echelon sort --vers | head -1 | tr '0-9' N
echelon search --u in.txt in.txt 2>&1 | grep -c 'not sorted'
code echelon sort --col in.txt
code echelon sort --col=1 in.txt
code echelon gen --v 3
code echelon explain sort --b 4
code echelon gf2 rank --re
code echelon sort --t u32 in.txt
code echelon sort --= in.txt
code echelon sort --=x in.txt
echo "an exact name has priority"
echelon explain search --needles 10 --device cpu | head -1
echelon gf2 rank --rank - </dev/null
echo "values"
code echelon sort --output= in.txt
code echelon sort --output '' in.txt
code echelon sort -o '' in.txt
code echelon sort -t '' in.txt
code echelon sort --device= in.txt
code echelon sort --algorithm= in.txt
code echelon sort --threads= in.txt
code echelon sort --reverse= in.txt
code echelon sort --reverse=yes in.txt
code echelon sort --rev=yes in.txt
code echelon sort --help=yes
code echelon sort --version=2
code echelon sort in.txt --output
code echelon sort in.txt -o
code echelon sort in.txt -ro
code echelon sort --out in.txt --output=x
code echelon sort -ox -oy in.txt
code echelon sort -y u32 --type=u32 in.txt
code echelon sort --rev --reverse -r -rr in.txt | tr '\n' ' '
code echelon sort -ry u8 in.txt | tr '\n' ' '
code echelon sort -ryu8 in.txt | tr '\n' ' '
code echelon sort -rZ in.txt
code echelon sort -yr in.txt
echo "-- and -"
cp in.txt -- -r
code echelon sort -- -r | tr '\n' ' '
code echelon sort -r -- -r | tr '\n' ' '
code echelon sort - <in.txt | tr '\n' ' '
code echelon sort -- - <in.txt | tr '\n' ' '
code echelon sort -o - in.txt | tr '\n' ' '
code echelon sort --output=- -- in.txt | tr '\n' ' '
code echelon sort in.txt -r | tr '\n' ' '
code echelon sort -- in.txt -r
code echelon sort -o -- in.txt | tr '\n' ' '
tr '\n' ' ' <-- && rm -- --
code echelon sort -- --help
code echelon sort ''
code echelon set union '' in.txt
code echelon select -- '>1' in.txt | tr '\n' ' '
rm -- -r
echo "before the command"
code echelon --
code echelon -
code echelon --no-such
code echelon -r sort in.txt
code echelon --color
code echelon --color=blue
code echelon --color=always sort in.txt 2>&1 | plain
echelon --version --color=never | head -1 | tr '0-9' N
code echelon --help --version | head -1
echelon help --help | head -1
code echelon help sort extra
code echelon help --wat
code echelon help --color=always sort | plain | sed -n '/Usage/p'
echo "colours"
echelon --help | plain | grep -c -F '^['
echelon --help --color=always | plain | sed -n '/Usage/p;/  sort /p'
echelon sort --help --color always | plain | sed -n '/^.*Usage/p;/--output/p'
NO_COLOR='' CLICOLOR_FORCE=1 echelon sort --help | plain | grep Usage
NO_COLOR=1 CLICOLOR_FORCE=1 echelon sort --help | plain | grep Usage
CLICOLOR_FORCE=0 echelon sort --help | plain | grep Usage
NO_COLOR=1 echelon sort --help --color=always | plain | grep Usage
CLICOLOR_FORCE=1 echelon sort --help --color=never | plain | grep Usage
echelon sort --color=always missing 2>&1 | plain
echelon sort --color=always in.txt | plain | tr '\n' ' '
echelon stats --color=always --json in.txt | plain | cut -c 1-8
code echelon sort --color=always --color=never in.txt 2>&1 | plain
code echelon sort --color=red in.txt
if command -v script >/dev/null; then
    TERM=xterm script -qec 'echelon sort missing' /dev/null | plain | tr -d '\r'
    TERM=xterm NO_COLOR=yes script -qec 'echelon sort missing' /dev/null | tr -d '\r'
    TERM=dumb script -qec 'echelon sort missing' /dev/null | tr -d '\r'
else # the same text
    echo '^[[1;31mechelon sort:^[[0m missing: cannot open: No such file or directory'
    echo 'echelon sort: missing: cannot open: No such file or directory'
    echo 'echelon sort: missing: cannot open: No such file or directory'
fi
files
