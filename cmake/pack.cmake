# pack.cmake - a script: writes a pack of kernels, which src/cuda/pack.c reads.
#
#   cmake -DROWS=rows.txt -DSTREAM=sort.stream [-DXZ=xz -DFILTER=--lzma2=preset=9e] -P pack.cmake
#   cmake -DSTREAMS=streams.txt -DPACK=kernels.pack -DVERSION=0.2.0 -P pack.cmake
#   cmake -DSTREAMS=streams.txt -DPACK=kernels.pack -DID=kernels.id -P pack.cmake
#
# ROWS has lines "MODULE KIND FILE"; KIND is sm_90a for a cubin, compute_75 for PTX.  STREAM becomes the concatenation of
# the files, compressed by XZ if it is given, and STREAM.rows has lines "MODULE KIND OFFSET BYTES".  Kernels for one GPU
# are similar to each other: compressed together they take three quarters of the bytes. Instructions have 16 bytes; each
# file begins at a multiple of 16, which saves 1 % of the compressed bytes.
#
# STREAMS has the paths of streams.  PACK begins with text:
#
#   echelon-pack 1 ID                       VERSION, or the contents of the file ID (cmake/pack_id.cmake)
#   sort_k32_v0 sm_90a 0 52312 0 431040     a module, its target, the offset (after the text) and bytes of its stream,
#   ...                                     and its own offset and bytes in the decompressed stream
#   end
#
# The streams follow.

function(write_stream)
  file(STRINGS ${ROWS} rows)
  set(index "")
  set(files "")
  set(offset 0)
  foreach(row IN LISTS rows)
    string(REGEX MATCH "^([a-z0-9_]+) ([a-z0-9_]+) (.+)$" row "${row}")
    set(image "${CMAKE_MATCH_1} ${CMAKE_MATCH_2}")
    set(file "${CMAKE_MATCH_3}")
    file(SIZE "${file}" bytes)
    string(APPEND index "${image} ${offset} ${bytes}\n")
    list(APPEND files "${file}")
    math(EXPR rest "(16 - ${bytes} % 16) % 16")
    if(rest)
      string(REPEAT "\n" ${rest} padding)
      file(WRITE ${STREAM}.pad${rest} "${padding}")
      list(APPEND files ${STREAM}.pad${rest})
    endif()
    math(EXPR offset "${offset} + ${bytes} + ${rest}")
  endforeach()
  file(WRITE ${STREAM}.rows "${index}")
  set(compress "")
  if(XZ)
    math(EXPR dictionary "${offset} + 4096")
    set(compress COMMAND ${XZ} --format=xz --check=crc32 --threads=1 ${FILTER},dict=${dictionary})
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} -E cat ${files} ${compress} OUTPUT_FILE ${STREAM}.part
    RESULTS_VARIABLE results)
  if(NOT results MATCHES "^0(;0)?$")
    message(FATAL_ERROR "cannot write ${STREAM}")
  endif()
  file(RENAME ${STREAM}.part ${STREAM})
  file(GLOB padding ${STREAM}.pad*)
  if(padding)
    file(REMOVE ${padding})
  endif()
endfunction()

function(write_pack)
  file(STRINGS ${STREAMS} streams)
  set(index "")
  set(offset 0)
  foreach(stream IN LISTS streams)
    file(SIZE "${stream}" bytes)
    file(STRINGS "${stream}.rows" rows)
    foreach(row IN LISTS rows)
      string(REGEX REPLACE "^([a-z0-9_]+ [a-z0-9_]+) (.*)$" "\\1 ${offset} ${bytes} \\2" row "${row}")
      string(APPEND index "${row}\n")
    endforeach()
    math(EXPR offset "${offset} + ${bytes}")
  endforeach()
  set(id "${VERSION}")
  if(ID)
    file(READ ${ID} id)
  endif()
  file(WRITE ${PACK}.index "echelon-pack 1 ${id}\n${index}end\n")
  execute_process(COMMAND ${CMAKE_COMMAND} -E cat ${PACK}.index ${streams} OUTPUT_FILE ${PACK}.part
    RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "cannot write ${PACK}")
  endif()
  file(RENAME ${PACK}.part ${PACK})
  file(REMOVE ${PACK}.index)
endfunction()

if(STREAM)
  write_stream()
else()
  write_pack()
endif()
