# A signal while writing: no temporary file, and the input and the old output are unchanged.
# By default, sanitizers handle SIGSEGV themselves.
for sanitizer in ASAN TSAN MSAN UBSAN; do
    eval "export ${sanitizer}_OPTIONS=\${${sanitizer}_OPTIONS:+\$${sanitizer}_OPTIONS:}handle_segv=0"
done
set -m # a job of its own group, which does not ignore SIGINT
echo before >out.txt
mkfifo pipe
for signal in INT TERM HUP QUIT ABRT ALRM USR1 XCPU SEGV RTMIN; do
    ulimit -c 0
    echelon sort - -o out.txt <pipe &
    job=$!
    exec 3>pipe
    echo 1 >&3
    # It has no name before it is complete, if the file system supports it.
    for _ in $(seq 100); do
        find "/proc/$job/fd" -lname '*(deleted)' | grep -q . && break
        [ -n "$(find . -name '.out.txt.*')" ] && break
        sleep 0.05
    done
    find "/proc/$job/fd" -lname '*(deleted)' | grep -q . || [ -n "$(find . -name '.out.txt.*')" ] &&
        echo "a temporary file exists"
    kill -s $signal $job
    wait $job 2>/dev/null
    echo "SIG$signal: exit $?"
    exec 3>&-
    cat out.txt
    files
done 2>/dev/null
echo "a limit of the processor time"
(ulimit -S -t 1; echelon gen normal -N 1G --type f64 -o out.txt; echo "exit $?") 2>/dev/null
files
rm out.txt
echo "a new file"
# A new file has no name before it is complete, if the file system supports it.
for signal in KILL XCPU; do
    echelon sort - -o new.txt <pipe &
    job=$!
    exec 3>pipe
    echo 1 >&3
    for _ in $(seq 100); do
        find "/proc/$job/fd" -lname '*(deleted)' | grep -q . && break
        [ -n "$(find . -name '.new.txt.*')" ] && break
        sleep 0.05
    done 2>/dev/null
    rm -f .new.txt.*
    kill -s $signal $job
    wait $job
    echo "SIG$signal: exit $?"
    exec 3>&-
    files
done 2>/dev/null
