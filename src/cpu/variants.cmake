# Files of the CPU backend that are compiled for more than the oldest x86-64; dispatch.c asks the machine
# before it uses them.  Any other processor has the portable variants alone.
set(avx2 -mavx2 -mbmi -mbmi2 -mlzcnt -mpopcnt)
set(avx512 ${avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl)

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  target_sources(echelon_objects PRIVATE cpu/sort_avx2.c cpu/sort_avx512.c)
  set_source_files_properties(cpu/sort_avx2.c PROPERTIES COMPILE_OPTIONS "${avx2}")
  set_source_files_properties(cpu/sort_avx512.c PROPERTIES COMPILE_OPTIONS "${avx512}")
  target_sources(echelon_objects PRIVATE cpu/histogram_avx2.c cpu/histogram_avx512.c)
  set_source_files_properties(cpu/histogram_avx2.c PROPERTIES COMPILE_OPTIONS "${avx2}")
  set_source_files_properties(cpu/histogram_avx512.c PROPERTIES COMPILE_OPTIONS "${avx512}")
  set_source_files_properties(cpu/histogram.c PROPERTIES COMPILE_DEFINITIONS ECHI_CPU_X86)
  target_sources(echelon_objects PRIVATE cpu/reduce_avx2.c cpu/reduce_avx512.c)
  set_source_files_properties(cpu/reduce_avx2.c PROPERTIES COMPILE_OPTIONS "${avx2}")
  set_source_files_properties(cpu/reduce_avx512.c PROPERTIES COMPILE_OPTIONS "${avx512}")
  set_source_files_properties(cpu/reduce.c PROPERTIES COMPILE_DEFINITIONS ECHI_CPU_X86)
  set_source_files_properties(cpu/dispatch.c PROPERTIES COMPILE_DEFINITIONS ECHI_CPU_X86)
endif()
