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
TSAN_FLAGS := -Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer
TSAN_CARGO := RUSTC_BOOTSTRAP=1 RUSTFLAGS="$(TSAN_FLAGS)" $(CARGO)
# Its map of memory wants addresses that are not random.
TSAN_RUN   := TSAN_OPTIONS="exitcode=66 suppressions=$(CURDIR)/tests/tsan.supp" setarch -R
TSAN_TESTS := --target $(SANITIZE_TRIPLE) --target-dir target/tsan --test reload --test c_abi
TSAN_LIB   := target/tsan/$(SANITIZE_TRIPLE)/debug/libmcp_select.a
tsan:
	mkdir -p $(C_BUILD)/folder target/tsan
	RUSTC_BOOTSTRAP=1 rustc --edition 2024 -g $(TSAN_FLAGS) --target $(SANITIZE_TRIPLE) -o target/tsan/race tests/tsan-race/race.rs
	! $(TSAN_RUN) target/tsan/race >target/tsan/race.log 2>&1
	grep -q 'data race' target/tsan/race.log
	$(TSAN_CARGO) test --quiet --no-run $(TSAN_TESTS)
	$(TSAN_RUN) env $(TSAN_CARGO) test --quiet $(TSAN_TESTS)
	# C too, instrumented by gcc, with the runtime of rustc: gcc 12's own is too old for what rustc calls.
	$(TSAN_CARGO) rustc --lib --crate-type staticlib --no-default-features --target $(SANITIZE_TRIPLE) --target-dir target/tsan
	nm $(TSAN_LIB) 2>/dev/null | grep -q '__tsan_read'
	$(CC) $(C_FLAGS) $(C_DEFS) -fsanitize=thread -pthread -c tests/c/threads.c -o $(C_BUILD)/threads-tsan.o
	$(CC) $(C_BUILD)/threads-tsan.o -o $(C_BUILD)/threads-tsan -Wl,--whole-archive $$(rustc --print target-libdir)/librustc*_rt.tsan.a \
	  -Wl,--no-whole-archive $(TSAN_LIB) $(NATIVE)
	$(TSAN_RUN) $(C_BUILD)/threads-tsan $(C_BUILD)/folder 50

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
