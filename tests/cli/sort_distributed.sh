# Sorts on several ranks: two threads on the emulator, and the messages of --distributed. tests/mpi.sh runs processes.
unset ECHELON_COMM
echelon gen uniform -N 1001 --type u32 -o a.u32
code env ECHELON_COMM=/nonexistent.so echelon sort --distributed a.u32 -o b.u32
code echelon sort --distributed a.u32
code echelon sort --distributed - -o b.u32
code echelon sort --distributed a.u32 a.u32 -o b.u32
code echelon sort --distributed --resume a.u32 -o b.u32
code echelon sort --distributed -R a.u32 -o b.u32
code echelon sort --device simt:all --distributed a.u32 -o b.u32
code echelon sort --time-limit 10 a.u32 -o b.u32
code echelon sort --time-limit 0 --distributed a.u32 -o b.u32
files

echelon info | grep -q '^simt: ' || skip "no emulator"
sorts() {
    output=$1
    shift
    echelon sort "$@" -o "want.$output" && echelon sort --device simt:all "$@" -o "got.$output" &&
        cmp "want.$output" "got.$output" && echo "$*"
}
sorts u32 -r a.u32
sorts npy a.u32
sorts u64 --argsort a.u32
{ npy '>i2' '(4,)'; printf '\x00\x02\xff\xff\x01\x00\x00\x00'; } >big.npy
sorts npy big.npy
sorts i16 big.npy
{ npy '<f8' '(0,)'; } >empty.npy
sorts npy empty.npy
sorts raw --record 28 --key 3:bytes10 --key 20:f32:desc --format raw a.u32
sorts u64 --record 28 --key 3:signed9 --format raw --argsort a.u32
{
    npy_dict "{'descr': [('a', '<f4'), ('b', '|S3')], 'fortran_order': False, 'shape': (3,), }"
    printf '\0\0\x80\x3fxyz\0\0\0\x40abc\0\0\0\0abc'
} >s.npy
sorts npy --key b --key a:desc s.npy
sorts npy --unique big.npy
sorts raw --record 4 --key 1:1 --unique --format raw a.u32
sorts u64 --argsort --unique --bits 4:9 a.u32
echelon sort --device simt:all --json a.u32 -o got.u32 |
    sed 's/"seconds": [^,}]*/"seconds": T/g;s/"version": "[^"]*", //'
code echelon sort --device simt:all a.u32 -o missing/got.u32

echo "lines"
printf 'b 10\na 9\nb 10\n\na 10\nb 9 and more\nc' >a.txt
sorts txt --string a.txt
sorts txt -k 2,2n -k 1,1r -s a.txt
sorts txt -u -k 1,1 a.txt
{ echo "name;v" && seq -f 'n%g;7' 300 && echo "n5;1"; } >h.txt
sorts txt --header -t ';' -k v:n h.txt
{ echo "name,v" && seq -f '"n ""%g""
,",7' 300 && echo 'n5,"1"'; } >quotes.csv
sorts csv --csv --header -k v:n -k name:r quotes.csv
sorts csv --csv -u -k 2,2 quotes.csv
printf '"a\n"b' >bad.csv
code echelon sort --device simt:all --csv bad.csv -o got.csv
: >none.txt
sorts txt -n none.txt
code echelon sort --device simt:all --string a.txt -o got.npy
one() { echelon sort --device simt:all --timing "$@" 2>&1 >/dev/null | grep '^one'; }
one h.txt -o got.txt
one -r a.u32
one --rows 7 a.u32 -o got.u32
one -o got.u32 a.u32 a.u32
head -c 5 a.u32 >odd.u32
code echelon sort --device simt:all odd.u32 -o got.u32
if (needs_packing gz gzip) 2>/dev/null; then
    echelon sort --device simt:all -u big.npy -o got.npy.gz && gzip -d <got.npy.gz | cmp - want.npy
    gzip <a.u32 >a.u32.gz && one -r --type u32 a.u32.gz -o got.u32 && cmp want.u32 got.u32
fi
files
