# Files that do not exist or cannot be written.
echo 1 >in.txt
mkdir directory
code echelon sort missing.txt
code echelon sort missing/a.txt
code echelon sort in.txt/a.txt
code echelon sort directory
code echelon sort in.txt -o directory
code echelon sort in.txt -o missing/out.txt
code echelon sort in.txt -o in.txt/out.txt
code echelon gen -o missing/out.txt
code echelon sort in.txt >&-
code echelon sort <&-
code echelon gen -N 3 >&-
code echelon info >&-
files
