# SPDX-License-Identifier: GPL-3.0-or-later
# The verbs of assay; CMake does the building. `make help` lists them.
#
#	CC=clang-14     another compiler (in a build directory of its own)
#	DEPS=no         install no packages
#	FUZZ_SECONDS=N  for each fuzzer of `make fuzz` (60)
#	PREFIX, DESTDIR for `make install` (/usr/local)
#	K=PATTERN       only the tests whose name matches

MAKEFLAGS += --no-print-directory
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
JOBS ?= $(shell nproc)

# make's own default for CC is "cc", which is gcc here
ifeq ($(origin CC),default)
CC := gcc
endif
# an older clang is found by its plain name only where somebody made that the default
ifeq ($(CC),clang)
CC := $(if $(shell command -v clang),clang,clang-14)
endif
FLAVOUR := $(if $(findstring clang,$(CC)),-clang)
BUILD ?= build$(FLAVOUR)
BUILD_ASAN ?= build-asan$(FLAVOUR)
BUILD_FUZZ ?= build-fuzz

export DEPS
INSTALL_PACKAGES := tools/install-packages
COMPILER_PACKAGES := build $(if $(FLAVOUR),clang)
RUN_TESTS := CC=$(CC) tests/run $(if $(K),-k '$(K)')

# configure,DIRECTORY,OPTIONS: CMake is asked each time, so that an option always holds
define configure
cmake -S . -B $(1) -DCMAKE_C_COMPILER=$(CC) -DCMAKE_INSTALL_PREFIX=$(PREFIX) $(2) >$(1).log 2>&1 \
	|| { cat $(1).log; exit 1; }
@rm -f $(1).log
@cmake --build $(1) -j $(JOBS) $(if $(3),--target $(3)) -- -s
endef

all:
	@$(INSTALL_PACKAGES) $(COMPILER_PACKAGES)
	@$(call configure,$(BUILD),$(if $(wildcard $(BUILD)/CMakeCache.txt),,-DASSAY_TESTS=OFF),assay)

where:
	@echo $(BUILD)/assay

deps:
	@$(INSTALL_PACKAGES) $(COMPILER_PACKAGES) demo check

tests:
	@$(INSTALL_PACKAGES) $(COMPILER_PACKAGES) demo check
	@$(call configure,$(BUILD),-DASSAY_TESTS=ON)

demo:
	@$(INSTALL_PACKAGES) $(COMPILER_PACKAGES) demo
	@$(MAKE) all DEPS=no
	@tools/demo/run $(BUILD)/assay

check: tests
	@$(RUN_TESTS) --build $(BUILD)

check-long: tests
	@LONG=1 $(RUN_TESTS) --build $(BUILD)

check-asan:
	@$(INSTALL_PACKAGES) $(COMPILER_PACKAGES) demo check
	@$(call configure,$(BUILD_ASAN),-DASSAY_TESTS=ON -DASSAY_SANITIZE=ON)
	@. tools/sanitizer-options && $(RUN_TESTS) --build $(BUILD_ASAN) --sanitizer --kind unit,fuzz,end_to_end

check-fresh:
	@$(INSTALL_PACKAGES) fresh
	@tools/check-fresh $(or $(VERBS),demo check)

check-arm64:
	@$(INSTALL_PACKAGES) $(COMPILER_PACKAGES) arm64
	@tests/arm64/run

fuzz: CC := $(if $(shell command -v clang-14),clang-14,clang)
fuzz:
	@$(INSTALL_PACKAGES) build clang
	@$(call configure,$(BUILD_FUZZ),-DASSAY_TESTS=ON -DASSAY_FUZZ=ON,fuzzers)
	@. tools/sanitizer-options && tools/fuzz $(BUILD_FUZZ) $(FUZZ_SECONDS)

lint:
	@$(INSTALL_PACKAGES) $(COMPILER_PACKAGES) lint
	@$(call configure,$(BUILD),-DASSAY_TESTS=ON)
	@tests/lint/run $(BUILD)

speed:
	@$(INSTALL_PACKAGES) $(COMPILER_PACKAGES) demo check
	@$(MAKE) all DEPS=no
	@$(call configure,$(BUILD),-DASSAY_TESTS=ON,estimate_speed code_survey)
	@ASSAY=$(CURDIR)/$(BUILD)/assay CC=$(CC) bench/speed.py

study: tests
	@bench/study/run.py $(BUILD)/bench/study $(PARTS)

install: all
	@cmake --install $(BUILD) --prefix $(DESTDIR)$(PREFIX)

clean:
	rm -rf build build-*

help:
	@sed -n 's/^\([a-z0-9-]*\):.*/\1/p' Makefile | sort -u | tr '\n' ' '; echo
	@sed -n '/^#\t/s/^#\t/  /p' Makefile

.PHONY: all where deps tests demo check check-long check-asan check-fresh check-arm64 fuzz lint speed \
	study install clean help
