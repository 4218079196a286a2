# The benchmark of the SIMT emulator: bench_simt, and the module of kernels that it loads.
if(ECHELON_SIMT_FOUND)
  simt_image(bench_simt bench_simt.cu)
  set_target_properties(simt_bench_simt PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/simt)
  add_executable(bench_simt bench_simt.c)
  target_include_directories(bench_simt PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(bench_simt PRIVATE echelon echelon_simt echelon_warnings)
  target_compile_definitions(bench_simt PRIVATE
    COMPILER="${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
    BENCH_SIMT_MODULE="$<TARGET_FILE:simt_bench_simt>")
  add_dependencies(bench_simt simt_bench_simt)
endif()
