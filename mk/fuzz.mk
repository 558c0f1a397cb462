# Fuzzing: libFuzzer under the address sanitizer, on the stable compiler and without cargo-fuzz (g++ is needed). It follows
# coverage from input to input, so it finds what no generator thought of; `make fuzz-smoke` (mk/fuzz-smoke.mk) draws a given
# number of inputs by lot instead, without a sanitizer, from the same generators and with the same oracles.
#
#   make fuzz                     every target for FUZZ_SECONDS=60, one after the other; fails on a finding
#   make fuzz FUZZ_TARGETS="scan limit" FUZZ_SECONDS=600
#   make fuzz-seeds               what they start from, in target/fuzz-corpus/TARGET/; MCP_SELECT_CORPUS=FOLDER adds recorded results
#
# A finding stands in target/fuzz/artifacts/TARGET/; the program with its name as argument runs it again. The table of the
# last run is target/fuzz/summary.md.

FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?= scan select ffi mirror coverage table policy path meta_key limit sanitize
FUZZ_TRIPLE  ?= $(shell rustc -vV | sed -n 's/^host: //p')
FUZZ_BUILD   := target/fuzz-build
FUZZ_BIN      = $(FUZZ_BUILD)/$(FUZZ_TRIPLE)/release
# What cargo-fuzz sets, and overflow checks.
FUZZ_FLAGS   := --cfg fuzzing -Zsanitizer=address -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
	-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
	-Cllvm-args=-sanitizer-coverage-trace-compares -Cdebug-assertions -Coverflow-checks -Ccodegen-units=1

.PHONY: fuzz fuzz-build fuzz-seeds

fuzz: fuzz-seeds
	scripts/fuzz.sh $(FUZZ_BIN) $(FUZZ_SECONDS) $(FUZZ_TARGETS)

# A nightly flag that the stable compiler knows, and a target, or build scripts would be instrumented too.
fuzz-build:
	RUSTC_BOOTSTRAP=1 RUSTFLAGS="$(FUZZ_FLAGS)" $(CARGO) build --quiet --release --manifest-path fuzz/Cargo.toml --locked \
	  --bins --examples --target $(FUZZ_TRIPLE) --target-dir $(FUZZ_BUILD)

fuzz-seeds: fuzz-build
	$(FUZZ_BIN)/examples/seeds target/fuzz-corpus
