# Binary data on a terminal would be noise.
printf 'ab' >a.u8
script -qec true /dev/null </dev/null >/dev/null 2>&1 || skip "cannot make a terminal (script)"
script -qec 'echelon sort a.u8' /dev/null </dev/null | tr -d '\r' | tail -n 1
