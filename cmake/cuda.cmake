# cuda.cmake - ECHELON_CUDA, ECHELON_NVCC, and how CUDA sources become a pack of kernels.
#
#   cuda_code(NAME SOURCE "DEFINITIONS" ROWS)             machine code for ECHELON_CUDA_ARCHS
#   cuda_ptx(NAME SOURCE "ARCHS" "DEFINITIONS" ROWS [FLAG...])    PTX for the compute capabilities ARCHS;
#                                                         target accepted_NAME compiles it unoptimised, for
#                                                         every third instance of a source
#   pack_stream(NAME "ROWS" STREAM [FILTER])              files that are compressed together, such as an operation's code
#   pack_file(NAME SYMBOL OBJECTS STREAM...)              echelon/NAME.pack, which contains these streams; target ptx_NAME
#   pack_object(NAME SYMBOL ID OBJECTS STREAM...)         the same as part of a program: SYMBOL_begin, SYMBOL_bytes
#
# ROWS are words "MODULE KIND FILE"; src/cuda/pack.c reads a pack and cmake/pack.cmake describes it.  OBJECTS of
# pack_file() defines SYMBOL, a digest by which a program recognises the pack of its own build.  The digest is computed
# from the sources, so that a program can be built before nvcc has finished.  Without SYMBOL it is the project's version.

option(ECHELON_CUDA "build the CUDA backend when nvcc is found" ON)
if(ECHELON_CUDA)
  find_program(ECHELON_NVCC nvcc HINTS ENV CUDA_HOME PATH_SUFFIXES bin PATHS /usr/local/cuda)
endif()
set(ECHELON_NVCC_FLAGS "" CACHE STRING "more flags for nvcc, such as -lineinfo")
set(ECHELON_CUDA_ARCHS native CACHE STRING
  "compute capabilities whose machine code is embedded, such as \"75;80;90\"; native: of the GPUs here")
set(ECHELON_CUDA_PTX auto CACHE STRING
  "compute capability whose PTX is in echelon/kernels.pack, or none; auto: the last of a list, none if \
native finds a GPU, 75 where it finds no GPU")
set(ECHELON_PACK_FOLDER echelon CACHE STRING
  "folder of kernels.pack and ladder.pack, next to the library; versions that are installed together need different ones")

# Resolves "native": no machine code, and PTX for the oldest GPU, if nvcc knows no GPU of this machine.
function(cuda_native variable)
  set(found "")
  find_program(ECHELON_NVIDIA_SMI nvidia-smi)
  mark_as_advanced(ECHELON_NVIDIA_SMI)
  if(ECHELON_NVIDIA_SMI)
    execute_process(COMMAND ${ECHELON_NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader
      OUTPUT_VARIABLE capabilities RESULT_VARIABLE failed ERROR_QUIET)
    execute_process(COMMAND ${ECHELON_NVCC} --list-gpu-code OUTPUT_VARIABLE known ERROR_QUIET)
    if(NOT failed)
      string(REGEX MATCHALL "[0-9]+\\.[0-9]" capabilities "${capabilities}")
      foreach(capability IN LISTS capabilities)
        string(REPLACE . "" arch ${capability})
        if(known MATCHES "sm_${arch}[^0-9]")
          list(APPEND found ${arch})
        endif()
      endforeach()
      list(REMOVE_DUPLICATES found)
    endif()
  endif()
  set(${variable} "${found}" PARENT_SCOPE)
endfunction()

set(ECHELON_HAS_NVCC FALSE)
set(ECHELON_CODE_KINDS "") # "sm_80" ...
set(ECHELON_CODE_STREAMS_OF "") # those of each stream: "sm_80,sm_75" ...
# On an H200, kernels from PTX for 7.5 take 1.0 to 1.2 times as long if it was compiled with -O2 instead of
# -O3, and 5 to 9 times as long with -O1; -O2 saves a third of nvcc's time.
set(ECHELON_PTX_FLAGS "")
if(ECHELON_CUDA AND ECHELON_NVCC)
  set(ECHELON_HAS_NVCC TRUE)
  set(archs ${ECHELON_CUDA_ARCHS})
  set(ECHELON_PTX_ARCH ${ECHELON_CUDA_PTX})
  if(ECHELON_CUDA_ARCHS STREQUAL "native")
    cuda_native(archs)
    if(ECHELON_CUDA_PTX STREQUAL "auto" AND archs)
      set(ECHELON_PTX_ARCH none)
    elseif(ECHELON_CUDA_PTX STREQUAL "auto")
      set(ECHELON_PTX_ARCH 75)
      set(ECHELON_PTX_FLAGS -Xcicc -O2)
    endif()
  elseif(ECHELON_CUDA_PTX STREQUAL "auto")
    list(GET archs -1 ECHELON_PTX_ARCH)
  endif()
  if(NOT ECHELON_PTX_ARCH OR ECHELON_PTX_ARCH STREQUAL "none")
    set(ECHELON_PTX_ARCH "")
  endif()
  set(ECHELON_CODE_ARCHS ${archs})
  foreach(arch IN LISTS archs)
    if(arch EQUAL 90) # every GPU of 9.0 runs code for 90a, the only target with wgmma
      set(arch 90a)
    endif()
    list(APPEND ECHELON_CODE_KINDS sm_${arch})
  endforeach()
  # Similar code is compressed together, module by module: 10 % less for 8.0 and 7.5, 4 % for 12.0 and 10.0. Modules then
  # take up to twice as long to decompress, the first ones of a stream 2 to 5 ms longer.
  set(single ${ECHELON_CODE_KINDS})
  foreach(pair sm_80,sm_75 sm_120,sm_100)
    string(REPLACE "," ";" kinds ${pair})
    list(GET kinds 0 first)
    list(GET kinds 1 second)
    if(first IN_LIST ECHELON_CODE_KINDS AND second IN_LIST ECHELON_CODE_KINDS)
      list(APPEND ECHELON_CODE_STREAMS_OF ${pair})
      list(REMOVE_ITEM single ${kinds})
    endif()
  endforeach()
  list(APPEND ECHELON_CODE_STREAMS_OF ${single})
  separate_arguments(extra_flags UNIX_COMMAND "${ECHELON_NVCC_FLAGS}")
  set(ECHELON_NVCC_COMMAND ${ECHELON_NVCC} -std=c++14 -O3 -fmad=false -Werror=all-warnings ${extra_flags}
    -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR})
  list(JOIN archs " " archs)
  message(STATUS "echelon: CUDA kernels compiled by ${ECHELON_NVCC}; machine code for: ${archs}; PTX for: ${ECHELON_PTX_ARCH}")
else()
  message(STATUS "echelon: no nvcc (or ECHELON_CUDA=OFF): this build has no CUDA backend")
endif()

# Kernels are compressed if both xz (called by the build) and liblzma (linked to the library) are found.
option(ECHELON_STATIC_LZMA "link liblzma.a, so that the shared library does not need liblzma.so" OFF)
if(ECHELON_STATIC_LZMA)
  find_library(LIBLZMA_LIBRARY liblzma.a)
endif()
find_package(LibLZMA QUIET)
find_program(ECHELON_XZ xz)
mark_as_advanced(ECHELON_XZ)
set(ECHELON_LZMA FALSE)
if(LIBLZMA_FOUND AND ECHELON_XZ)
  set(ECHELON_LZMA TRUE)
elseif(ECHELON_HAS_NVCC)
  message(STATUS "echelon: xz or liblzma is missing: kernels are not compressed, which makes them eight times as large")
endif()

# Machine code has 16 bytes per instruction; a bit position within them has a fixed meaning. Other bytes of a cubin are
# numbers of 4 and 8 bytes, and names.
set(ECHELON_CODE_FILTER --lzma2=preset=9e,lc=0,lp=4,pb=4,nice=273)
set(ECHELON_REST_FILTER --lzma2=preset=9e,lc=2,lp=2,pb=2,nice=273)
set(ECHELON_PTX_FILTER --lzma2=preset=6)

# Splits cubins before they are compressed.
add_executable(pack_split EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/cmake/pack_split.c)
target_include_directories(pack_split PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(pack_split PRIVATE echelon_warnings)

function(cuda_compile output source flags definitions)
  list(TRANSFORM definitions PREPEND -D)
  get_filename_component(name ${output} NAME)
  add_custom_command(OUTPUT ${output}
    COMMAND ${ECHELON_NVCC_COMMAND} ${flags} ${definitions} -MMD -MF ${output}.d -MT ${output} -o ${output} ${source}
    DEPENDS ${source} DEPFILE ${output}.d
    COMMENT "Compiling kernels ${name}" VERBATIM)
endfunction()

function(cuda_code name source definitions variable)
  set(rows "")
  foreach(kind IN LISTS ECHELON_CODE_KINDS)
    set(cubin ${CMAKE_CURRENT_BINARY_DIR}/${name}.${kind}.cubin)
    cuda_compile(${cubin} ${source} "-cubin;-arch=${kind}" "${definitions}")
    list(APPEND rows ${name} ${kind} ${cubin})
  endforeach()
  set(${variable} "${rows}" PARENT_SCOPE)
endfunction()

function(cuda_ptx name source archs definitions variable)
  set(rows "")
  foreach(arch IN LISTS archs)
    set(ptx ${CMAKE_CURRENT_BINARY_DIR}/${name}.${arch}.ptx)
    cuda_compile(${ptx} ${source} "${ARGN};-ptx;-arch=compute_${arch}" "${definitions}")
    list(APPEND rows ${name} compute_${arch} ${ptx})
  endforeach()
  set(${variable} "${rows}" PARENT_SCOPE)
  # Only checks that nvcc accepts the source, in a fraction of the time: for make check, which runs no PTX. nvcc compiles
  # every third instance of a source, from the first one; the emulator compiles all of them.
  get_property(instances GLOBAL PROPERTY ECHELON_INSTANCES_OF_${source})
  set_property(GLOBAL APPEND PROPERTY ECHELON_INSTANCES_OF_${source} ${name})
  list(LENGTH instances before)
  math(EXPR rest "${before} % 3")
  if(rest GREATER 0)
    return()
  endif()
  set(gencode "")
  foreach(arch IN LISTS archs)
    list(APPEND gencode -gencode arch=compute_${arch},code=compute_${arch})
  endforeach()
  set(accepted ${CMAKE_CURRENT_BINARY_DIR}/${name}.accepted)
  cuda_compile(${accepted} ${source} "-Xcicc;-O0;-fatbin;${gencode}" "${definitions}")
  add_custom_target(accepted_${name} DEPENDS ${accepted})
endfunction()

function(pack_stream name rows variable)
  set(stream ${CMAKE_CURRENT_BINARY_DIR}/${name}.stream)
  set(text "")
  set(files "")
  while(rows)
    list(POP_FRONT rows image kind file)
    string(APPEND text "${image} ${kind} ${file}\n")
    list(APPEND files ${file})
  endwhile()
  file(CONFIGURE OUTPUT ${stream}.list CONTENT "${text}" @ONLY)
  set(xz "")
  if(ECHELON_LZMA)
    set(xz -DXZ=${ECHELON_XZ} -DFILTER=${ARGN} -DCODE_FILTER=${ECHELON_CODE_FILTER})
  endif()
  list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " emulator)
  add_custom_command(OUTPUT ${stream} BYPRODUCTS ${stream}.rows
    COMMAND ${CMAKE_COMMAND} -DROWS=${stream}.list -DSTREAM=${stream} -DSPLIT=$<TARGET_FILE:pack_split>
      "-DEMULATOR=${emulator}" ${xz}
      -P ${PROJECT_SOURCE_DIR}/cmake/pack.cmake
    DEPENDS ${files} ${stream}.list pack_split ${PROJECT_SOURCE_DIR}/cmake/pack.cmake
    COMMENT "Compressing kernels ${name}" VERBATIM)
  set(${variable} ${stream} PARENT_SCOPE)
endfunction()

# pack_command(FILE "STREAMS" ID FILE | VERSION TEXT)
function(pack_command pack streams)
  get_filename_component(name ${pack} NAME)
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${name}.list)
  list(JOIN streams "\n" text)
  file(CONFIGURE OUTPUT ${list} CONTENT "${text}\n" @ONLY)
  cmake_parse_arguments(PARSE_ARGV 2 pack "" "ID;VERSION" "")
  set(option -DVERSION=${pack_VERSION})
  if(pack_ID)
    set(option -DID=${pack_ID})
  endif()
  add_custom_command(OUTPUT ${pack}
    COMMAND ${CMAKE_COMMAND} -DSTREAMS=${list} -DPACK=${pack} ${option} -P ${PROJECT_SOURCE_DIR}/cmake/pack.cmake
    DEPENDS ${streams} ${list} ${pack_ID} ${PROJECT_SOURCE_DIR}/cmake/pack.cmake
    COMMENT "Writing ${name}" VERBATIM)
endfunction()

function(pack_file name symbol objects)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/src/${ECHELON_PACK_FOLDER})
  set(pack ${PROJECT_BINARY_DIR}/src/${ECHELON_PACK_FOLDER}/${name}.pack)
  set(source "")
  if(symbol)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}_id.c)
    set(id ${CMAKE_CURRENT_BINARY_DIR}/${name}.id)
    pack_id(${symbol} ${id} ${source})
    pack_command(${pack} "${ARGN}" ID ${id})
  else()
    pack_command(${pack} "${ARGN}" VERSION ${PROJECT_VERSION})
  endif()
  add_custom_target(ptx_${name} ALL DEPENDS ${pack})
  set(${objects} ${source} PARENT_SCOPE)
  install(FILES ${pack} DESTINATION ${CMAKE_INSTALL_LIBDIR}/${ECHELON_PACK_FOLDER} OPTIONAL)
  install(CODE "if(NOT EXISTS \"${pack}\")\n  message(WARNING \"${name}.pack is not built; build the target ptx_${name}\")\nendif()")
endfunction()

function(pack_object name symbol id objects)
  set(pack ${CMAKE_CURRENT_BINARY_DIR}/${name}.pack)
  set(assembly ${CMAKE_CURRENT_BINARY_DIR}/${name}.S)
  pack_command(${pack} "${ARGN}" VERSION ${id})
  file(CONFIGURE OUTPUT ${assembly} CONTENT [[
#ifdef __CET__
#include <cet.h> /* the linker drops the mark of the whole library if one object lacks it */
#endif
    .section .rodata
    .balign 64
    .globl @symbol@_begin
    .hidden @symbol@_begin
@symbol@_begin:
    .incbin "@pack@"
.Lend:
    .balign 8
    .globl @symbol@_bytes
    .hidden @symbol@_bytes
@symbol@_bytes:
    .quad .Lend - @symbol@_begin
    .section .note.GNU-stack,"",%progbits
]] @ONLY)
  set_source_files_properties(${assembly} PROPERTIES OBJECT_DEPENDS ${pack})
  set(${objects} ${assembly} ${pack} PARENT_SCOPE)
endfunction()

# A digest of all sources that a kernel can include, known before nvcc has compiled any of them.
function(pack_id symbol id source)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cu ${PROJECT_SOURCE_DIR}/src/*.cuh
    ${PROJECT_SOURCE_DIR}/src/*.h ${PROJECT_SOURCE_DIR}/src/*.def ${PROJECT_SOURCE_DIR}/src/instances.txt)
  list(JOIN files "\n" text)
  file(CONFIGURE OUTPUT ${id}.list CONTENT "${text}\n" @ONLY)
  add_custom_command(OUTPUT ${id} ${source}
    COMMAND ${CMAKE_COMMAND} -DLIST=${id}.list "-DFLAGS=${ECHELON_PTX_ARCH};${ECHELON_PTX_FLAGS};${ECHELON_NVCC_FLAGS}"
      -DSYMBOL=${symbol} -DID=${id} -DSOURCE=${source} -P ${PROJECT_SOURCE_DIR}/cmake/pack_id.cmake
    DEPENDS ${files} ${id}.list ${PROJECT_SOURCE_DIR}/cmake/pack_id.cmake
    COMMENT "Writing ${symbol}" VERBATIM)
endfunction()
