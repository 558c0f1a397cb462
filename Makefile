# mcp-select. `make test` sets up what it needs and passes everything: Rust, C, C++, Python, Go.
#
# A toolchain that is missing is named and its part left out; with CI=true that is a failure.

CARGO ?= cargo
CC    ?= cc
CXX   ?= c++
PREFIX ?= /usr/local

.PHONY: test rust-test lint help
.DEFAULT_GOAL := help

help:
	@echo "make test          everything: Rust, C, C++, Python, Go"
	@echo "make rust-test     format, lints, Rust tests"
	@echo "make c-test        the C ABI from C and C++ (valgrind, sanitizers)"
	@echo "make python-test   the Python package;   make python: build it"
	@echo "make go-test       the Go module;        make go: place its library"
	@echo "make header        write include/mcp_select.h anew"
	@echo "make instructions  how many instructions a selection takes, held against budgets (valgrind)"
	@echo "make bench         measure beside others, to target/bench/summary.md;   make bench-test: whether the others decide alike"
	@echo "make fuzz          libFuzzer, FUZZ_SECONDS=60 each;   make fuzz-seeds: what it starts from;   make fuzz-smoke: a million inputs"
	@echo "make asan-rust     the Rust tests under the address sanitizer;   make tsan: threads;   make miri"
	@echo "make install       command line, library, headers, pkg-config, CMake (PREFIX=$(PREFIX))"
	@echo "make dist          wheel, Go module and C library for a release, and the SBOM;   make sbom"
	@echo "make deny          licences, sources and advisories of dependencies (cargo-deny);   make deny-tool: installs it"
	@echo "make msrv          build with the oldest Rust;   make minimal-versions: with the oldest dependencies"
	@echo "make reproducible  whether the shipped libraries are the same bytes from two folders"

test: rust-test c-test python-test go-test
	@echo "make test: all passed"

rust-test: lint
	$(CARGO) test --quiet

lint:
	$(CARGO) fmt --check
	$(CARGO) fmt --manifest-path fuzz/Cargo.toml --check
	$(CARGO) clippy --quiet --all-targets -- -D warnings

include $(wildcard mk/*.mk)
