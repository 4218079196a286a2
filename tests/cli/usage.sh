# Usage errors name the option and suggest a correction; nothing is read or written.
export ECHELON_DEVICE=cpu # the messages are those of the CPU
echo 1 >in.txt
code echelon 2>&1 | tail -n 3
code echelon srot in.txt
code echelon frobnicate
code echelon --verbose
code echelon help gne
code echelon sort --reverze in.txt
code echelon sort --wat in.txt
code echelon sort -Z in.txt
code echelon unique -h
code echelon unique -c in.txt
code echelon gen -t u32
code echelon -h
code echelon sort -o a -o b in.txt
code echelon sort --column 1 --column 2 in.txt
code echelon sort --type u32 -y u32 in.txt
code echelon sort -o out -o out in.txt
code echelon sort -c -c --check in.txt
code echelon sort -o
code echelon sort --type
code echelon sort --check=yes in.txt
code echelon stats in.txt in.txt
code echelon sort --type f31 in.txt
code echelon sort --format xml in.txt
code echelon sort --threads many in.txt
code echelon sort --order wild in.txt
code echelon sort --bits 3 in.txt
code echelon sort --bits 10:4 in.txt
code echelon sort --bits 0:65 in.txt
code echelon sort --device tpu in.txt
code echelon sort --algorithm bogo in.txt
code echelon sort -c -o out in.txt
code echelon sort -c --argsort in.txt
code env ECHELON_LOG=loud echelon sort in.txt
code env ECHELON_DEVICE=abacus echelon sort in.txt
code echelon gen unifrom
code echelon gen -N many
code echelon gen -N 2^99
code echelon gen nan-mix --type u8
code echelon gen few --values 0
code echelon explain
code echelon explain scam
code echelon explain sort -N 1000 --values 8 --argsort
code echelon explain sort --bins 4
code echelon explain hist --values 8
code echelon explain hist --algorithm bogo
code echelon explain hist --bins 0
code echelon hist --algorithm bogo in.txt
code echelon reduce
code echelon reduce sums in.txt
code echelon reduce frobnicate in.txt
code echelon reduce sum --where nan in.txt
code echelon reduce sum --ddof 1 in.txt
code echelon reduce sd --ddof 2 in.txt
code echelon reduce count --where '~3' in.txt
code echelon reduce sum --rows 0 in.txt
code echelon reduce and --type f32 in.txt
code echelon reduce sum --nan maybe in.txt
code echelon histogram in.txt
code echelon profile
code echelon profile spin
code echelon profile scan --reverse
code echelon profile scan --bins 4
code echelon profile hist --op sum
code echelon profile select --where what
code echelon profile sort --where '<3'
code echelon profile sort in.txt -N 10
code echelon profile sort --dist zipf in.txt
code echelon profile sort --argsort --values 4
code echelon profile sort --json --csv
code echelon profile sort --check --lines
code echelon profile sort --threads 300
code echelon profile sort --seed x
code echelon profile sort --order wild
code echelon info what
files
