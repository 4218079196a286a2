# A sort that is interrupted and continued.
set -m # a job of its own group, which does not ignore SIGINT
mkdir t
export TMPDIR=t
echelon gen uniform -N 4400k --type u32 -o a.u32
echelon sort a.u32 -o want.u32

# The files that remain, without the hash in their names.
remains() { find . t -maxdepth 1 -name '*echelon*' -printf '%f\n' | sed 's/-[0-9a-f]\{16\}/-HASH/' | sort | tr '\n' ' '; echo; }
# Sends a signal when some blocks are recorded: interrupt SIGNAL [OPTION]...
interrupt() {
    local signal=$1 job
    shift
    for _ in $(seq 50); do
        rm -f out.u32
        echelon sort -S 16Mi --resume "$@" a.u32 -o out.u32 2>err &
        job=$!
        while kill -0 $job && [ "$(stat -c %s .out.u32.echelon-resume || echo 0)" -lt 1500 ]; do :; done
        kill -s "$signal" $job
        wait $job && continue
        break
    done 2>/dev/null
    echo "SIG$signal"
}
resume() { code echelon sort -S 16Mi --resume "$@" -o out.u32; }
check() { cmp out.u32 want.u32 && echo "right"; remains; }

echo "without interruption"
resume a.u32
check
echo "killed, and continued"
interrupt KILL
remains
resume a.u32 --timing 2>report
grep -c '^continued .* blocks and' report
check
resume a.u32
check

echo "what has changed"
interrupt KILL
code echelon sort -S 17Mi --resume a.u32 -o out.u32
resume -r a.u32
resume --unique a.u32
resume a.u32 a.u32
resume -T . a.u32
resume --record 4 a.u32
mv a.u32 b.u32
resume b.u32 --verify
cp b.u32 a.u32
resume a.u32
touch -d 2001-01-01 a.u32
resume a.u32
remains
mv b.u32 a.u32
echo "the budget is that of the interrupted sort"
code echelon sort --resume a.u32 -o out.u32
check

echo "discard and restart"
interrupt INT
cat err
resume=$(remains)
echo "$resume"
code echelon sort --resume=discard missing -o out.u32
remains
interrupt TERM
cat err
code echelon sort --resume=rest a.u32 -r -o out.u32
echelon sort -r a.u32 | cmp - out.u32 && echo "another order"
remains
interrupt KILL
printf x | dd of=.out.u32.echelon-resume conv=notrunc seek=30 bs=1 2>/dev/null
resume a.u32
code echelon sort -S 16Mi --resume=restart a.u32 -o out.u32
check
interrupt KILL
rm t/echelon-*
resume a.u32
code echelon sort --resume=d -o out.u32
remains
interrupt KILL
chmod 666 .out.u32.echelon-resume
resume a.u32
chmod 600 .out.u32.echelon-resume
resume a.u32
check

echo "the output exists"
echo old >out.u32
chmod 640 out.u32
resume a.u32
stat -c %a out.u32
check
echo "nothing to keep"
code echelon sort --resume -S 1G a.u32 -o out.u32
check
cp a.u32 c.u32
resume --consume c.u32
check
[ ! -e c.u32 ] && echo "the input is removed"
cp a.u32 out.u32
resume out.u32
check

echo "errors"
code echelon sort --resume a.u32
code echelon sort --resume a.u32 -o out.gz
code echelon sort --resume=never a.u32 -o out.u32
code echelon sort --resume --dry-run a.u32 -o out.u32
code echelon sort --resume --merge a.u32 -o out.txt
code echelon sort --resume --check a.u32
echelon gen uniform -N 9 --type u8 -o a.txt
code echelon sort --resume -R a.txt -o out.txt
cat a.txt | code echelon sort --resume --string -o out.txt
head -c 16 a.u32 >seed
code echelon sort --resume -R --random-source seed a.txt -o out.txt
files
