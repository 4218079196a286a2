# echelon-config.cmake - find_package(echelon) defines echelon::echelon (shared) and, if the static library
# was built, echelon::echelon_static.

include("${CMAKE_CURRENT_LIST_DIR}/echelon-targets.cmake")
