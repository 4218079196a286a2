# A full file system.
mkdir small
mount -t tmpfs -o size=2m none small 2>/dev/null || skip "cannot mount a file system"
trap 'umount small' EXIT
echelon gen -N 200k --type u64 -o small/a.u64
sum=$(cksum <small/a.u64)
code echelon sort small/a.u64 -o small/a.u64
[ "$sum" = "$(cksum <small/a.u64)" ] && echo "the input is unchanged"
(cd small && files)
