# The Go binding: `make go` places the native library where cgo looks for it, `make go-test` checks everything in
# bindings/go. Wants Go 1.25 or later and a C compiler.

GO           ?= go
CARGO        ?= cargo
GO_BINDING   := bindings/go
GO_PLATFORM   = $(shell $(GO) env GOOS)_$(shell $(GO) env GOARCH)
GO_NATIVE    := $(GO_BINDING)/internal/native
# The archive that is placed, and the command that builds it.
GO_ARCHIVE   ?= target/release/libmcp_select.a
GO_BUILD     ?= $(CARGO) rustc --release --lib --crate-type staticlib --no-default-features
# The command line that the tests compare with.
GO_CLI       ?= $(CURDIR)/target/release/mcp-select
GO_ADAPTERS  := $(wildcard $(GO_BINDING)/adapters/*/go.mod)

.PHONY: go go-header go-test go-test-binding go-test-adapters go-leaks go-static go-bench

## go: build the static library and place it for cgo
go:
	$(GO_BUILD)
	mkdir -p $(GO_NATIVE)/lib/$(GO_PLATFORM)
	cp $(GO_ARCHIVE) $(GO_NATIVE)/lib/$(GO_PLATFORM)/libmcp_select.a
	@# Go does not see that an archive changed. It sees that this file did, and links again.
	printf '// Written by `make go`.\n\npackage native\n\nvar libraryHash = "%s"\n' \
	  "$$(sha256sum < $(GO_ARCHIVE) | cut -d ' ' -f 1)" > $(GO_NATIVE)/library_$(GO_PLATFORM).go

## go-header: copy the C header into the binding, after it changed
go-header:
	cp include/mcp_select.h $(GO_NATIVE)/include/mcp_select.h

## go-test: vet, tests under the race detector, examples, adapters, leaks, static linking
go-test: go-test-binding go-test-adapters go-leaks go-static

go-test-binding: go
	$(CARGO) build --release --bin mcp-select
	cd $(GO_BINDING) && test -z "$$(gofmt -l .)" && $(GO) vet ./...
	cd $(GO_BINDING) && $(GO) run ./examples/quickstart
	cd $(GO_BINDING) && MCP_SELECT_CLI=$(GO_CLI) $(GO) test -race -count=1 ./...
	cd $(GO_BINDING) && $(GO) test -count=1 -run TestMemoryIsFlat -v . -args -selections 1000000

go-test-adapters: go
	@set -e; for module in $(dir $(GO_ADAPTERS)); do \
	  echo "$$module"; ( cd $$module && $(GO) vet ./... && $(GO) test -race -count=1 ./... ); done

# First a program that leaks on purpose: it must be caught, or the sanitizer is not there.
## go-leaks: the same objects made and freed, watched by AddressSanitizer
go-leaks: go
	@cd $(GO_BINDING) && if ! $(GO) build -asan -o /dev/null ./internal/leakcheck 2>/dev/null; then \
	  echo "skipped: this machine cannot build with -asan"; exit 0; fi; \
	if ! $(GO) run -asan ./internal/leakcheck -leak 2>&1 | grep -q 'LeakSanitizer: detected memory leaks'; then \
	  echo "error: a leak on purpose was not found" >&2; exit 1; fi; \
	$(GO) run -asan ./internal/leakcheck

## go-static: a program with nothing but static libraries
go-static: go
	cd $(GO_BINDING) && $(GO) build -ldflags '-linkmode external -extldflags -static' -o $(CURDIR)/target/go-quickstart ./examples/quickstart
	target/go-quickstart > /dev/null

## go-bench: what a call costs, beside encoding/json doing the same
go-bench: go
	cd $(GO_BINDING) && $(GO) test -run '^$$' -bench . -benchmem .
