# fatbin.cmake - ECHELON_CUDA, ECHELON_NVCC, and how a CUDA source becomes a symbol of a program.
#
#   fatbin(NAME SYMBOL SOURCE "GENCODE" "DEFINITIONS" OBJECTS)
#
# nvcc makes NAME.fatbin, an assembly file includes it as SYMBOL, and OBJECTS names both as sources of
# a target.

option(ECHELON_CUDA "build the CUDA backend when nvcc is found" ON)
if(ECHELON_CUDA)
  find_program(ECHELON_NVCC nvcc HINTS ENV CUDA_HOME PATHS /usr/local/cuda/bin)
endif()
set(ECHELON_NVCC_FLAGS "" CACHE STRING "more flags for nvcc, such as -lineinfo")

function(fatbin name symbol source gencode definitions objects)
  separate_arguments(extra_flags UNIX_COMMAND "${ECHELON_NVCC_FLAGS}")
  list(TRANSFORM definitions PREPEND -D)
  set(fatbin ${CMAKE_CURRENT_BINARY_DIR}/${name}.fatbin)
  set(assembly ${CMAKE_CURRENT_BINARY_DIR}/${name}.S)
  add_custom_command(OUTPUT ${fatbin}
    COMMAND ${ECHELON_NVCC} -fatbin -std=c++14 -O3 -fmad=false -Werror=all-warnings -Xfatbin=-compress-all ${gencode} ${extra_flags}
            -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR} ${definitions} -MMD -MF ${fatbin}.d -MT ${fatbin} -o ${fatbin} ${source}
    DEPENDS ${source} DEPFILE ${fatbin}.d
    COMMENT "Compiling kernels ${name}" VERBATIM)
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
