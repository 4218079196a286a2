# The GPU benchmark needs nvcc as a compiler of programs, with CUB's headers, which come with it.
if(TARGET echelon_cuda)
  set(bench_gpu ${CMAKE_CURRENT_BINARY_DIR}/bench_gpu)
  add_custom_command(OUTPUT ${bench_gpu}
    COMMAND ${ECHELON_NVCC} -O3 -std=c++17 -arch=native -I${PROJECT_SOURCE_DIR}/include
            -o ${bench_gpu} ${CMAKE_CURRENT_SOURCE_DIR}/bench_gpu.cu
            -L$<TARGET_FILE_DIR:echelon> -lechelon -Xlinker -rpath=$<TARGET_FILE_DIR:echelon>
    DEPENDS bench_gpu.cu echelon VERBATIM)
  add_custom_target(gpu_benchmark DEPENDS ${bench_gpu}) # not in "all": -arch=native wants a GPU
endif()
