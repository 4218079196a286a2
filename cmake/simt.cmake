# simt.cmake - ECHELON_SIMT, and the build of a CUDA source as a module of the SIMT emulator.
#
#   simt_image(NAME FILE.cu DEFINITION...)    target simt_NAME -> src/echelon/NAME.so
#
# The source is compiled as C++ after src/simt/device.h. The compiler's hooks of the thread sanitizer and of
# coverage call the emulator at every access and every basic block. The emulator defines these hooks itself,
# so the sanitizer's own library must not be linked. With the address sanitizer, that sanitizer checks the
# accesses instead.

option(ECHELON_SIMT "build the SIMT emulator, which runs CUDA kernels on the CPU" ON)
set(ECHELON_SIMT_ARCH "" CACHE STRING
  "GPU for which the emulator's modules are compiled, as for nvcc (75); empty: the kernels of all GPUs, code for 90")
set(simt_arch_emulator $<$<BOOL:${ECHELON_SIMT_ARCH}>:ECHELON_SIMT_ARCH=${ECHELON_SIMT_ARCH}>)
set(simt_arch_kernels $<$<BOOL:${ECHELON_SIMT_ARCH}>:__CUDA_ARCH__=${ECHELON_SIMT_ARCH}0>)

# The flags of a module, for all compilers and for one. "echelon emulate" uses them, too (src/simt/CMakeLists.txt).
set(simt_flags -O2 -gdwarf-4 -gz=none -fno-plt -UNDEBUG -fno-exceptions -fno-rtti -ffp-contract=off -fvisibility=hidden
  -fno-tree-vectorize -fno-tree-slp-vectorize -fno-optimize-sibling-calls)
# A thread-local array of another module has no constructor that must run before its first use. A vector access must
# stay one access, as on the device, and each source line must stay in one place.
set(simt_flags_gnu -g1 -fno-extern-tls-init -fno-tree-sra -fno-thread-jumps -fno-tree-tail-merge -fno-crossjumping)
# Passes after the hooks are inserted, which take a sixth of the time of the compiler. With them, tests on the emulator are
# at most 3 % faster, because kernels spend most of their time in the emulator.
list(APPEND simt_flags_gnu -fno-schedule-insns2 -fno-gcse -fno-ivopts -fno-rerun-cse-after-loop -fno-if-conversion
  -fno-if-conversion2 -fno-cprop-registers -fno-ipa-ra -fno-split-wide-types -fno-ree -fno-dse -fno-tree-ter)
# Only "echelon emulate": an access through a pointer that is always null remains, and is found.
set(simt_flags_lines -fno-delete-null-pointer-checks)
# Only "echelon emulate": the code of a branch stays next to it, so that the line of a call is found more precisely.
set(simt_flags_lines_gnu -fno-reorder-blocks -fno-guess-branch-probability)
set(simt_flags_clang -gline-tables-only -Wno-pass-failed "SHELL:-mllvm -disable-vector-combine")
set(simt_hooks_all -DSIMT_HOOKS -fsanitize=thread -fsanitize-coverage=trace-pc)
set(simt_hooks_gnu --param=tsan-distinguish-volatile=1 --param=tsan-instrument-func-entry-exit=0) # since version 11
set(simt_hooks_clang "SHELL:-mllvm -tsan-distinguish-volatile=1" "SHELL:-mllvm -tsan-instrument-read-before-write=1"
  "SHELL:-mllvm -tsan-instrument-func-entry-exit=0")
set(simt_link_options -Wl,--no-undefined,--wrap=memcpy,--wrap=memmove,--wrap=memset)

# Writes these flags as rows FLAG(whose, "flag") for cli/compile.c.
function(simt_write_flags path)
  set(rows "")
  foreach(whose all gnu clang lines lines_gnu hooks_all hooks_gnu hooks_clang link)
    set(list simt_flags_${whose})
    if(whose STREQUAL "all")
      set(list simt_flags)
    elseif(whose STREQUAL "link")
      set(list simt_link_options)
    elseif(whose MATCHES "^hooks")
      set(list simt_${whose})
    endif()
    foreach(flag IN LISTS ${list})
      string(REGEX REPLACE "^SHELL:" "" flag "${flag}")
      separate_arguments(flag UNIX_COMMAND "${flag}")
      foreach(word IN LISTS flag)
        string(APPEND rows "FLAG(${whose}, \"${word}\")\n")
      endforeach()
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT ${path} CONTENT "${rows}" @ONLY)
endfunction()
simt_write_flags(${PROJECT_BINARY_DIR}/cli/simt_flags.def)

if(ECHELON_SIMT)
  include(CheckLanguage)
  check_language(CXX)
  if(CMAKE_CXX_COMPILER)
    enable_language(CXX)
  endif()
endif()
if(ECHELON_SIMT AND CMAKE_CXX_COMPILER AND NOT ECHELON_SANITIZE MATCHES "thread|memory")
  set(ECHELON_SIMT_FOUND TRUE)
else()
  # The thread sanitizer's library defines the same hooks; the memory sanitizer needs instrumented C++ code.
  set(ECHELON_SIMT_FOUND FALSE)
  message(STATUS "echelon: no SIMT emulator (no C++ compiler, ECHELON_SIMT=OFF, or -fsanitize=thread or memory)")
  return()
endif()

# In kernels, nvcc reports unused code and comparisons between signed and unsigned.
list(APPEND simt_flags -Wall -Wextra -Wno-unknown-pragmas -Wno-unused-parameter -Wno-sign-compare)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  list(APPEND simt_flags ${simt_flags_gnu})
else()
  list(APPEND simt_flags ${simt_flags_clang})
endif()

if(ECHELON_SANITIZE MATCHES "address")
  set(simt_hooks -fsanitize=address,undefined -fno-sanitize-recover=all -fsanitize-coverage=trace-pc)
  set(simt_link_options "")
else()
  set(simt_hooks ${simt_hooks_all})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    include(CheckCXXCompilerFlag)
    check_cxx_compiler_flag(--param=tsan-distinguish-volatile=1 SIMT_TSAN_VOLATILE)
    if(SIMT_TSAN_VOLATILE)
      list(APPEND simt_hooks ${simt_hooks_gnu})
    endif()
  else()
    list(APPEND simt_hooks ${simt_hooks_clang})
  endif()
endif()

# simt_layout(SYMBOL SOURCE): a C file that defines SYMBOL, a digest of the headers that host code and kernels share. The
# library rejects a module that was built from other headers, for example by a build of some targets only.
function(simt_layout symbol source)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*/*.h ${PROJECT_SOURCE_DIR}/src/*/cuda/*.h)
  list(FILTER files EXCLUDE REGEX "/src/(simt|cpu|io|comm|dist)/")
  list(JOIN files "\n" text)
  file(CONFIGURE OUTPUT ${symbol}.list CONTENT "${text}\n" @ONLY)
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DLIST=${symbol}.list -DFLAGS= -DSYMBOL=${symbol} -DID=${symbol}.id -DSOURCE=${source}
      -P ${PROJECT_SOURCE_DIR}/cmake/pack_id.cmake
    DEPENDS ${files} ${symbol}.list ${PROJECT_SOURCE_DIR}/cmake/pack_id.cmake
    COMMENT "Writing ${symbol}" VERBATIM)
endfunction()

simt_layout(simt_layout simt_layout.c)
set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/simt_layout.c PROPERTIES COMPILE_OPTIONS -fvisibility=default)
add_library(simt_shared OBJECT ${CMAKE_CURRENT_LIST_DIR}/../src/simt/image_shared.c
  ${CMAKE_CURRENT_BINARY_DIR}/simt_layout.c)
target_include_directories(simt_shared PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(simt_shared PRIVATE echelon_warnings)

# The text of a source and of the .cu and .cuh files that it includes, without comments.
function(simt_text source variable)
  set(to_read ${source})
  set(all "")
  set(text "")
  while(to_read)
    list(POP_FRONT to_read file)
    if(file IN_LIST all OR NOT EXISTS ${file})
      continue()
    endif()
    list(APPEND all ${file})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} part)
    get_filename_component(directory ${file} DIRECTORY)
    string(REGEX MATCHALL "#include \"[^\"]+\\.cuh?\"" includes "${part}")
    foreach(include IN LISTS includes)
      string(REGEX REPLACE "#include \"(.*)\"" "\\1" include "${include}")
      foreach(root ${directory} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
        get_filename_component(found ${include} ABSOLUTE BASE_DIR ${root})
        if(EXISTS ${found})
          list(APPEND to_read ${found})
          break()
        endif()
      endforeach()
    endforeach()
    string(REGEX REPLACE "/\\*[^*]*\\*+([^/*][^*]*\\*+)*/" " " part "${part}")
    string(APPEND text "${part}")
  endwhile()
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# The kernels in a text, as lines of C++ for image.cc.in: an object per kernel, and a row of the table.
function(simt_kernels text absent_variable rows_variable)
  set(blank "[ \t\r\n]")
  set(arguments "\\((([^()]|\\([^()]*\\))*)\\)") # CMake does not support more groups: one nested pair
  set(attribute "__(launch_bounds|cluster_dims|maxnreg)__${blank}*${arguments}${blank}*")
  string(REGEX MATCHALL "__global__${blank}+(${attribute})*void${blank}+(${attribute})*[A-Za-z_0-9]+${blank}*\\("
    kernels "${text}")
  string(REGEX MATCHALL "__global__${blank}" keywords "${text}")
  list(LENGTH keywords expected)
  list(LENGTH kernels found)
  if(NOT found EQUAL expected)
    message(FATAL_ERROR "${source}: only ${found} of ${expected} __global__ functions have a known form: "
      "__global__ void name(, with attributes before or after void")
  endif()
  set(names "")
  set(absent "")
  set(rows "")
  foreach(kernel IN LISTS kernels)
    string(REGEX REPLACE ".*[^A-Za-z_0-9]([A-Za-z_0-9]+)${blank}*\\($" "\\1" name "${kernel}")
    set(bound "")
    if(kernel MATCHES "__launch_bounds__${blank}*${arguments}")
      set(bound "${CMAKE_MATCH_1}")
    endif()
    if(NOT name IN_LIST names)
      list(APPEND names ${name})
      string(APPEND absent "__attribute__((unused)) static const simt_none ${name} = {};\n")
      string(APPEND rows "    simt_row<decltype(::${name}), ::${name}>::kernel(\"${name}\", simt_bound(${bound})),\n")
    endif()
  endforeach()
  set(${absent_variable} "${absent}" PARENT_SCOPE)
  set(${rows_variable} "${rows}" PARENT_SCOPE)
endfunction()

function(simt_image name source)
  get_filename_component(file ${source} ABSOLUTE)
  simt_text(${file} text)
  simt_kernels("${text}" absent rows)
  set(image ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc)
  configure_file(${PROJECT_SOURCE_DIR}/src/simt/image.cc.in ${image} @ONLY)
  add_library(simt_${name} MODULE ${image} $<TARGET_OBJECTS:simt_shared>)
  set_target_properties(simt_${name} PROPERTIES PREFIX "" SUFFIX .so OUTPUT_NAME ${name}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/src/echelon
    CXX_STANDARD 14 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
  target_compile_options(simt_${name} PRIVATE ${simt_flags} ${simt_hooks}
    "SHELL:-include ${PROJECT_SOURCE_DIR}/src/simt/device.h" $<$<BOOL:${ECHELON_WERROR}>:-Werror>)
  target_compile_definitions(simt_${name} PRIVATE ${ARGN} ${simt_arch_kernels})
  target_include_directories(simt_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  target_link_options(simt_${name} PRIVATE ${simt_link_options})
  target_link_libraries(simt_${name} PRIVATE echelon_simt m)
  set_property(SOURCE ${image} APPEND PROPERTY OBJECT_DEPENDS ${PROJECT_SOURCE_DIR}/src/simt/device.h)
endfunction()
