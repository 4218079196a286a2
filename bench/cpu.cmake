# The CPU benchmarks: bench_cpu measures sorts, bench_cpu_ops other operations, and
# bench_parallel how fast threads start.  Competitors are C++
# and optional: the standard library if a C++ compiler is found (parallel if oneTBB is), Boost, x86-simd-sort if
# ECHELON_BENCH_X86SIMDSORT is the folder of its headers, vqsort if Highway is installed.
set(ECHELON_BENCH_X86SIMDSORT "" CACHE PATH "folder of x86simdsort-static-incl.h")
set(ECHELON_BENCH_X86SIMDSORT_VERSION "unknown" CACHE STRING "version of x86-simd-sort for the results")

add_executable(bench_cpu bench_cpu.c bench_cpu_data.c)
target_link_libraries(bench_cpu PRIVATE echelon echelon_warnings m ${CMAKE_DL_LIBS})
target_compile_definitions(bench_cpu PRIVATE
  COMPILER="${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}")

add_executable(bench_cpu_ops bench_cpu_ops.c)
target_link_libraries(bench_cpu_ops PRIVATE echelon echelon_warnings m)
target_compile_definitions(bench_cpu_ops PRIVATE
  COMPILER="${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}")
find_package(OpenMP COMPONENTS C) # for the plain loops that the library is compared with
if(OpenMP_C_FOUND)
  target_link_libraries(bench_cpu_ops PRIVATE OpenMP::OpenMP_C)
endif()

# Calls whose time depends on how fast threads start.
add_executable(bench_parallel bench_parallel.c)
target_link_libraries(bench_parallel PRIVATE echelon echelon_warnings)

# Calls on small arrays, whose instructions bench/count.py counts.
add_executable(bench_count bench_count.c)
target_link_libraries(bench_count PRIVATE echelon echelon_warnings)

# Matrices over GF(2): Echelon, and a separate program for M4RI if it is installed.
add_executable(bench_gf2 bench_gf2.c)
target_link_libraries(bench_gf2 PRIVATE echelon echelon_warnings)
find_path(M4RI_INCLUDE m4ri/m4ri.h)
find_library(M4RI m4ri)
if(M4RI_INCLUDE AND M4RI)
  add_executable(gf2_m4ri gf2_m4ri.c)
  target_include_directories(gf2_m4ri SYSTEM PRIVATE ${M4RI_INCLUDE})
  target_link_libraries(gf2_m4ri PRIVATE ${M4RI} m)
  find_package(PkgConfig QUIET)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(M4RI_PC QUIET m4ri)
    target_compile_definitions(gf2_m4ri PRIVATE M4RI_VERSION_TEXT="${M4RI_PC_VERSION}")
  endif()
endif()

# Matrix products compared with OpenBLAS, which the program opens at run time.
add_executable(bench_matmul bench_matmul.c)
target_link_libraries(bench_matmul PRIVATE echelon echelon_warnings ${CMAKE_DL_LIBS})

include(CheckLanguage)
check_language(CXX)
if(CMAKE_CXX_COMPILER)
  enable_language(CXX)
  find_package(OpenMP COMPONENTS CXX)
  function(add_rival definition library source)
    add_library(${library} OBJECT ${source})
    target_compile_options(${library} PRIVATE -O3 ${ARGN})
    set_target_properties(${library} PROPERTIES CXX_STANDARD 17)
    if(OpenMP_CXX_FOUND)
      target_link_libraries(${library} PUBLIC OpenMP::OpenMP_CXX)
    endif()
    target_link_libraries(bench_cpu PRIVATE ${library})
    target_sources(bench_cpu PRIVATE $<TARGET_OBJECTS:${library}>)
    target_compile_definitions(bench_cpu PRIVATE ${definition})
    set_target_properties(bench_cpu PROPERTIES LINKER_LANGUAGE CXX)
  endfunction()

  add_rival(RIVAL_STD rival_std cpu_rival_std.cpp)
  find_package(TBB QUIET)
  if(TBB_FOUND)
    target_compile_definitions(rival_std PRIVATE WITH_TBB)
    target_link_libraries(rival_std PUBLIC TBB::tbb)
    target_compile_definitions(bench_cpu PRIVATE RIVAL_TBB)
  endif()
  find_path(BOOST_INCLUDE boost/sort/pdqsort/pdqsort.hpp)
  if(BOOST_INCLUDE)
    add_rival(RIVAL_BOOST rival_boost cpu_rival_boost.cpp)
    target_include_directories(rival_boost SYSTEM PRIVATE ${BOOST_INCLUDE})
  endif()

  add_library(family_std MODULE family_std.cpp) # family_python.py opens it
  target_compile_options(family_std PRIVATE -O3)
  set_target_properties(family_std PROPERTIES CXX_STANDARD 17)

  add_library(cpu_ops_std OBJECT cpu_ops_std.cpp)
  target_compile_options(cpu_ops_std PRIVATE -O3 -march=native)
  set_target_properties(cpu_ops_std PROPERTIES CXX_STANDARD 17)
  if(OpenMP_CXX_FOUND)
    target_link_libraries(cpu_ops_std PUBLIC OpenMP::OpenMP_CXX)
  endif()
  target_link_libraries(bench_cpu_ops PRIVATE cpu_ops_std)
  target_sources(bench_cpu_ops PRIVATE $<TARGET_OBJECTS:cpu_ops_std>)
  target_compile_definitions(bench_cpu_ops PRIVATE RIVAL_STD)
  set_target_properties(bench_cpu_ops PROPERTIES LINKER_LANGUAGE CXX)
  if(TBB_FOUND)
    target_compile_definitions(cpu_ops_std PRIVATE WITH_TBB)
    target_link_libraries(bench_cpu_ops PRIVATE TBB::tbb)
    target_compile_definitions(bench_cpu_ops PRIVATE RIVAL_TBB)
  endif()

  if(ECHELON_BENCH_X86SIMDSORT)
    foreach(isa avx512 avx2)
      string(TOUPPER ${isa} upper)
      set(flags -march=haswell)
      if(isa STREQUAL avx512)
        set(flags -march=icelake-server)
      endif()
      add_rival(RIVAL_X86SIMDSORT_${upper} rival_x86simdsort_${isa} cpu_rival_x86simdsort.cpp
        ${flags} -DXSS_USE_OPENMP -w)
      target_include_directories(rival_x86simdsort_${isa} SYSTEM PRIVATE
        ${ECHELON_BENCH_X86SIMDSORT})
      target_compile_definitions(rival_x86simdsort_${isa} PRIVATE
        X86SIMDSORT_VERSION="${ECHELON_BENCH_X86SIMDSORT_VERSION}")
    endforeach()
  endif()
  find_path(HIGHWAY_INCLUDE hwy/contrib/sort/vqsort.h)
  find_library(HIGHWAY_CONTRIB hwy_contrib)
  find_library(HIGHWAY hwy)
  if(HIGHWAY_INCLUDE AND HIGHWAY_CONTRIB AND HIGHWAY)
    add_rival(RIVAL_VQSORT rival_vqsort cpu_rival_vqsort.cpp)
    set(numbers "")
    foreach(header base.h highway.h) # it depends on the version which of them has the numbers
      file(STRINGS ${HIGHWAY_INCLUDE}/hwy/${header} found REGEX "define HWY_(MAJOR|MINOR|PATCH) ")
      list(APPEND numbers ${found})
    endforeach()
    string(REGEX REPLACE "[^0-9;]" "" numbers "${numbers}")
    list(JOIN numbers . numbers)
    target_compile_definitions(rival_vqsort PRIVATE VQSORT_VERSION="Highway ${numbers}")
    target_link_libraries(bench_cpu PRIVATE ${HIGHWAY_CONTRIB} ${HIGHWAY})
  endif()
endif()
