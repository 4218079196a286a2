# portfile.cmake - builds the checkout or the unpacked archive that contains this port.
# SPDX-License-Identifier: Apache-2.0

# The project always builds a shared library. Its CMake package names all libraries that were built.
vcpkg_check_linkage(ONLY_DYNAMIC_LIBRARY)

get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
if(NOT EXISTS "${SOURCE_PATH}/include/echelon/base.h")
  message(FATAL_ERROR "This port builds the sources that contain it: use --overlay-ports with the folder \
packaging/vcpkg of a checkout of Echelon, not with a copy of the folder.")
endif()

vcpkg_check_features(OUT_FEATURE_OPTIONS options
  FEATURES
    compression ECHELON_ZLIB
    compression ECHELON_ZSTD
    cuda ECHELON_CUDA
    tools ECHELON_BUILD_CLI)
if("cuda" IN_LIST FEATURES)
  vcpkg_find_cuda(OUT_CUDA_TOOLKIT_ROOT cuda_root)
  list(APPEND options "-DECHELON_NVCC=${cuda_root}/bin/nvcc" "-DECHELON_CUDA_ARCHS=75\;80\;90\;100\;120")
endif()

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    ${options}
    -DECHELON_BUILD_STATIC=OFF
    -DECHELON_BUILD_TESTS=OFF
    -DECHELON_BUILD_BENCH=OFF
    -DECHELON_BUILD_PYTHON=OFF
    -DECHELON_SIMT=OFF
    -DECHELON_WERROR=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/echelon)
vcpkg_fixup_pkgconfig()

if("tools" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES echelon AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")

file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE" "${SOURCE_PATH}/src/comm/mpi/abi/LICENSE")
