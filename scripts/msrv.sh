#!/bin/sh
# msrv.sh TARGET-DIR - builds library and command line with the oldest Rust that Cargo.toml names. Where rustup cannot get that,
# it says so and does nothing. `make msrv` calls it.
set -eu
version=$(sed -n 's/^rust-version *= *"\(.*\)"/\1/p' Cargo.toml)
command -v rustup >/dev/null 2>&1 || { echo "msrv: skipped, there is no rustup to get Rust $version" >&2; exit 0; }
if ! rustup run "$version" rustc --version >/dev/null 2>&1 &&
  ! rustup toolchain install "$version" --profile minimal >/dev/null 2>&1; then
  echo "msrv: skipped, rustup cannot get Rust $version; try: rustup toolchain install $version --profile minimal" >&2
  exit 0
fi
for what in "--lib --no-default-features" "--bin mcp-select"; do
  # shellcheck disable=SC2086 # one word for each option
  rustup run "$version" cargo build --quiet --locked --target-dir "$1" $what
  echo "msrv: $(rustup run "$version" rustc --version) builds $what"
done
