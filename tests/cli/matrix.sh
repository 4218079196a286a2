# What matrices of numbers are like, and files that are none.
mtx() { # KIND SIZES LINES...
    printf '%%%%MatrixMarket matrix %s\n%% a comment\n\n%s\n' "$1" "$2"
    shift 2
    printf '%s\n' "$@"
}
mtx "coordinate real symmetric" "4 4 7" "1 1 2" "2 2 2" "3 3 2" "4 4 2" "2 1 -1" "3 2 -1" "4 3 -1" >chain.mtx
mtx "coordinate real general" "3 4 5" "1 1 1" "1 1 2.5" "2 4 -1e1" "3 2 0" "3 3 nan" >odd.mtx
mtx "coordinate pattern general" "3 3 2" "1 3" "3 2" >pattern.mtx
mtx "coordinate real skew-symmetric" "3 3 2" "2 1 5" "3 1 -4" >skew.mtx
mtx "array integer symmetric" "3 3" 1 2 3 4 5 6 >array.mtx
mtx "coordinate real general" "0 0 0" | sed '$d' >empty.mtx
npy '<f4' '(2, 3)' >a.npy
printf '\0\0\200?\0\0\0@\0\0@@\0\0\200@\0\0\240@\0\0\300@' >>a.npy
for file in chain odd pattern skew array empty; do code echelon matrix info $file.mtx; done
code echelon matrix info a.npy --no-picture
code echelon matrix info --json chain.mtx
code echelon matrix info <chain.mtx --spy chain.png --no-picture
od -An -t x1 chain.png
mtx "coordinate real general" "2 2 2" "1 1 1" >short.mtx
mtx "coordinate real general" "2 2 1" "1 1 1" "2 2 2" >long.mtx
mtx "coordinate real general" "2 2 1" "3 1 1" >outside.mtx
mtx "coordinate real general" "2 2 1" "0 1 1" >zero.mtx
mtx "coordinate real general" "2 2 1" "1 1" >no_value.mtx
mtx "coordinate real general" "2 2 1" "1 1 x" >word.mtx
mtx "coordinate real general" "2 2 1" "1 1 1 1" >four.mtx
mtx "coordinate integer general" "2 2 1" "1 1 1.5" >fraction.mtx
mtx "coordinate complex general" "2 2 1" "1 1 1 1" >complex.mtx
mtx "coordinate real symmetric" "2 3 1" "1 1 1" >oblong.mtx
mtx "coordinate real skew-symmetric" "2 2 1" "1 1 1" >diagonal.mtx
mtx "coordinate real general" "99999999999999999999 2 1" "1 1 1" >wide.mtx
printf '%%%%MatrixMarket matrix coordinate real general\n%% no sizes\n' >no_sizes.mtx
for file in short long outside zero no_value word four fraction complex oblong diagonal wide no_sizes; do
    code echelon matrix info $file.mtx
done
printf '\001\377garbage' >garbage.mtx
code echelon matrix info garbage.mtx
: >nothing.mtx
code echelon matrix info nothing.mtx
code echelon matrix info not_there.mtx
code echelon matrix
code echelon matrix inf chain.mtx
code echelon matrix info chain.mtx --spy /not/there.png
files
