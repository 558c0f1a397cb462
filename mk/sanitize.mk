# The Rust tests under sanitizers and Miri; `make asan` (mk/c.mk) has the C tests against an instrumented library. Linux. These
# are nightly flags that the stable compiler knows; its standard library is not instrumented.
#
#   make asan-rust                the Rust tests that meet hostile input, under the address and leak sanitizers
#   make tsan                     the tests with threads, under the thread sanitizer: Rust, and C with the library
#   make miri                     the unit tests of the C ABI and of what it stands on, in Miri, where a nightly has it

SANITIZE_TRIPLE ?= $(shell rustc -vV | sed -n 's/^host: //p')

.PHONY: asan-rust tsan miri

# One test measures the stack of the schema validator; instrumented frames are several times as large as those it allows for.
asan-rust:
	RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address $(CARGO) test --quiet --target $(SANITIZE_TRIPLE) \
	  --target-dir target/asan-rust --lib --test cases --test properties --test scan_against_serde --test policy_fuzz --test reload --test c_abi \
	  -- --skip a_small_stack_is_enough

# The standard library is not instrumented, so what it synchronises with fences and locks of its own looks like a race:
# tests/tsan.supp names it, each entry with its reason. A program with a race on purpose is run first: it must be found.
# `cargo +nightly test -Zbuild-std` with the component rust-src would need no such list.
TSAN_RUST := RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer"
TSAN_RUN  := TSAN_OPTIONS="halt_on_error=0 exitcode=66 suppressions=$(CURDIR)/tests/tsan.supp" setarch -R
TSAN_LIB  := target/tsan/$(SANITIZE_TRIPLE)/debug/libmcp_select.a
tsan:
	mkdir -p $(C_BUILD)/folder target/tsan
	$(TSAN_RUST) rustc --edition 2024 -g -Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer \
	  --target $(SANITIZE_TRIPLE) -o target/tsan/race tests/tsan-race/race.rs
	! $(TSAN_RUN) target/tsan/race >target/tsan/race.log 2>&1
	grep -q 'data race' target/tsan/race.log
	$(TSAN_RUST) $(CARGO) test --quiet --no-run --target $(SANITIZE_TRIPLE) --target-dir target/tsan --test reload --test c_abi
	$(TSAN_RUST) $(TSAN_RUN) $(CARGO) test --quiet --target $(SANITIZE_TRIPLE) --target-dir target/tsan --test reload --test c_abi

# What the nightly needs is said, not installed. Property tests make few cases there: Miri is slow.
MIRI_TESTS ?= result::meta_key result::text result::refusal policy::pattern select::sanitize::tests::knows
miri:
	@if cargo +nightly miri --version >/dev/null 2>&1; then \
	  set -ex; export MIRIFLAGS="-Zmiri-disable-isolation" PROPTEST_CASES=4 MCP_SELECT_FUZZ_INPUTS=3; \
	  cargo +nightly miri test --target-dir target/miri --no-default-features --test c_abi; \
	  cargo +nightly miri test --target-dir target/miri --no-default-features --lib -- $(MIRI_TESTS); \
	else \
	  echo "SKIPPED: no nightly with Miri here; install it with: rustup toolchain install nightly --component miri,rust-src"; \
	fi
