# Destinations of the output, which is written completely or not at all.
echelon gen -N 1000 -o a.txt
sort -n a.txt >want
echo "in place; the mode is kept"
cp a.txt b.txt
chmod 640 b.txt
code echelon sort b.txt -o b.txt
cmp want b.txt && stat -c %a b.txt
echo "the mode of a new file obeys the umask"
(umask 027; echelon sort a.txt -o new.txt)
cmp want new.txt && stat -c %a new.txt
echo "through a symbolic link"
cp a.txt target.txt
ln -s target.txt link.txt
code echelon sort link.txt -o link.txt
cmp want target.txt && readlink link.txt
echo "through links to a file that does not exist"
mkdir new
ln -s new/made.txt dangling1.txt
ln -s dangling1.txt dangling2.txt
code echelon sort a.txt -o dangling2.txt
cmp want new/made.txt && readlink dangling1.txt dangling2.txt
ln -s loop.txt loop.txt
code echelon sort a.txt -o loop.txt
ln -s none/none.txt broken.txt
code echelon sort a.txt -o broken.txt
rm -r new dangling1.txt dangling2.txt loop.txt broken.txt
echo "an open file"
{
    echo first
    echelon gen constant -N 2 --type u8 --format text -o /dev/stdout
    echelon gen constant -N 1 --type u8 --format text -o /dev/fd/1
    echo last
} >open.txt
sed 's/^[0-9]*$/number/' open.txt
echelon gen constant -N 1 --type u8 --format text -o /dev/stdout >>open.txt
wc -l <open.txt
echelon sort a.txt -o /proc/self/fd/5 5>five.txt
cmp want five.txt && echo same
code echelon sort a.txt -o /dev/stdin <five.txt
rm open.txt five.txt
echo "standard output and input, a pipe, a named pipe"
code echelon sort a.txt | cmp want - && echo same
code echelon sort - <a.txt -o - | cmp want - && echo same
code echelon sort <(cat a.txt) -o c.txt
cmp want c.txt && echo same
mkfifo pipe
cat pipe >from_pipe &
code echelon sort a.txt -o pipe
wait
cmp want from_pipe && echo same
[ -p pipe ] && echo "still a pipe"
echo "devices"
code echelon sort a.txt -o /dev/null
[ -c /dev/null ] && echo "still a device"
echo "names that begin with a dash, and in another directory"
mkdir d
cp a.txt ./-r
code echelon sort -o d/-x -- -r
cmp want d/-x && echo same
echo "a reader that closes the pipe early"
echelon gen -N 1M | echelon sort | head -n 1 >/dev/null
echo "${PIPESTATUS[1]}" | sed 's/141/ended by the pipe/'
files
