# A device that is not available: exit status 3, before anything is read or written.
echo 1 >in.txt
code echelon sort in.txt --device cuda:999 -o out.txt
code env ECHELON_DEVICE=cuda:999 echelon sort in.txt -o out.txt
files
code env ECHELON_LIBSIMT=libnone.so echelon profile sort in.txt
code env ECHELON_LIBSIMT=libnone.so echelon sort in.txt --device simt -o out.txt
files
