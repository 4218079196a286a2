# echelon-config.cmake - find_package(echelon) gives echelon::echelon (shared) and, where the
# static library was built, echelon::echelon_static.

include("${CMAKE_CURRENT_LIST_DIR}/echelon-targets.cmake")
