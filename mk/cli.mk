# The command line: the program, its manual pages and completions. `make install` brings them too.

CLI_BUILD ?= build/cli
BINDIR    ?= $(PREFIX)/bin
MANDIR    ?= $(PREFIX)/share/man/man1

.PHONY: cli install-cli

cli:
	$(CARGO) build --release --bin mcp-select
	mkdir -p $(CLI_BUILD)
	$(or $(CARGO_TARGET_DIR),target)/release/mcp-select man $(CLI_BUILD)/man
	for shell in bash zsh fish; do $(or $(CARGO_TARGET_DIR),target)/release/mcp-select completions $$shell >$(CLI_BUILD)/$$shell; done

install-cli: cli
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(MANDIR)
	install -m 755 $(or $(CARGO_TARGET_DIR),target)/release/mcp-select $(DESTDIR)$(BINDIR)
	install -m 644 $(CLI_BUILD)/man/*.1 $(DESTDIR)$(MANDIR)
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/zsh/site-functions
	install -d $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	install -m 644 $(CLI_BUILD)/bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/mcp-select
	install -m 644 $(CLI_BUILD)/zsh $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_mcp-select
	install -m 644 $(CLI_BUILD)/fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/mcp-select.fish

install: install-cli
