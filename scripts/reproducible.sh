#!/bin/sh
# reproducible.sh FOLDER - builds the libraries that are shipped twice, in two copies of the tree at paths of different lengths,
# and compares them byte by byte. `make reproducible` calls it.
set -eu
rm -rf "$1"
mkdir -p "$1/one" "$1/another/place/of/a/longer/name"
for tree in "$1/one" "$1/another/place/of/a/longer/name"; do
  git ls-files -z | tar --null --files-from=- -cf - | tar -xf - -C "$tree"
  # Nothing of an earlier build, or of the folder that this was called in.
  (cd "$tree" && env -u CARGO_TARGET_DIR -u MAKEFLAGS -u MAKELEVEL "${MAKE:-make}" --no-print-directory c-lib >build.log 2>&1) || {
    tail -n 30 "$tree/build.log" >&2
    exit 1
  }
  (cd "$tree/build/c" && sha256sum shared/libmcp_select.so.1.* static/libmcp_select.a) >"$tree/sums"
  rm -rf "$tree/target"
done
cat "$1/one/sums"
if ! cmp -s "$1/one/sums" "$1/another/place/of/a/longer/name/sums"; then
  echo "reproducible: another folder gives another library:" >&2
  cat "$1/another/place/of/a/longer/name/sums" >&2
  exit 1
fi
# A path of this machine in them would be the next one to differ.
home=${CARGO_HOME:-$HOME/.cargo}
for library in "$1"/one/build/c/shared/libmcp_select.so.1.* "$1"/one/build/c/static/libmcp_select.a; do
  if strings -a "$library" | grep -m 3 -F -e "$home/" -e "$1/" -e "$(pwd)/"; then
    echo "reproducible: $library names a folder of this machine" >&2
    exit 1
  fi
done
echo "reproducible: the same bytes from two folders, and no path of this machine in them"
