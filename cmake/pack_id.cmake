# pack_id.cmake - a script: writes a digest of source files and of their compiler flags.
#
#   cmake -DLIST=files.txt "-DFLAGS=75 -O2" -DID=kernels.id -DSYMBOL=name -DSOURCE=id.c -P pack_id.cmake
#
# ID receives the digest as text, for pack.cmake; SOURCE is a C file that defines it as the string SYMBOL.

file(STRINGS ${LIST} files)
set(text "${FLAGS}\n")
foreach(file IN LISTS files)
  file(SHA256 ${file} digest)
  string(APPEND text "${digest}\n")
endforeach()
string(SHA256 id "${text}")
string(SUBSTRING ${id} 0 32 id)
file(WRITE ${ID} "${id}")
file(WRITE ${SOURCE} "extern const char ${SYMBOL}[];\nconst char ${SYMBOL}[] = \"${id}\";\n")
