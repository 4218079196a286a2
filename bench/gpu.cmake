# The GPU benchmarks, one program per operation: build/bench/<name>.  They require nvcc, which includes
# the headers of CUB.
if(ECHELON_HAS_NVCC)
  operations_column(benchmark programs)
  list(TRANSFORM programs PREPEND gpu_)
  list(APPEND programs gpu_sort_host gpu_rank gpu_strategies)
  set(libraries_gpu_matmul -lcublas)
  set(libraries_gpu_sparse -lcusparse)
  set(libraries_gpu_direct -lcusolver -lcublas)
  set(libraries_gpu_solve -lcublas -lcusparse)
  foreach(program IN LISTS programs)
    if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${program}.cu)
      continue()
    endif()
    set(binary ${CMAKE_CURRENT_BINARY_DIR}/${program})
    add_custom_command(OUTPUT ${binary}
      COMMAND ${ECHELON_NVCC} -O3 -std=c++17 -arch=native -I${PROJECT_SOURCE_DIR}/include
              -o ${binary} ${CMAKE_CURRENT_SOURCE_DIR}/${program}.cu
              -L$<TARGET_FILE_DIR:echelon> -lechelon ${libraries_${program}} -Xlinker -rpath=$<TARGET_FILE_DIR:echelon>
      DEPENDS ${program}.cu echelon VERBATIM)
    list(APPEND binaries ${binary})
  endforeach()
  add_custom_target(gpu_benchmark DEPENDS ${binaries}) # not in "all": -arch=native requires a GPU
endif()
