# instances.cmake - reads src/cuda/instances.txt, whose rows both nvcc and the executor's compiler build.
#
#   instance_rows(rows)                 every row as one string; the list is read again when it changes
#   instance_parse("${row}" instance)   sets instance_FILE, instance_NAME and instance_DEFINITIONS

function(instance_rows variable)
  set(list ${PROJECT_SOURCE_DIR}/src/cuda/instances.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  file(STRINGS ${list} rows REGEX "^[a-z]")
  set(${variable} "${rows}" PARENT_SCOPE)
endfunction()

function(instance_parse row prefix)
  separate_arguments(definitions UNIX_COMMAND "${row}")
  list(POP_FRONT definitions file suffix)
  set(${prefix}_FILE ${file} PARENT_SCOPE)
  set(${prefix}_NAME ${file}_${suffix} PARENT_SCOPE)
  set(${prefix}_DEFINITIONS ${definitions} PARENT_SCOPE)
endfunction()
