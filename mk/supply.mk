# What the product is made of: licences, known faults, the oldest compiler and the oldest dependencies, the bill of materials,
# and whether somebody else gets the same bytes.
#
#   make deny                     licences, sources, duplicates and advisories of all dependencies; make deny-tool: cargo-deny in target/tools
#   make msrv                     library and command line with the Rust that Cargo.toml names as the oldest
#   make minimal-versions         unit tests with the lowest versions of dependencies that Cargo.toml allows
#   make sbom                     dist/mcp-select-VERSION.cdx.json (CycloneDX 1.5)
#   make reproducible             the shipped libraries, built twice in different folders: the same bytes

SUPPLY_TARGET = $(abspath $(or $(CARGO_TARGET_DIR),target))
DENY_VERSION := 0.20.2
DENY         ?= $(or $(wildcard $(SUPPLY_TARGET)/tools/bin/cargo-deny),cargo-deny)
SBOM          = dist/mcp-select-$(VERSION).cdx.json

.PHONY: deny deny-tool msrv minimal-versions sbom reproducible

deny:
	@scripts/need.sh "deny (make deny-tool installs it)" $(DENY); \
	case $$? in 0) scripts/deny.sh $(DENY);; 1) ;; *) exit 1;; esac

deny-tool:
	$(CARGO) install cargo-deny --version $(DENY_VERSION) --locked --root $(SUPPLY_TARGET)/tools

msrv:
	scripts/msrv.sh $(SUPPLY_TARGET)/msrv

minimal-versions:
	scripts/minimal-versions.sh $(SUPPLY_TARGET)/minimal-versions

sbom:
	mkdir -p dist
	SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) $(PYTHON) scripts/sbom.py $(shell rustc -vV | sed -n 's/^host: //p') >$(SBOM)

reproducible:
	MAKE=$(MAKE) scripts/reproducible.sh $(SUPPLY_TARGET)/reproducible
