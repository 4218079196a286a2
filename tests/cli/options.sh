# The syntax of options: abbreviations, values, repetitions, "--", "-", colours; the same in all subcommands.
plain() { tr '\033' '^'; }
printf '3\n1\n2\n' >in.txt
printf 'a,b\n3,30\n1,10\n' >in.csv
echo "abbreviations"
echelon scan --rev in.txt | tr '\n' ' '
echelon scan --colu b --del , --hea in.csv | tr '\n' ' '
echelon scan --out=out.txt in.txt && tr '\n' ' ' <out.txt && rm out.txt
echelon scan --he | head -1
echelon scan --vers | head -1 | tr '0-9' N
echelon search --u in.txt in.txt 2>&1 | grep -c 'not sorted'
code echelon scan --col in.txt
code echelon scan --col=1 in.txt
code echelon gen --v 3
code echelon explain sort --b 4
code echelon gf2 rank --re
code echelon scan --t u32 in.txt
code echelon scan --= in.txt
code echelon scan --=x in.txt
echo "an exact name has priority"
echelon explain search --needles 10 --device cpu | head -1
echelon gf2 rank --rank - </dev/null
echo "values"
code echelon scan --output= in.txt
code echelon scan --output '' in.txt
code echelon scan -o '' in.txt
code echelon scan -t '' in.txt
code echelon scan --device= in.txt
code echelon topk --algorithm= in.txt
code echelon scan --threads= in.txt
code echelon scan --reverse= in.txt
code echelon scan --reverse=yes in.txt
code echelon scan --rev=yes in.txt
code echelon scan --help=yes
code echelon scan --version=2
code echelon scan in.txt --output
code echelon scan in.txt -o
code echelon scan in.txt -ro
code echelon scan --out in.txt --output=x
code echelon scan -ox -oy in.txt
code echelon scan -y u32 --type=u32 in.txt
code echelon scan --rev --reverse -r -rr in.txt | tr '\n' ' '
code echelon scan -ry u8 in.txt | tr '\n' ' '
code echelon scan -ryu8 in.txt | tr '\n' ' '
code echelon scan -rZ in.txt
code echelon scan -yr in.txt
echo "-- and -"
cp in.txt -- -r
code echelon scan -- -r | tr '\n' ' '
code echelon scan -r -- -r | tr '\n' ' '
code echelon scan - <in.txt | tr '\n' ' '
code echelon scan -- - <in.txt | tr '\n' ' '
code echelon scan -o - in.txt | tr '\n' ' '
code echelon scan --output=- -- in.txt | tr '\n' ' '
code echelon scan in.txt -r | tr '\n' ' '
code echelon hist -- in.txt -r
code echelon scan -o -- in.txt | tr '\n' ' '
tr '\n' ' ' <-- && rm -- --
code echelon scan -- --help
code echelon scan ''
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
echelon --help --version | head -1
echelon help --help | head -1
code echelon help sort extra
code echelon help --wat
code echelon help --color=always sort | plain | sed -n '/Usage/p'
echo "colours"
echelon --help | plain | grep -c -F '^['
echelon --help --color=always | plain | sed -n '/Usage/p;/  sort /p'
echelon scan --help --color always | plain | sed -n '/^.*Usage/p;/--output/p'
NO_COLOR='' CLICOLOR_FORCE=1 echelon scan --help | plain | grep Usage
NO_COLOR=1 CLICOLOR_FORCE=1 echelon scan --help | plain | grep Usage
CLICOLOR_FORCE=0 echelon scan --help | plain | grep Usage
NO_COLOR=1 echelon scan --help --color=always | plain | grep Usage
CLICOLOR_FORCE=1 echelon scan --help --color=never | plain | grep Usage
echelon scan --color=always missing 2>&1 | plain
echelon scan --color=always in.txt | plain | tr '\n' ' '
echelon stats --color=always --json in.txt | plain | cut -c 1-8
code echelon scan --color=always --color=never in.txt 2>&1 | plain
code echelon scan --color=red in.txt
if command -v script >/dev/null; then
    TERM=xterm script -qec 'echelon scan missing' /dev/null | plain | tr -d '\r'
    TERM=xterm NO_COLOR=yes script -qec 'echelon scan missing' /dev/null | tr -d '\r'
    TERM=dumb script -qec 'echelon scan missing' /dev/null | tr -d '\r'
else # the same text
    echo '^[[1;31mechelon scan:^[[0m missing: cannot open: No such file or directory'
    echo 'echelon scan: missing: cannot open: No such file or directory'
    echo 'echelon scan: missing: cannot open: No such file or directory'
fi
files
