# pack.cmake - a script: writes a pack of kernels, which src/cuda/pack.c reads.
#
#   cmake -DROWS=rows.txt -DSTREAM=sort.stream -DSPLIT=pack_split [-DXZ=xz -DFILTER=... -DCODE_FILTER=...] -P pack.cmake
#   cmake -DSTREAMS=streams.txt -DPACK=kernels.pack -DVERSION=0.2.0 -P pack.cmake
#   cmake -DSTREAMS=streams.txt -DPACK=kernels.pack -DID=kernels.id -P pack.cmake
#
# ROWS has lines "MODULE KIND FILE"; KIND is sm_90a for a cubin, compute_75 for PTX.  The program SPLIT (pack_split.c),
# which is run by EMULATOR if that is given, separates machine code from all other bytes.  STREAM becomes the
# concatenation of the other bytes of all files, in which positions are differences, compressed by XZ with FILTER if it is
# given, and of their code, compressed with CODE_FILTER.  Kernels for one GPU are similar to each other: compressed together they take three
# quarters of the bytes, and 4 % less because code is separate.
#
# STREAMS has the paths of streams.  PACK begins with text:
#
#   echelon-pack 1 ID                 VERSION, or the contents of the file ID (cmake/pack_id.cmake)
#   sort_k32_v0 sm_90a 0 5312 0 41040 5312 52312 0 390000 2048
#   ...
#   end
#
# A row has a module, its target, the offset (after the text) and bytes of the compressed stream of its other bytes, its
# offset and bytes in this stream after decompression; the same four numbers of its code, and the position of the code
# in the cubin.  The numbers of the code are omitted if there is none.  The streams follow.

function(compress_part file filter variable)
  file(SIZE "${file}" bytes)
  if(XZ AND bytes GREATER 0)
    math(EXPR dictionary "${bytes} + 4096")
    execute_process(COMMAND ${XZ} --format=xz --check=crc32 --threads=1 ${filter},dict=${dictionary} --stdout ${file}
      OUTPUT_FILE ${file}.xz RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR "cannot write ${STREAM}")
    endif()
    file(RENAME ${file}.xz ${file})
    file(SIZE "${file}" bytes)
  endif()
  set(${variable} ${bytes} PARENT_SCOPE)
endfunction()

function(write_stream)
  separate_arguments(emulator UNIX_COMMAND "${EMULATOR}")
  execute_process(COMMAND ${emulator} ${SPLIT} ${ROWS} ${STREAM}.rest ${STREAM}.code ${STREAM}.index
    RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "cannot split the files of ${STREAM}")
  endif()
  compress_part(${STREAM}.rest "${FILTER}" rest)
  compress_part(${STREAM}.code "${CODE_FILTER}" code)
  file(STRINGS ${STREAM}.index rows)
  set(index "")
  foreach(row IN LISTS rows)
    string(REGEX MATCH "^([a-z0-9_]+ [a-z0-9_]+) ([0-9]+ [0-9]+)(.*)$" row "${row}")
    string(APPEND index "${CMAKE_MATCH_1} 0 ${rest} ${CMAKE_MATCH_2}")
    if(CMAKE_MATCH_3)
      string(APPEND index " ${rest} ${code}${CMAKE_MATCH_3}")
    endif()
    string(APPEND index "\n")
  endforeach()
  file(WRITE ${STREAM}.rows "${index}")
  execute_process(COMMAND ${CMAKE_COMMAND} -E cat ${STREAM}.rest ${STREAM}.code OUTPUT_FILE ${STREAM}.part
    RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "cannot write ${STREAM}")
  endif()
  file(RENAME ${STREAM}.part ${STREAM})
  file(REMOVE ${STREAM}.rest ${STREAM}.code ${STREAM}.index)
endfunction()

function(write_pack)
  file(STRINGS ${STREAMS} streams)
  set(index "")
  set(offset 0)
  foreach(stream IN LISTS streams)
    file(SIZE "${stream}" bytes)
    file(STRINGS "${stream}.rows" rows)
    foreach(row IN LISTS rows)
      separate_arguments(words UNIX_COMMAND "${row}")
      list(POP_FRONT words module kind rest)
      math(EXPR rest "${rest} + ${offset}")
      list(LENGTH words count)
      if(count GREATER 3) # of the code
        list(POP_FRONT words bytes_of_rest at bytes_of_module code)
        math(EXPR code "${code} + ${offset}")
        list(PREPEND words ${bytes_of_rest} ${at} ${bytes_of_module} ${code})
      endif()
      list(JOIN words " " words)
      string(APPEND index "${module} ${kind} ${rest} ${words}\n")
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
