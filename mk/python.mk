# The Python binding. GNU make; cargo, a C compiler and Python 3.10 or later with venv.
#
#   make python                   a wheel in dist/, with the library inside; PYTHON_FEATURES=schema: the JSON Schema validator too
#   make python-raw               renews bindings/python/mcp_select/_native.pyi from include/mcp_select.h
#   make python-test              lint, types and tests with mcp 1.x and 2.x, in target/venv-mcp1 and target/venv-mcp2
#   make python-valgrind          the binding under valgrind: invalid accesses and leaks of the native module
#   make python-bench             what a call costs, beside json, orjson and the SDK

PYTHON          ?= python3
PYTHON_BINDING  := bindings/python
PYTHON_FEATURES ?=
PYTHON_VENV      = $(abspath $(or $(CARGO_TARGET_DIR),target))/venv-mcp2

.PHONY: python python-raw python-test python-valgrind python-bench

python:
	MCP_SELECT_FEATURES=$(PYTHON_FEATURES) $(PYTHON) -m pip wheel --no-deps --wheel-dir dist ./$(PYTHON_BINDING)

python-raw:
	$(PYTHON_VENV)/bin/python $(PYTHON_BINDING)/build_ffi.py

# The tests compare with the command line.
python-test:
	cargo build --release --bin mcp-select
	PYTHON=$(PYTHON) $(PYTHON_BINDING)/run_tests.sh

# An environment of its own, with the package and what it needs alone.
python-valgrind: PYTHON_CHECK := $(abspath $(or $(CARGO_TARGET_DIR),target))/venv-valgrind
python-valgrind:
	@scripts/need.sh python-valgrind valgrind $(PYTHON); case $$? in 0) ;; 1) exit 0;; *) exit 1;; esac; set -e; \
	test -x $(PYTHON_CHECK)/bin/python || $(PYTHON) -m venv $(PYTHON_CHECK); \
	$(PYTHON_CHECK)/bin/pip install --quiet --disable-pip-version-check --force-reinstall ./$(PYTHON_BINDING); \
	$(PYTHON_CHECK)/bin/python $(PYTHON_BINDING)/check_memory.py

python-bench:
	$(PYTHON_VENV)/bin/python -I $(PYTHON_BINDING)/bench.py
