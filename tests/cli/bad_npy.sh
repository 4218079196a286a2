# .npy files that are truncated, inconsistent or have an unsupported type.
try() {
    cat >"$1.npy"
    code echelon sort "$1.npy" -o out.npy
}
: | try empty
printf '\x93NUM' | try short_magic
printf '\x93NUMPY\x01\x00\x76' | try short_length
npy '<f4' '(3,)' | head -c 50 | try short_header
printf 'garbage garbage garbage garbage' | try garbage
head -c 300 "$ECHELON" | try program
printf '\x93NUMPY\x09\x00\x76\x00{}          ' | try version
printf '\x93NUMPY\x02\x00\xff\xff\xff\xff{}  ' | try huge_header
{ npy '<f4' '(3,)'; printf 'abcdefgh'; } | try fewer
{ npy '<f4' '(3,)'; printf 'abcdefghijklm'; } | try more
{ npy '<f4' '(3,)'; printf 'abcdefgh'; } | cat | code echelon sort -o out.npy
{ npy '<f4' '(3,)'; printf 'abcdefghijklm'; } | cat | code echelon sort -o out.npy
npy '<f8' '(4611686018427387904,)' | try overflow
npy '<f8' '(99999999999999999999999,)' | try past64
npy '<u1' '(9223372036854775807,)' | try past_memory
npy '<u8' '(1000000000000,)' | cat | code echelon sort -o out.npy
npy '<f4' '(2, 3, 1)' | try three
npy '<f4' '(2, 3, 1)' True | try fortran
npy '<f4' '()' | try scalar
npy '<f4' '(3)' | try number
npy '<f4' '3' | try no_tuple
npy '<f4' '(-3,)' | try negative
npy '|O' '(3,)' | try object
npy '<c8' '(3,)' | try complex
npy '<U5' '(3,)' | try strings
npy '<M8[ns]' '(3,)' | try dates
npy '<f16' '(3,)' | try quadruple
npy 'f4' '(3,)' | try no_order
npy '' '(3,)' | try no_descr
npy_dict "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (3,), }" | try records
npy_dict "{'descr': '<i4', 'shape': (3,), }" | try missing
npy_dict "{'descr': '<i4', 'descr': '<i4', 'fortran_order': False, 'shape': (3,), }" | try twice
npy_dict "{'descr': '<i4', 'fortran_order': maybe, 'shape': (3,), }" | try maybe
npy_dict "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), } + 1" | try expression
npy_dict "__import__('os')" | try code_in_it
npy_dict "{'descr': '<i4'" | try unfinished
echo "--type differs from the file"
{ npy '<f4' '(1,)'; printf 'abcd'; } >f4.npy
code echelon sort f4.npy --type u32 -o out.npy
code echelon sort f4.npy --type f32 -o out.npy
[ -e out.npy ] && rm out.npy
files
