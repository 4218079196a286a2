# A signal in the middle of two outputs: neither file is there, and no temporary one.
set -m # a job of its own group, which does not ignore SIGINT
mkfifo pipe
for signal in INT TERM; do
    ulimit -c 0
    echelon gf2 rref - -o e.pbm --transform t.pbm <pipe &
    job=$!
    exec 3>pipe
    printf 'P1\n2 2\n1 0' >&3
    for _ in $(seq 100); do
        [ "$(find . -name '.[et].pbm.*' | wc -l)" = 2 ] && break
        sleep 0.05
    done
    [ "$(find . -name '.[et].pbm.*' | wc -l)" = 2 ] && echo "two temporary files are there"
    kill -s $signal $job
    wait $job 2>/dev/null
    echo "SIG$signal: exit $?"
    exec 3>&-
    files
done 2>/dev/null
# One that cannot be created, and an input that cannot be read: nothing is left of the other.
printf 'P1\n2 2\n1 0' >short.pbm
code echelon gf2 rref short.pbm -o e.pbm --transform t.pbm
printf 'P1\n2 2\n1 0 0 1' >good.pbm
code echelon gf2 rref good.pbm -o none/e.pbm --transform t.pbm
files
