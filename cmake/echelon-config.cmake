# echelon-config.cmake - find_package(echelon) gives echelon::echelon (shared) and
# echelon::echelon_static.

include("${CMAKE_CURRENT_LIST_DIR}/echelon-targets.cmake")
