# Makefile - short names for what CMake and the scripts do.  `make help` lists them.
# SPDX-License-Identifier: Apache-2.0

ifndef CMAKE_GENERATOR
ifneq ($(shell command -v ninja 2>/dev/null),)
export CMAKE_GENERATOR = Ninja
endif
endif
# One compiler process a processor.  Ninja would find that out, make would not.
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

PREFIX ?= /usr/local
sources = $(shell git ls-files --cached --others --exclude-standard '*.c' '*.h' '*.cu' '*.cuh')

.DEFAULT_GOAL := build
.PHONY: help deps build demo check check-all asan ubsan tsan valgrind bench format format-check \
        install clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14

deps: ## install what the build lacks, with the system's package manager (NO_INSTALL=1: only tell)
	@scripts/install_deps.sh

build: deps ## build the library, the command and the tests in build/
	@cmake --preset default
	@cmake --build --preset default

demo: build ## sort a real array, and check the result with the system's own tools
	@scripts/demo.sh build

check: build ## run every test; the last line is the totals
	@scripts/check.sh build

check-all: check asan tsan valgrind ## check, and again under every sanitizer

asan: deps ## the tests under the address and undefined-behaviour sanitizers, in build-dev/
	@cmake --preset dev
	@cmake --build --preset dev
	@scripts/check.sh build-dev

ubsan: asan ## the same build has both

tsan: deps ## the tests under the thread sanitizer, in build-tsan/ (clang and its OpenMP)
	@cmake --preset tsan
	@cmake --build --preset tsan
	@scripts/check.sh build-tsan -R '^(test|example)_' # the others start no threads of ours

valgrind: build ## the library's tests under valgrind: no leak, no invalid access
	@scripts/valgrind.sh build

bench: build ## measure on this machine; results go to bench/results/
	@scripts/bench.sh build

format: ## format the C and CUDA files in place
	@clang-format -i $(sources)

format-check: ## fail when a C or CUDA file is not formatted
	@clang-format --dry-run --Werror $(sources)

install: build ## install below PREFIX (/usr/local)
	@cmake --install build --prefix $(PREFIX)

clean: ## remove the build directories
	@rm -rf build build-dev build-tsan build-clang build-cpu-only
