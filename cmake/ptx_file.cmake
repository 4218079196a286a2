# ptx_file.cmake - a script: writes a file of PTX, which src/cuda/ptx_file.c reads.
#
#   cmake -DLIST=rows.txt -DPACK=kernels.pack -DVERSION=0.1.0 -P ptx_file.cmake
#   cmake -DLIST=rows.txt -DPACK=kernels.pack -DID=kernels.id -P ptx_file.cmake
#
# LIST has rows "IMAGE FATBIN".  PACK begins with text:
#
#   echelon-ptx 1 ID              VERSION, or what the file ID contains (cmake/ptx_id.cmake)
#   sort_k32 0 52312              an image, its offset after the text, its bytes
#   ...
#   end
#
# and then has the fatbins one after another.

file(STRINGS ${LIST} rows)
set(index "")
set(files "")
set(offset 0)
foreach(row IN LISTS rows)
  string(REGEX MATCH "^([a-z0-9_]+) (.+)$" row "${row}")
  set(image ${CMAKE_MATCH_1})
  set(file ${CMAKE_MATCH_2})
  file(SIZE ${file} bytes)
  string(APPEND index "${image} ${offset} ${bytes}\n")
  list(APPEND files ${file})
  math(EXPR offset "${offset} + ${bytes}")
endforeach()
set(id "${VERSION}")
if(ID)
  file(READ ${ID} id)
endif()
file(WRITE ${PACK}.index "echelon-ptx 1 ${id}\n${index}end\n")
execute_process(COMMAND ${CMAKE_COMMAND} -E cat ${PACK}.index ${files} OUTPUT_FILE ${PACK}.part RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "cannot write ${PACK}")
endif()
file(RENAME ${PACK}.part ${PACK})
file(REMOVE ${PACK}.index)
