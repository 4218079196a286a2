# operation.cmake - builds the folder of an operation as a part of the library.
#
#   echelon_operation(sort [VARIANTS FLAG...] [AVX2 FLAG...] [AVX512 FLAG...])
#
# Called in src/<operation>/CMakeLists.txt.  The target echelon_<operation> has the objects of
#
#   *.c, cpu/*.c     the shared code and the code of the CPU; a file named avx2.c or *_avx2.c (avx512 likewise)
#                    is compiled for that instruction set, only on x86-64; src/cpu/dispatch.c checks the
#                    processor before one of them runs
#   cuda/*.c         the host code of the CUDA backend, in builds with nvcc or with the SIMT emulator
#   instances.txt    the kernels of cuda/*.cu, per row: with nvcc, machine code in the library and PTX in kernels.pack
#                    (cmake/cuda.cmake lists the GPUs); and a module for the SIMT emulator
#
# VARIANTS: more flags of portable.c, avx2.c and avx512.c; AVX2 and AVX512: more flags of these files.
#
#   operations_column(folder folders)
#
# Sets folders to a column of src/operations.def (name, folder, call, command, tests, benchmark), without
# duplicates and without "none". CMake runs again when that file changes.

function(operations_column column variable)
  set(def ${PROJECT_SOURCE_DIR}/src/operations.def)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${def})
  list(FIND ECHELON_OPERATION_COLUMNS ${column} index)
  file(STRINGS ${def} rows REGEX "^OPERATION\\(")
  set(words "")
  foreach(row IN LISTS rows)
    string(REGEX REPLACE "^OPERATION\\((.*)\\)$" "\\1" row "${row}")
    string(REGEX REPLACE "[\" ]*,[\" ]*" ";" cells "${row}")
    list(GET cells ${index} cell)
    separate_arguments(cell UNIX_COMMAND "${cell}")
    list(APPEND words ${cell})
  endforeach()
  list(REMOVE_ITEM words none)
  list(REMOVE_DUPLICATES words)
  set(${variable} ${words} PARENT_SCOPE)
endfunction()
set(ECHELON_OPERATION_COLUMNS name folder call command tests benchmark)

# Flags for every file of the library.
add_library(echelon_build INTERFACE)
target_include_directories(echelon_build INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
# Results are the same on every device, so products and sums are rounded separately. nvcc and the compiler of
# the SIMT emulator's modules get the same option.
target_compile_options(echelon_build INTERFACE -ffp-contract=off)
target_link_libraries(echelon_build INTERFACE echelon_warnings)

# gcc clears and copies structs of 100 to 500 bytes by "rep stos" and "rep movs", which take up to 10 ns longer than
# stores. ECHELON_SHORT_CALLS is for all files except kernels, whose vectors would wait for such small stores. Other
# compilers do not know the options.
include(CheckCCompilerFlag)
set(ECHELON_SHORT_CALLS "")
set(ECHELON_SHORT_KERNELS "")
foreach(strategy memset-strategy=vector_loop:512 memcpy-strategy=unrolled_loop:128)
  set(flag -m${strategy}:noalign,libcall:-1:noalign)
  string(MAKE_C_IDENTIFIER ECHELON_HAS_${strategy} has)
  check_c_compiler_flag(${flag} ${has})
  if(${has})
    list(APPEND ECHELON_SHORT_CALLS ${flag})
    set(ECHELON_SHORT_KERNELS -mmemset-strategy=unrolled_loop:512:noalign,libcall:-1:noalign) # reduce, scan, sort
  endif()
endforeach()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  set(ECHELON_X86 TRUE)
  target_compile_definitions(echelon_build INTERFACE ECHI_CPU_X86)
endif()

set(ECHELON_AVX2 -mavx2 -mf16c -mbmi -mbmi2 -mlzcnt -mpopcnt)
set(ECHELON_AVX512 ${ECHELON_AVX2} -mavx512f -mavx512bw -mavx512dq -mavx512vl)

# Short loops take up to 20 % longer if a cache line ends in them, which would otherwise depend on the code that is
# linked before them.
set(ECHELON_ALIGN -falign-functions=64 -falign-loops=64)

# echelon_part(NAME SOURCES...): an object library that becomes a part of libechelon.
function(echelon_part name)
  add_library(echelon_${name} OBJECT ${ARGN})
  foreach(source ${ARGN})
    if(NOT source MATCHES "(avx2|avx512|portable)\\.c$")
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS ${ECHELON_SHORT_CALLS})
    endif()
  endforeach()
  target_link_libraries(echelon_${name} PRIVATE echelon_build)
  set_property(GLOBAL APPEND PROPERTY ECHELON_PARTS echelon_${name})
endfunction()

function(echelon_operation name)
  cmake_parse_arguments(PARSE_ARGV 1 flags "" "" "VARIANTS;AVX2;AVX512")
  file(GLOB sources CONFIGURE_DEPENDS *.c cpu/*.c)
  if(ECHELON_HAS_CUDA_HOST)
    file(GLOB cuda CONFIGURE_DEPENDS cuda/*.c)
    list(APPEND sources ${cuda})
  endif()
  foreach(isa avx2 avx512)
    string(TOUPPER ${isa} ISA)
    set(variants ${sources})
    list(FILTER variants INCLUDE REGEX "[/_]${isa}\\.c$")
    if(variants AND NOT ECHELON_X86)
      list(REMOVE_ITEM sources ${variants})
    elseif(variants)
      set_source_files_properties(${variants} PROPERTIES COMPILE_OPTIONS
        "${ECHELON_${ISA}};${flags_${ISA}};${flags_VARIANTS}")
    endif()
  endforeach()
  set(portable ${flags_VARIANTS})
  if(ECHELON_X86) # runs only on processors without AVX2: -O1 saves compile time
    list(APPEND portable $<$<CONFIG:Release>:-O1>)
  endif()
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/cpu/portable.c)
    set_source_files_properties(cpu/portable.c PROPERTIES COMPILE_OPTIONS "${portable}")
  endif()

  instance_rows(${CMAKE_CURRENT_SOURCE_DIR}/instances.txt rows)
  set(stream 0)
  foreach(row IN LISTS rows)
    if(row STREQUAL "stream")
      operation_streams(${name}_${stream} "${code}" "${ptx}")
      math(EXPR stream "${stream} + 1")
      set(code "")
      set(ptx "")
      continue()
    endif()
    instance_parse(${name} "${row}" instance)
    set_property(GLOBAL APPEND PROPERTY ECHELON_IMAGES ${instance_NAME})
    if(ECHELON_CODE_KINDS)
      cuda_code(${instance_NAME} ${instance_SOURCE} "${instance_DEFINITIONS}" more)
      list(APPEND code ${more})
    endif()
    if(ECHELON_PTX_ARCH)
      cuda_ptx(${instance_NAME} ${instance_SOURCE} ${ECHELON_PTX_ARCH} "${instance_DEFINITIONS}" more
        ${ECHELON_PTX_FLAGS})
      list(APPEND ptx ${more})
    endif()
    if(ECHELON_SIMT_FOUND)
      simt_image(${instance_NAME} ${instance_SOURCE} ${instance_DEFINITIONS})
      set_property(GLOBAL APPEND PROPERTY ECHELON_SIMT_MODULES simt_${instance_NAME})
    endif()
  endforeach()
  operation_streams(${name}_${stream} "${code}" "${ptx}")
  echelon_part(${name} ${sources})
  target_compile_options(echelon_${name} PRIVATE ${ECHELON_ALIGN})
endfunction()

# The kernels of some rows as streams: one per architecture or two similar ones, and one of PTX.
function(operation_streams name code ptx)
  foreach(kinds IN LISTS ECHELON_CODE_STREAMS_OF)
    set(rows "")
    string(REPLACE "," ";" list ${kinds})
    set(rest ${code})
    while(rest)
      foreach(kind IN LISTS ECHELON_CODE_KINDS) # the files of a module are adjacent
        list(POP_FRONT rest image of file)
        set(file_of_${of} ${file})
      endforeach()
      foreach(kind IN LISTS list)
        list(APPEND rows ${image} ${kind} ${file_of_${kind}})
      endforeach()
    endwhile()
    string(REPLACE "," "_" kinds ${kinds})
    pack_stream(${name}_${kinds} "${rows}" stream ${ECHELON_REST_FILTER})
    list(APPEND streams ${stream})
  endforeach()
  if(streams)
    add_custom_target(code_of_${name} DEPENDS ${streams})
    set_property(GLOBAL APPEND PROPERTY ECHELON_CODE_STREAMS ${streams})
    set_property(GLOBAL APPEND PROPERTY ECHELON_CODE_TARGETS code_of_${name})
  endif()
  if(ptx)
    pack_stream(${name}_ptx "${ptx}" stream ${ECHELON_PTX_FILTER})
    add_custom_target(ptx_of_${name} DEPENDS ${stream})
    set_property(GLOBAL APPEND PROPERTY ECHELON_PTX_STREAMS ${stream})
    set_property(GLOBAL APPEND PROPERTY ECHELON_PTX_TARGETS ptx_of_${name})
  endif()
endfunction()
