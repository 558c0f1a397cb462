# The Go binding: `make go` places the native library where cgo looks for it, `make go-test` checks everything in
# bindings/go. Wants Go 1.25 or later and a C compiler.
#
#   make go                       the static library, placed; GO_FEATURES=schema: with the JSON Schema validator
#   make go-header                the binding's copy of include/mcp_select.h, after that changed
#   make go-test                  vet, tests under the race detector, examples, adapters, leaks, static linking
#   make go-bench                 what a call costs, beside encoding/json doing the same

GO           ?= go
CARGO        ?= cargo
GO_BINDING   := bindings/go
GO_NATIVE    := $(GO_BINDING)/internal/native
GO_PLATFORM   = $(shell $(GO) env GOOS)_$(shell $(GO) env GOARCH)
GO_PLACE      = $(GO_NATIVE)/lib/$(GO_PLATFORM)
GO_FEATURES  ?=
# How the archive is built, and where it then is.
GO_BUILD     ?= $(SHIPPED) rustc --release --lib --crate-type staticlib --no-default-features --features "$(GO_FEATURES)"
GO_ARCHIVE   ?= $(or $(CARGO_TARGET_DIR),target)/release/libmcp_select.a
# Rust's standard library is made local, so that a program may hold other Rust libraries; where binutils know ELF.
GO_LOCALISE  ?= $(if $(filter Linux,$(shell uname -s)),scripts/localise.sh,cp)
# The command line that the tests compare with.
GO_CLI       ?= $(abspath $(or $(CARGO_TARGET_DIR),target))/release/mcp-select

.PHONY: go go-header go-test go-test-all go-test-binding go-test-schema go-test-adapters go-leaks go-static go-bench

# Go does not see that an archive has changed. It sees that library_*.go has, and links again.
go:
	$(GO_BUILD)
	mkdir -p $(GO_PLACE)
	cmp -s $(GO_ARCHIVE) $(GO_PLACE)/cargo.a || { \
	  $(GO_LOCALISE) $(GO_ARCHIVE) $(GO_PLACE)/libmcp_select.a && cp $(GO_ARCHIVE) $(GO_PLACE)/cargo.a; }
	printf '// Written by `make go`.\n\npackage native\n\nvar libraryHash = "%s"\n' \
	  "$$(sha256sum < $(GO_PLACE)/libmcp_select.a | cut -d ' ' -f 1)" > $(GO_NATIVE)/library_$(GO_PLATFORM).go

go-header:
	cp include/mcp_select.h $(GO_NATIVE)/include/mcp_select.h

go-test:
	@scripts/need.sh go-test $(GO) $(firstword $(CC)); \
	case $$? in 0) $(MAKE) go-test-all;; 1) ;; *) exit 1;; esac

go-test-all:
	$(MAKE) go-test-schema
	$(MAKE) go-test-binding go-test-adapters go-leaks go-static

go-test-binding: go
	$(CARGO) build --release --bin mcp-select
	cd $(GO_BINDING) && test -z "$$(gofmt -l .)" && $(GO) vet ./...
	cd $(GO_BINDING) && $(GO) run ./examples/quickstart
	cd $(GO_BINDING) && MCP_SELECT_CLI=$(GO_CLI) $(GO) test -race -count=1 ./...
	cd $(GO_BINDING) && $(GO) test -count=1 -run TestMemoryIsFlat -v . -args -selections 1000000

# The cases that want the JSON Schema validator, which the command line has.
go-test-schema:
	$(MAKE) go GO_FEATURES=schema
	$(CARGO) build --release --bin mcp-select
	cd $(GO_BINDING) && MCP_SELECT_CLI=$(GO_CLI) $(GO) test -count=1 -run TestCases .

go-test-adapters: go
	@set -e; for module in $(GO_BINDING)/adapters/*/; do \
	  echo "$$module"; ( cd $$module && test -z "$$(gofmt -l .)" && $(GO) vet ./... && $(GO) test -race -count=1 ./... ); done

# First a program that leaks on purpose: it must be caught, or the sanitizer is not there.
go-leaks: go
	@cd $(GO_BINDING) && if ! $(GO) build -asan -o /dev/null ./internal/leakcheck 2>/dev/null; then \
	  echo "go-leaks: skipped, this machine cannot build with -asan" >&2; test "$(CI)" != true; exit; fi; \
	if ! $(GO) run -asan ./internal/leakcheck -leak 2>&1 | grep -q 'LeakSanitizer: detected memory leaks'; then \
	  echo "error: a leak on purpose was not found" >&2; exit 1; fi; \
	$(GO) run -asan ./internal/leakcheck

go-static: go
	cd $(GO_BINDING) && $(GO) build -ldflags '-linkmode external -extldflags -static' \
	  -o $(CURDIR)/target/go-quickstart ./examples/quickstart
	target/go-quickstart > /dev/null

go-bench: go
	cd $(GO_BINDING) && $(GO) test -run '^$$' -bench . -benchmem .
