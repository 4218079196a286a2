# Binary data is not written to a terminal.
printf 'ab' >a.u8
script -qec true /dev/null </dev/null >/dev/null 2>&1 || skip "cannot make a terminal (script)"
script -qec 'echelon sort a.u8' /dev/null </dev/null | tr -d '\r' | tail -n 1
for words in scan unique "select '<99'" 'shuf --type u8' 'scan -o /dev/null' 'unique --count'; do
    script -qec "echelon $words a.u8" /dev/null </dev/null | tr -d '\r' | tail -n 1
done
echo "a terminal is read only on request"
for words in scan 'reduce sum' 'select nan' hist; do
    script -qec "echelon $words" /dev/null </dev/null | tr -d '\r' | tail -n 1
done
echo "bars have the width of the terminal"
seq 3 >n.txt
script -qec 'stty cols 50; echelon hist n.txt' /dev/null </dev/null | tr -d '\r'
