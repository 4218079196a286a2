# Files that may not be read or written, which root may always.
[ "$(id -u)" -ne 0 ] || skip "root may read and write everything"
echo 1 >in.txt
mkdir locked
chmod 555 locked
code echelon sort in.txt -o locked/out.txt
echo 2 >readonly.txt
chmod 444 readonly.txt
code echelon sort in.txt -o readonly.txt
chmod 000 in.txt
code echelon sort in.txt
chmod 755 locked
files
