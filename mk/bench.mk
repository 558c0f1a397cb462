# Measures beside others that make the same decision: benches/ is a package of its own, so that they never enter the product's
# build. Compare figures of one run only, and run it on a machine with nothing else to do.
#
#   make bench                    everything, to target/bench/summary.json and summary.md; about ten minutes
#   make bench BENCH_FLAGS="--bytes 2048 --shape dual --quick"
#   make bench-test               whether all candidates decide alike

BENCH       := --manifest-path benches/Cargo.toml
BENCH_FLAGS ?=

.PHONY: bench bench-test

bench:
	$(CARGO) run --quiet --release --locked $(BENCH) -- $(BENCH_FLAGS)

bench-test:
	$(CARGO) fmt --check $(BENCH)
	$(CARGO) test --quiet --locked --no-default-features $(BENCH)
