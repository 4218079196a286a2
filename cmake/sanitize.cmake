# sanitize.cmake - ECHELON_SANITIZE, "address,undefined", "thread" or "memory", for all targets.

set(ECHELON_SANITIZE "" CACHE STRING "sanitizers to build with, in the syntax of -fsanitize=")
if(ECHELON_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:C>:-fsanitize=${ECHELON_SANITIZE}>
    $<$<COMPILE_LANGUAGE:C>:-fno-omit-frame-pointer>
    $<$<COMPILE_LANGUAGE:C>:-fno-sanitize-recover=all>)
  add_link_options(-fsanitize=${ECHELON_SANITIZE})
endif()
