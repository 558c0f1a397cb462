# Measures beside others that make the same decision: benches/ is a package of its own, so that they never enter the product's
# build. Compare figures of one run only, and run it on a machine with nothing else to do.
#
#   make bench                    everything, to target/bench/summary.json and summary.md; minutes to build, two to run
#   make bench-rust BENCH_FLAGS="--bytes 2048 --shape dual --quick"
#   make bench-test               whether all candidates decide alike
#
# One thing in seconds, without CEL, Zen, jq and Rego, which take minutes to build:
#   cargo run --release --manifest-path benches/Cargo.toml --no-default-features -- --bytes 2048 --shape dual
#
# Python is measured in the environment of `make python-test`, Go with its toolchain; one that is missing is named and left
# out.

BENCH       := --manifest-path benches/Cargo.toml
BENCH_FLAGS ?=
BENCH_OUT    = $(abspath $(or $(CARGO_TARGET_DIR),target))/bench
BENCH_RUN    = $(CARGO) run --quiet --release --locked $(BENCH) -- --out $(BENCH_OUT)
# Go measures one candidate after another: whole runs, so that they take turns.
BENCH_GO    ?= 1 2 3 4 5

.PHONY: bench bench-rust bench-python bench-python-run bench-go bench-go-run bench-test

bench:
	rm -f $(BENCH_OUT)/python.json $(BENCH_OUT)/go.txt
	$(MAKE) bench-rust BENCH_FLAGS=
	$(MAKE) bench-python
	$(MAKE) bench-go
	$(BENCH_RUN) $(addprefix --merge ,$(BENCH_OUT)/python.json $(BENCH_OUT)/go.txt)

bench-rust:
	$(BENCH_RUN) $(BENCH_FLAGS)

bench-python:
	@scripts/need.sh bench-python $(PYTHON_VENV)/bin/python; \
	case $$? in 0) $(MAKE) bench-python-run;; 1) ;; *) exit 1;; esac

# The package is built anew: the environment may have an older one. bench.py exits with 1 when a goal is missed.
bench-python-run:
	rm -rf $(BENCH_OUT)/wheel
	$(PYTHON_VENV)/bin/pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir $(BENCH_OUT)/wheel ./$(PYTHON_BINDING)
	$(PYTHON_VENV)/bin/pip install --quiet --disable-pip-version-check --no-deps --force-reinstall $(BENCH_OUT)/wheel/*.whl
	$(PYTHON_VENV)/bin/python -I $(PYTHON_BINDING)/bench.py --json $(BENCH_OUT)/python.json || test $$? = 1

bench-go:
	@scripts/need.sh bench-go $(GO) $(firstword $(CC)); \
	case $$? in 0) $(MAKE) bench-go-run;; 1) ;; *) exit 1;; esac

bench-go-run: go
	mkdir -p $(BENCH_OUT)
	cd $(GO_BINDING) && $(GO) test -c -o $(BENCH_OUT)/go.test .
	cd $(GO_BINDING) && for run in $(BENCH_GO); do \
	  $(BENCH_OUT)/go.test -test.run '^$$' -test.bench BenchmarkSelect -test.benchtime 50ms; done >$(BENCH_OUT)/go.txt

bench-test:
	$(CARGO) fmt --check $(BENCH)
	$(CARGO) test --quiet --locked --no-default-features $(BENCH)
