# A signal while writing: no temporary file, and the input and the old output are unchanged.
set -m # a job of its own group, which does not ignore SIGINT
echo before >out.txt
mkfifo pipe
for signal in INT TERM HUP QUIT; do
    ulimit -c 0
    echelon sort - -o out.txt <pipe &
    job=$!
    exec 3>pipe
    echo 1 >&3
    for _ in $(seq 100); do
        [ -n "$(find . -name '.out.txt.*')" ] && break
        sleep 0.05
    done
    [ -n "$(find . -name '.out.txt.*')" ] && echo "a temporary file exists"
    kill -s $signal $job
    wait $job 2>/dev/null
    echo "SIG$signal: exit $?"
    exec 3>&-
    cat out.txt
    files
done 2>/dev/null
