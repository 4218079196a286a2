# Makefile - short names for CMake commands and scripts. `make help` lists them.
# SPDX-License-Identifier: Apache-2.0

ifndef CMAKE_GENERATOR
ifneq ($(shell command -v ninja 2>/dev/null),)
export CMAKE_GENERATOR = Ninja
endif
endif
# One compiler process per processor. This is the default of Ninja, but not of make.
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

PREFIX ?= /usr/local
sources = $(shell git ls-files --cached --others --exclude-standard '*.c' '*.h' '*.cu' '*.cuh')

# Only demo, ladder and check install missing tools; the other targets report them and fail.
install_deps = scripts/install_deps.sh
report_deps = NO_INSTALL=1 scripts/install_deps.sh

.DEFAULT_GOAL := build
.NOTPARALLEL:
.PHONY: help deps build demo ladder check check-all asan ubsan tsan msan valgrind bench bench-count format format-check \
        arm install abi amalgamation wheel wheel-check dist deb deb-check docs clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14

deps: ## report the missing tools of the build; fails if there are any
	@$(report_deps)

build: deps ## build the library, the command and the ladder's kernels in build/
	@cmake --preset default
	@cmake --build --preset product

demo: ## build the library and the command, sort an array, check it with tools of the system
	@$(install_deps)
	@cmake --preset default
	@cmake --build --preset demo
	@scripts/demo.sh build

ladder: ## build the GPU course for a machine without a GPU, and run its first ladder
	@$(install_deps)
	@cmake --preset default
	@cmake --build --preset ladder
	@build/cli/echelon ladder copy --device simt

check: ## build everything and run the tests; the last line is the totals
	@$(install_deps) --tests
	@cmake --preset default -DECHELON_BUILD_STATIC=ON
	@scripts/install_packages.sh build/packages & cmake --build --preset check; status=$$?; wait; exit $$status
	@scripts/check.sh build -LE long

check-all: deps ## build everything and run all tests, including long ones, and again under every sanitizer
	@cmake --preset default
	@cmake --build --preset default
	@cmake --build --preset bench
	@scripts/check.sh build
	@$(MAKE) asan tsan msan valgrind

asan: deps ## run the tests under the address and undefined-behaviour sanitizers, in build-dev/
	@cmake --preset dev
	@cmake --build --preset dev
	@scripts/check.sh build-dev -LE long

ubsan: asan ## the same as asan, which includes both sanitizers

tsan: deps ## run the tests under the thread sanitizer, in build-tsan/ (clang)
	@cmake --preset tsan
	@cmake --build --preset tsan
	@scripts/check.sh build-tsan -LE long -R '^(test|example)_' # other tests do not start threads of the library

msan: deps ## run the tests under the memory sanitizer, in build-msan/ (clang, the CPU only)
	@cmake --preset msan
	@cmake --build --preset msan
	@ECHELON_BLAS=none ECHELON_LAPACK=none scripts/check.sh build-msan -LE long -R '^(test|example|fuzz)_'

valgrind: deps ## run tests of the library under valgrind
	@cmake --preset default
	@cmake --build --preset default
	@scripts/valgrind.sh build

arm: ## compile the library for 64-bit Arm in build-arm/ and run tests under qemu; EVERY=N: one case of N (30)
	@scripts/arm.sh build-arm

bench: build ## run the benchmarks on this machine; writes bench/results/
	@cmake --build --preset bench
	@scripts/bench.sh build

bench-count: build ## compare the instructions of calls on small arrays with bench/counts.csv; UPDATE=1 writes the table
	@cmake --build build --target bench_count
	@bench/count.py --program build/bench/bench_count $(if $(UPDATE),--update)

format: ## format the C and CUDA files in place
	@clang-format -i $(sources)

format-check: ## fail if a C or CUDA file is not formatted
	@clang-format --dry-run --Werror $(sources)

install: build ## install below PREFIX (/usr/local)
	@cmake --install build --prefix $(PREFIX)

abi: build ## record the binary interface in include/abi.txt, after an intended change
	@scripts/abi.sh build "$${CC:-cc}" >build/abi.txt
	@mv build/abi.txt include/abi.txt

amalgamation: ## write all headers to one file, build/amalgamation/echelon.h
	@scripts/amalgamate.sh build/amalgamation/echelon.h

wheel: deps ## build the Python wheel in build/wheel, for every GPU (ECHELON_CUDA_ARCHS="90" for one, none: for the CPU only)
	@scripts/wheel.sh build/wheel

wheel-check: wheel ## install the wheel for each Python that can be found, and run the tests of the package
	@scripts/wheel_test.sh build/wheel/*_$$(uname -m).whl build/wheel/*.tar.gz

dist: ## write the sources to an archive in build/dist
	@scripts/dist.sh build/dist/echelon-$$(scripts/version.sh).tar.gz
	@ls build/dist

deb: ## build Debian packages in build/deb, for every GPU (ECHELON_CUDA_ARCHS="90" for one, none: for the CPU only)
	@scripts/deb.sh build/deb

deb-check: ## install the packages of make deb in a new Debian system, test them, remove them (needs root and network)
	@packaging/debian/test.sh build/deb

docs: ## build the documentation as a site in build/site (needs MkDocs: docs/requirements.txt)
	@scripts/site.sh build/site

clean: ## remove the build directories
	@rm -rf build build-release build-dev build-tsan build-msan build-arm build-clang build-cpu-only
