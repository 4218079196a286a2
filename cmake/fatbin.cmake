# fatbin.cmake - ECHELON_CUDA, ECHELON_NVCC, and how a CUDA source becomes a symbol of a program or a
# part of a PTX file.
#
#   fatbin(NAME SYMBOL SOURCE "DEFINITIONS" OBJECTS)      machine code for ECHELON_CUDA_ARCHS
#   fatbin_ptx(NAME SOURCE "ARCHS" "DEFINITIONS" FILE [FLAG...])    PTX for the compute capabilities ARCHS;
#                                                         target accepted_NAME compiles it unoptimised
#   ptx_file(NAME SYMBOL OBJECTS IMAGE FILE ...)          echelon/NAME.pack, of such PTX; target ptx_NAME
#
# nvcc makes NAME.fatbin, an assembly file includes it as SYMBOL, and OBJECTS names both as sources of
# a target.  OBJECTS of ptx_file() defines SYMBOL, the digest by which a program recognises the file of its
# own build: it is of the sources, so that a program is built without waiting for nvcc.  Without a SYMBOL it
# is the project's version.  src/cuda/ptx_file.c reads the file.

option(ECHELON_CUDA "build the CUDA backend when nvcc is found" ON)
if(ECHELON_CUDA)
  find_program(ECHELON_NVCC nvcc HINTS ENV CUDA_HOME PATHS /usr/local/cuda/bin)
endif()
set(ECHELON_NVCC_FLAGS "" CACHE STRING "more flags for nvcc, such as -lineinfo")
set(ECHELON_CUDA_ARCHS native CACHE STRING
  "compute capabilities whose machine code is embedded, such as \"75;80;90\"; native: of the GPUs here")
set(ECHELON_CUDA_PTX auto CACHE STRING
  "compute capability whose PTX is in echelon/kernels.pack, or none; auto: the last of a list, none where \
native finds a GPU, 75 where it finds no GPU")

# native, resolved: no machine code and PTX for the oldest GPU where there is no GPU that this nvcc knows.
function(fatbin_native variable)
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
set(ECHELON_GENCODE "")
# On an H200, PTX for 7.5 that was compiled with -O2 takes 1.0 to 1.2 times as long as with -O3, with -O1
# 5 to 9 times; -O2 saves a third of nvcc's time.
set(ECHELON_PTX_FLAGS "")
if(ECHELON_CUDA AND ECHELON_NVCC)
  set(ECHELON_HAS_NVCC TRUE)
  set(archs ${ECHELON_CUDA_ARCHS})
  set(ECHELON_PTX_ARCH ${ECHELON_CUDA_PTX})
  if(ECHELON_CUDA_ARCHS STREQUAL "native")
    fatbin_native(archs)
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
    if(arch EQUAL 90) # every GPU of 9.0 takes the code of 90a, which alone has wgmma
      set(arch 90a)
    endif()
    list(APPEND ECHELON_GENCODE -gencode arch=compute_${arch},code=sm_${arch})
  endforeach()
  # From CUDA 12.9 on; before that there was one way to compress.
  execute_process(COMMAND ${ECHELON_NVCC} --help OUTPUT_VARIABLE help ERROR_QUIET)
  set(compress -Xfatbin=-compress-all)
  if(help MATCHES "--compress-mode")
    set(compress --compress-mode=size)
  endif()
  separate_arguments(extra_flags UNIX_COMMAND "${ECHELON_NVCC_FLAGS}")
  set(ECHELON_FATBIN_COMMAND ${ECHELON_NVCC} -fatbin -std=c++14 -O3 -fmad=false -Werror=all-warnings ${compress}
    ${extra_flags} -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR})
  list(JOIN archs " " archs)
  message(STATUS "echelon: CUDA kernels by ${ECHELON_NVCC}; machine code for: ${archs}; PTX for: ${ECHELON_PTX_ARCH}")
else()
  message(STATUS "echelon: no nvcc (or ECHELON_CUDA=OFF): this build uses no GPU")
endif()

function(fatbin_compile fatbin source gencode definitions)
  list(TRANSFORM definitions PREPEND -D)
  get_filename_component(name ${fatbin} NAME)
  add_custom_command(OUTPUT ${fatbin}
    COMMAND ${ECHELON_FATBIN_COMMAND} ${gencode} ${definitions} -MMD -MF ${fatbin}.d -MT ${fatbin} -o ${fatbin} ${source}
    DEPENDS ${source} DEPFILE ${fatbin}.d
    COMMENT "Compiling kernels ${name}" VERBATIM)
endfunction()

function(fatbin name symbol source definitions objects)
  set(fatbin ${CMAKE_CURRENT_BINARY_DIR}/${name}.fatbin)
  set(assembly ${CMAKE_CURRENT_BINARY_DIR}/${name}.S)
  fatbin_compile(${fatbin} ${source} "${ECHELON_GENCODE}" "${definitions}")
  file(CONFIGURE OUTPUT ${assembly} CONTENT [[
    .section .rodata
    .balign 64
    .globl @symbol@
    .hidden @symbol@
@symbol@:
    .incbin "@fatbin@"
    .section .note.GNU-stack,"",%progbits
]] @ONLY)
  set_source_files_properties(${assembly} PROPERTIES OBJECT_DEPENDS ${fatbin})
  set(${objects} ${assembly} ${fatbin} PARENT_SCOPE)
endfunction()

function(fatbin_ptx name source archs definitions file)
  set(gencode "")
  foreach(arch IN LISTS archs)
    list(APPEND gencode -gencode arch=compute_${arch},code=compute_${arch})
  endforeach()
  set(fatbin ${CMAKE_CURRENT_BINARY_DIR}/${name}.ptx.fatbin)
  fatbin_compile(${fatbin} ${source} "${ARGN};${gencode}" "${definitions}")
  set(${file} ${fatbin} PARENT_SCOPE)
  # Whether nvcc accepts the source, in a fraction of the time: for make check, which runs no PTX.
  set(accepted ${CMAKE_CURRENT_BINARY_DIR}/${name}.accepted)
  fatbin_compile(${accepted} ${source} "-Xcicc;-O0;${gencode}" "${definitions}")
  add_custom_target(accepted_${name} DEPENDS ${accepted})
endfunction()

function(ptx_file name symbol objects)
  set(pack ${PROJECT_BINARY_DIR}/src/echelon/${name}.pack)
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${name}.list)
  set(source "")
  set(id "")
  set(options -DVERSION=${PROJECT_VERSION})
  if(symbol)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}_id.c)
    set(id ${CMAKE_CURRENT_BINARY_DIR}/${name}.id)
    set(options -DID=${id})
    fatbin_id(${symbol} ${id} ${source})
  endif()
  set(rows ${ARGN})
  set(text "")
  set(files "")
  while(rows)
    list(POP_FRONT rows image file)
    string(APPEND text "${image} ${file}\n")
    list(APPEND files ${file})
  endwhile()
  file(CONFIGURE OUTPUT ${list} CONTENT "${text}" @ONLY)
  add_custom_command(OUTPUT ${pack}
    COMMAND ${CMAKE_COMMAND} -DLIST=${list} -DPACK=${pack} ${options} -P ${PROJECT_SOURCE_DIR}/cmake/ptx_file.cmake
    DEPENDS ${files} ${list} ${id} ${PROJECT_SOURCE_DIR}/cmake/ptx_file.cmake
    COMMENT "Writing ${name}.pack" VERBATIM)
  add_custom_target(ptx_${name} ALL DEPENDS ${pack})
  set(${objects} ${source} PARENT_SCOPE)
  install(FILES ${pack} DESTINATION ${CMAKE_INSTALL_LIBDIR}/echelon OPTIONAL)
  install(CODE "if(NOT EXISTS \"${pack}\")\n  message(WARNING \"${name}.pack is not built; build the target ptx_${name}\")\nendif()")
endfunction()

# A digest of all sources that a kernel can include, known before nvcc has compiled one.
function(fatbin_id symbol id source)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cu ${PROJECT_SOURCE_DIR}/src/*.cuh
    ${PROJECT_SOURCE_DIR}/src/*.h ${PROJECT_SOURCE_DIR}/src/*.def ${PROJECT_SOURCE_DIR}/src/instances.txt)
  list(JOIN files "\n" text)
  file(CONFIGURE OUTPUT ${id}.list CONTENT "${text}\n" @ONLY)
  add_custom_command(OUTPUT ${id} ${source}
    COMMAND ${CMAKE_COMMAND} -DLIST=${id}.list "-DFLAGS=${ECHELON_PTX_ARCH};${ECHELON_PTX_FLAGS};${ECHELON_NVCC_FLAGS}"
      -DSYMBOL=${symbol} -DID=${id} -DSOURCE=${source} -P ${PROJECT_SOURCE_DIR}/cmake/ptx_id.cmake
    DEPENDS ${files} ${id}.list ${PROJECT_SOURCE_DIR}/cmake/ptx_id.cmake
    COMMENT "Writing ${symbol}" VERBATIM)
endfunction()
