# The tests that compare the engine with something simpler, with many more inputs than `make test` has: a million for the
# scanner, a million (policy, facts) pairs for the table, 100,000 cases for each property. Overflow checks and debug
# assertions are on. Inputs are drawn by lot; `make fuzz` (mk/fuzz.mk) has a fuzzer choose them by what code they reach, under
# the address sanitizer. `MCP_SELECT_SEED=N` repeats a run; `MCP_SELECT_CORPUS=FOLDER` adds recorded results.
FUZZ_SEED   := $(or $(MCP_SELECT_SEED),$(shell date +%s))
FUZZ_INPUTS ?= 1000000
FUZZ_CASES  ?= 100000
FUZZ_CARGO   = CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
	CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true \
	cargo test --release --target-dir target/fuzz

.PHONY: fuzz-smoke
fuzz-smoke:
	MCP_SELECT_SEED=$(FUZZ_SEED) MCP_SELECT_FUZZ_INPUTS=$(FUZZ_INPUTS) \
		$(FUZZ_CARGO) --test scan_against_serde --test interpreter -- --nocapture
	MCP_SELECT_SEED=$(FUZZ_SEED) PROPTEST_CASES=$(FUZZ_CASES) $(FUZZ_CARGO) --test properties
