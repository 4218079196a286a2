# A signal while two outputs are written: both files are unchanged, and there is no temporary file.
# They have no names before they are complete, if the file system supports it.
two_files() {
    local named unnamed
    named=$(find . -name '.[et].pbm.*' | wc -l)
    unnamed=$(find "/proc/$job/fd" -lname "$PWD/*(deleted)" | wc -l)
    [ $((named + unnamed)) = 2 ]
}
set -m # a job of its own group, which does not ignore SIGINT
mkfifo pipe
echo before | tee e.pbm >t.pbm
for signal in INT TERM; do
    ulimit -c 0
    echelon gf2 rref - -o e.pbm --transform t.pbm <pipe &
    job=$!
    exec 3>pipe
    printf 'P1\n2 2\n1 0' >&3
    for _ in $(seq 100); do
        two_files && break
        sleep 0.05
    done
    two_files && echo "two temporary files exist"
    kill -s $signal $job
    wait $job 2>/dev/null
    echo "SIG$signal: exit $?"
    exec 3>&-
    cat e.pbm t.pbm
    files
done 2>/dev/null
rm e.pbm t.pbm
# If one output cannot be created, or the input cannot be read, the other output is not left behind.
printf 'P1\n2 2\n1 0' >short.pbm
code echelon gf2 rref short.pbm -o e.pbm --transform t.pbm
printf 'P1\n2 2\n1 0 0 1' >good.pbm
code echelon gf2 rref good.pbm -o none/e.pbm --transform t.pbm
files
