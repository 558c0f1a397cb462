#!/bin/sh
# minimal-versions.sh FOLDER - the library's unit tests with the lowest versions that Cargo.toml allows of what it names, in a
# copy of the tree at FOLDER: the committed Cargo.lock is not touched. `make minimal-versions` calls it.
set -eu
rm -rf "$1/tree"
mkdir -p "$1/tree"
git ls-files -z | tar --null --files-from=- -cf - | tar -xf - -C "$1/tree"
target=$(cd "$1" && pwd)/target
cd "$1/tree"
# A nightly flag that the stable cargo knows.
RUSTC_BOOTSTRAP=1 cargo update --quiet -Z direct-minimal-versions
cargo tree --no-default-features --edges normal --depth 1
cargo test --quiet --locked --no-default-features --lib --target-dir "$target"
