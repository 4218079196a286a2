# instances.cmake - reads src/<operation>/instances.txt; nvcc and the compiler of the SIMT emulator's modules
# build its rows.
#
#   instance_rows(FILE rows)                      every row as one string; read again when it changes
#   instance_parse(OPERATION "${row}" instance)   sets instance_SOURCE, instance_NAME, instance_DEFINITIONS
#
#   row "msd k32 KEY_BITS=32" of sort  ->  cuda/msd.cu as sort_msd_k32
#   row "kernels k8 KEY_BITS=8" of scan  ->  cuda/kernels.cu as scan_k8
#   row "stream"                         ->  the rows below it are compressed separately from those above: loading a
#                                            module decompresses all modules before it in its stream (src/cuda/pack.c)

function(instance_rows list variable)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  file(STRINGS ${list} rows REGEX "^[a-z]")
  set(${variable} "${rows}" PARENT_SCOPE)
endfunction()

function(instance_parse operation row prefix)
  separate_arguments(definitions UNIX_COMMAND "${row}")
  list(POP_FRONT definitions file suffix)
  set(${prefix}_SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/cuda/${file}.cu PARENT_SCOPE)
  if("${file}" STREQUAL "kernels")
    set(${prefix}_NAME ${operation}_${suffix} PARENT_SCOPE)
  else()
    set(${prefix}_NAME ${operation}_${file}_${suffix} PARENT_SCOPE)
  endif()
  set(${prefix}_DEFINITIONS ${definitions} PARENT_SCOPE)
endfunction()
