# The C ABI: its header, the libraries, their tests and their installation. GNU make, Linux.
#
#   make header                   renews include/mcp_select.h from src/ffi/
#   make c-lib                    build/c/shared and build/c/static: the libraries as they are installed
#   make c-size                   whether the shared library has grown, stripped (the goal is 2.5 MB)
#   make c-test                   tests and examples in C and C++, plain, with sanitizers and under valgrind
#   make instructions             how many instructions a selection takes, against budgets; WRITE=1 renews them
#   make asan                     the C tests with the Rust side instrumented too
#   make install PREFIX=/usr/local DESTDIR=

CARGO   ?= cargo
CC      ?= cc
CXX     ?= c++
INSTALL ?= install
PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
TARGET  ?= $(or $(CARGO_TARGET_DIR),target)
C_BUILD ?= build/c

# 1 is the number in the soname (build.rs), raised by a break of the ABI.
VERSION  := $(shell sed -n 's/^version *= *"\(.*\)"/\1/p' Cargo.toml | head -n 1)
SO       := libmcp_select.so
SO_MAJOR := $(SO).1
SO_FULL  := $(SO).1.$(shell echo $(VERSION) | sed 's/^[0-9]*\.//; s/[-+].*//')
# What Rust's standard library needs of the system.
NATIVE   := -lgcc_s -lutil -lrt -lpthread -lm -ldl -lc

C_FLAGS   := -std=c11 -O1 -g -Wall -Wextra -Werror -pedantic
CXX_FLAGS := -std=c++17 -O1 -g -Wall -Wextra -Werror -pedantic
C_DEFS    := -DMCP_SELECT_EXPECTED_VERSION='"$(VERSION)"' -Iinclude
SANITIZE  := -fsanitize=address,undefined -fno-sanitize-recover=all
VALGRIND  ?= valgrind
CHECKED   := $(VALGRIND) -q --leak-check=full --error-exitcode=99 --errors-for-leak-kinds=definite,possible
# Cases of tests/cases/ with what Rust got.
CASES     := $(C_BUILD)/cases.txt

.PHONY: header c-lib c-size c-lib-panic c-cases c-header-check c-test c-run c-valgrind c-install-check instructions c-instructions asan install

header:
	MCP_SELECT_WRITE_HEADER=1 $(CARGO) test --no-default-features --test header

# ---- the libraries -----------------------------------------------------------------------------------------

# What is shipped is the same whatever folder it is built in and wherever cargo keeps its crates (`make reproducible`).
SHIPPED_FLAGS = --remap-path-prefix=$(CURDIR)=mcp-select --remap-path-prefix=$(abspath $(TARGET))=target \
	--remap-path-prefix=$(or $(CARGO_HOME),$(HOME)/.cargo)=cargo
# The time of files in archives: that of the commit, where there is one.
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 0)
SHIPPED = SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) RUSTFLAGS="$(strip $(RUSTFLAGS) $(SHIPPED_FLAGS))" $(CARGO)
# tar with nothing in it of who packs it, when and where.
TAR = tar --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mode=go-w --mtime=@$(SOURCE_DATE_EPOCH)

# Cargo knows what is out of date; a library is copied only when it is another one, so that make does too.
# Each crate type by itself: when cargo builds them beside the rlib, fat LTO leaves bitcode without code in the archive.
c-lib:
	$(SHIPPED) rustc --release --lib --no-default-features --crate-type cdylib
	$(SHIPPED) rustc --release --lib --no-default-features --crate-type staticlib
	mkdir -p $(C_BUILD)/shared $(C_BUILD)/static
	cmp -s $(TARGET)/release/$(SO) $(C_BUILD)/shared/$(SO_FULL) || cp $(TARGET)/release/$(SO) $(C_BUILD)/shared/$(SO_FULL)
	ln -sf $(SO_FULL) $(C_BUILD)/shared/$(SO_MAJOR)
	ln -sf $(SO_MAJOR) $(C_BUILD)/shared/$(SO)
	cmp -s $(TARGET)/release/libmcp_select.a $(C_BUILD)/cargo.a || { \
	  scripts/localise.sh $(TARGET)/release/libmcp_select.a $(C_BUILD)/static/libmcp_select.a && \
	  cp $(TARGET)/release/libmcp_select.a $(C_BUILD)/cargo.a; }

# The shared library as a distribution ships it, without its symbol table. Not a part of c-test while it is larger than the goal.
# As large as it is, so that it does not grow unnoticed. The goal is 2,500,000 bytes; docs/performance.md says what is in it.
SO_MOST := 3400000
STRIP   ?= strip
c-size: c-lib
	$(STRIP) -o $(C_BUILD)/stripped.so $(C_BUILD)/shared/$(SO_FULL)
	@size=$$(stat -c %s $(C_BUILD)/stripped.so); echo "$(SO): $$size bytes stripped, at most $(SO_MOST)"; test $$size -lt $(SO_MOST)

# With a function that panics on purpose, and with overflow checks and debug assertions.
c-lib-panic:
	$(CARGO) rustc --lib --no-default-features --features test-panic --crate-type cdylib
	mkdir -p $(C_BUILD)/panic
	cp $(TARGET)/debug/$(SO) $(C_BUILD)/panic/$(SO_MAJOR)
	ln -sf $(SO_MAJOR) $(C_BUILD)/panic/$(SO)

# ---- tests -------------------------------------------------------------------------------------------------

SHARED := -L$(C_BUILD)/shared -lmcp_select -Wl,-rpath,$(abspath $(C_BUILD))/shared
STATIC := $(C_BUILD)/static/libmcp_select.a $(NATIVE)
PANIC  := -DMCP_SELECT_TEST_PANIC -L$(C_BUILD)/panic -lmcp_select -Wl,-rpath,$(abspath $(C_BUILD))/panic

c-header-check:
	$(CC) -std=c99 -Wall -Wextra -Werror -pedantic -fsyntax-only -x c include/mcp_select.h
	$(CXX) -std=c++17 -Wall -Wextra -Werror -pedantic -fsyntax-only -x c++ include/mcp_select.h
	printf '#include "mcp_select.hpp"\nint main() {}\n' | \
	  $(CXX) -std=c++17 -Wall -Wextra -Wconversion -Wshadow -Werror -pedantic -fsyntax-only -Iinclude -x c++ -
	printf '#include "mcp_select.hpp"\nint main() {}\n' | \
	  $(CXX) -std=c++20 -fno-exceptions -Wall -Wextra -Werror -pedantic -fsyntax-only -Iinclude -x c++ -

# The cases of all languages, with what Rust got.
c-cases:
	mkdir -p $(C_BUILD)
	MCP_SELECT_EXPORT_CASES=$(abspath $(CASES)) $(CARGO) test --test cases

c-test: c-header-check c-lib c-lib-panic c-cases
	tests/c/exports.sh include/mcp_select.h $(C_BUILD)/shared/$(SO) $(C_BUILD)/static/libmcp_select.a
	$(MAKE) c-size
	$(MAKE) c-run
	$(MAKE) c-install-check
	$(MAKE) c-valgrind
	$(MAKE) c-instructions

# program NAME, SOURCE, COMPILER AND FLAGS, LIBRARY
define program
	$(3) $(C_DEFS) $(2) -o $(C_BUILD)/$(1) $(4)
endef

c-run:
	mkdir -p $(C_BUILD)/folder
	$(call program,abi,tests/c/abi.c,$(CC) $(C_FLAGS),$(SHARED))
	$(call program,api,tests/c/api.c,$(CC) $(C_FLAGS),$(SHARED))
	$(call program,api-static,tests/c/api.c,$(CC) $(C_FLAGS),$(STATIC))
	$(call program,api-panic,tests/c/api.c,$(CC) $(C_FLAGS),$(PANIC))
	$(call program,threads,tests/c/threads.c,$(CC) $(C_FLAGS) -pthread,$(SHARED))
	$(call program,reload,tests/c/reload.c,$(CC) $(C_FLAGS),$(SHARED))
	$(call program,cases,tests/c/cases.c,$(CC) $(C_FLAGS),$(SHARED))
	$(call program,cases-static,tests/c/cases.c,$(CC) $(C_FLAGS),$(STATIC))
	$(call program,cpp,tests/cpp/api.cpp,$(CXX) $(CXX_FLAGS),$(SHARED))
	$(call program,cpp-no-exceptions,tests/cpp/no_exceptions.cpp,$(CXX) $(CXX_FLAGS) -fno-exceptions -fno-rtti,$(STATIC))
	$(call program,abi-asan,tests/c/abi.c,$(CC) $(C_FLAGS) $(SANITIZE),$(SHARED))
	$(call program,api-asan,tests/c/api.c,$(CC) $(C_FLAGS) $(SANITIZE),$(PANIC))
	$(call program,threads-asan,tests/c/threads.c,$(CC) $(C_FLAGS) $(SANITIZE) -pthread,$(SHARED))
	$(call program,cases-asan,tests/c/cases.c,$(CC) $(C_FLAGS) $(SANITIZE),$(SHARED))
	$(call program,cpp-asan,tests/cpp/api.cpp,$(CXX) $(CXX_FLAGS) $(SANITIZE),$(SHARED))
	rustc --edition 2024 --crate-type staticlib -O -o $(C_BUILD)/libsecond.a tests/second-staticlib/second.rs
	$(call program,second,tests/c/second.c,$(CC) $(C_FLAGS),$(C_BUILD)/static/libmcp_select.a $(C_BUILD)/libsecond.a $(NATIVE))
	$(call program,second-swapped,tests/c/second.c,$(CC) $(C_FLAGS),$(C_BUILD)/libsecond.a $(C_BUILD)/static/libmcp_select.a $(NATIVE))
	$(C_BUILD)/abi && $(C_BUILD)/abi-asan
	$(C_BUILD)/api $(C_BUILD)/folder
	$(C_BUILD)/api-static $(C_BUILD)/folder
	$(C_BUILD)/api-panic $(C_BUILD)/folder 2>$(C_BUILD)/api-panic.log || { cat $(C_BUILD)/api-panic.log; exit 1; }
	$(C_BUILD)/api-asan $(C_BUILD)/folder 2>$(C_BUILD)/api-asan.log || { cat $(C_BUILD)/api-asan.log; exit 1; }
	$(C_BUILD)/reload $(C_BUILD)/folder
	$(C_BUILD)/threads $(C_BUILD)/folder 1000
	$(C_BUILD)/threads-asan $(C_BUILD)/folder 200
	$(C_BUILD)/cases $(CASES)
	$(C_BUILD)/cases-static $(CASES)
	$(C_BUILD)/cases-asan $(CASES)
	$(C_BUILD)/cpp $(C_BUILD)/folder
	$(C_BUILD)/cpp-asan $(C_BUILD)/folder
	$(C_BUILD)/cpp-no-exceptions
	$(C_BUILD)/second 2>/dev/null && $(C_BUILD)/second-swapped 2>/dev/null
	# As cargo makes the archive, with its standard library for all to see, the two do not link: the test can fail.
	! $(call program,second-clash,tests/c/second.c,$(CC) $(C_FLAGS),$(C_BUILD)/cargo.a $(C_BUILD)/libsecond.a $(NATIVE)) 2>$(C_BUILD)/clash.log
	grep -q 'multiple definition of' $(C_BUILD)/clash.log
	$(call program,select-c,examples/c/select.c,$(CC) $(C_FLAGS),$(SHARED))
	$(call program,select-c-static,examples/c/select.c,$(CC) $(C_FLAGS),$(STATIC))
	$(call program,select-cpp,examples/cpp/select.cpp,$(CXX) $(CXX_FLAGS),$(SHARED))
	$(call program,select-cpp-static,examples/cpp/select.cpp,$(CXX) $(CXX_FLAGS),$(STATIC))
	tests/c/examples.sh $(C_BUILD)

c-valgrind:
	@if command -v $(VALGRIND) >/dev/null; then \
	  set -ex; \
	  $(CHECKED) $(C_BUILD)/abi; \
	  $(CHECKED) $(C_BUILD)/api-panic $(C_BUILD)/folder 2>$(C_BUILD)/valgrind.log || { cat $(C_BUILD)/valgrind.log; exit 1; }; \
	  $(CHECKED) --fair-sched=try $(C_BUILD)/threads $(C_BUILD)/folder 20; \
	  $(CHECKED) $(C_BUILD)/cases $(CASES); \
	  $(CHECKED) $(C_BUILD)/cpp $(C_BUILD)/folder; \
	else \
	  echo "SKIPPED: valgrind is not installed, memory was checked by the address sanitizer alone"; \
	fi

# Instructions are the same on every run, however busy the machine is.
instructions: c-lib
	$(MAKE) c-instructions

c-instructions:
	$(call program,instructions,tests/c/instructions.c,$(CC) $(C_FLAGS),$(STATIC))
	@if command -v $(VALGRIND) >/dev/null; then \
	  VALGRIND=$(VALGRIND) WRITE=$(WRITE) tests/c/instructions.sh $(C_BUILD)/instructions tests/c/instructions.txt; \
	else \
	  echo "SKIPPED: valgrind is not installed, no instructions were counted"; \
	fi

# The Rust side instrumented too. Its runtime is that of the C compiler; a nightly flag that the stable compiler knows.
ASAN_TRIPLE ?= $(shell rustc -vV | sed -n 's/^host: //p')
ASAN_LIB    := $(TARGET)/asan/$(ASAN_TRIPLE)/debug/libmcp_select.a
asan: c-cases
	RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address $(CARGO) rustc --lib --crate-type staticlib --no-default-features \
	  --features test-panic --target $(ASAN_TRIPLE) --target-dir $(TARGET)/asan
	mkdir -p $(C_BUILD)/folder
	# Proof that the Rust side is instrumented and the runtime is there to see it.
	nm $(ASAN_LIB) 2>/dev/null | grep -q '__asan_report_load'
	$(call program,api-asan-full,tests/c/api.c,$(CC) $(C_FLAGS) $(SANITIZE) -DMCP_SELECT_TEST_PANIC,$(ASAN_LIB) $(NATIVE))
	$(call program,threads-asan-full,tests/c/threads.c,$(CC) $(C_FLAGS) $(SANITIZE) -pthread,$(ASAN_LIB) $(NATIVE))
	$(call program,cases-asan-full,tests/c/cases.c,$(CC) $(C_FLAGS) $(SANITIZE),$(ASAN_LIB) $(NATIVE))
	$(call program,overrun-asan-full,tests/c/overrun.c,$(CC) $(C_FLAGS) $(SANITIZE),$(ASAN_LIB) $(NATIVE))
	$(C_BUILD)/api-asan-full $(C_BUILD)/folder 2>$(C_BUILD)/asan.log || { cat $(C_BUILD)/asan.log; exit 1; }
	$(C_BUILD)/threads-asan-full $(C_BUILD)/folder 100
	$(C_BUILD)/cases-asan-full $(CASES)
	! $(C_BUILD)/overrun-asan-full 2>$(C_BUILD)/overrun.log
	grep -q 'heap-buffer-overflow' $(C_BUILD)/overrun.log

# ---- installation ------------------------------------------------------------------------------------------

install: c-lib
	$(INSTALL) -d $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(LIBDIR)/cmake/mcp_select
	$(INSTALL) -m 644 include/mcp_select.h include/mcp_select.hpp $(DESTDIR)$(PREFIX)/include
	$(INSTALL) -m 755 $(C_BUILD)/shared/$(SO_FULL) $(DESTDIR)$(LIBDIR)
	ln -sf $(SO_FULL) $(DESTDIR)$(LIBDIR)/$(SO_MAJOR)
	ln -sf $(SO_MAJOR) $(DESTDIR)$(LIBDIR)/$(SO)
	$(INSTALL) -m 644 $(C_BUILD)/static/libmcp_select.a $(DESTDIR)$(LIBDIR)
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|; s|@NATIVE@|$(NATIVE)|' \
	  packaging/mcp_select.pc.in >$(DESTDIR)$(LIBDIR)/pkgconfig/mcp_select.pc
	sed 's|@INCLUDEDIR@|$(PREFIX)/include|; s|@SO_FULL@|$(SO_FULL)|; s|@SO_MAJOR@|$(SO_MAJOR)|' \
	  packaging/mcp_selectConfig.cmake.in >$(DESTDIR)$(LIBDIR)/cmake/mcp_select/mcp_selectConfig.cmake
	sed 's|@VERSION@|$(VERSION)|' \
	  packaging/mcp_selectConfigVersion.cmake.in >$(DESTDIR)$(LIBDIR)/cmake/mcp_select/mcp_selectConfigVersion.cmake

c-install-check:
	rm -rf $(C_BUILD)/root
	$(MAKE) install PREFIX=/opt/mcp LIBDIR=/opt/mcp/lib DESTDIR=$(abspath $(C_BUILD))/root
	CC='$(CC)' tests/c/installed/check.sh $(abspath $(C_BUILD))/root/opt/mcp /opt/mcp $(VERSION) $(abspath $(C_BUILD))/installed
