# A matrix of bits in every format, read and written.
unset ECHELON_DEVICE # nothing is computed
cat >source.pbm <<'END'
P1
# three rows of ten
10 3
1 0 0 1 0 0 0 0 1 1
0000000001
0 0 1 1 1 0
0 0 0 0   # the rest
END
echelon gf2 convert source.pbm -o plain.pbm
for format in pbm pbm-text npy npy-little npy-big jcf mtx alist; do
    echo "== $format"
    packed=
    case $format in npy-*) packed="--packed ${format#npy-}:10" ;; esac
    code echelon gf2 convert source.pbm --format "$format" >"a.$format"
    case $format in pbm | npy*) dump x1 "a.$format" ;; *) cat "a.$format" ;; esac
    # shellcheck disable=SC2086
    for input in "a.$format" -; do
        echelon gf2 convert $packed $input --format pbm-text <"a.$format" | cmp - plain.pbm &&
            echo "read back"
    done
    # shellcheck disable=SC2086
    echelon gf2 info $packed "a.$format" | sed 1d | cmp - <(echelon gf2 info plain.pbm | sed 1d)
done
echo "== by the extension of the output"
for name in b.pbm b.npy b.jcf b.mtx b.alist; do
    code echelon gf2 convert a.mtx -o $name
    echelon gf2 info $name | head -n 1
done
code echelon gf2 convert a.mtx -o c.npy --format npy-big
echelon gf2 info --packed big:10 c.npy | head -n 1
echo "== matrices without bits"
for shape in "0 3" "3 0" "0 0"; do
    printf 'P1\n%s\n' "$shape" >none.pbm
    for format in pbm pbm-text npy npy-little npy-big jcf mtx alist; do
        packed=
        case $format in npy-*) packed="--packed ${format#npy-}" ;; esac
        # shellcheck disable=SC2086
        echelon gf2 convert none.pbm --format $format | echelon gf2 info $packed - | head -n 1
    done
done
echo "== files of other programs"
printf '%%%%MatrixMarket matrix coordinate integer symmetric\n%% text\n\n3 3 4\n1 1 -3\n2 1 4\n3 1 7\n3 3 1\n' >s.mtx
code echelon gf2 convert s.mtx --format pbm-text
{ npy '<i8' '(2,)'; printf '\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'; } >v.npy
code echelon gf2 convert v.npy --format pbm-text
{ npy '|b1' '(2, 3)' True; printf '\1\0\0\1\1\1'; } >f.npy
code echelon gf2 convert f.npy --format pbm-text
printf '3 2\n2 2\n1 2 0\n2 1\n1\n1 2\n\n1 2\n2\n' | code echelon gf2 convert --format pbm-text
echo "== in place"
code echelon gf2 convert a.jcf -o a.jcf && cat a.jcf
files
