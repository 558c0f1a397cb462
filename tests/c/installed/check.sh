#!/bin/sh
# check.sh ROOT PREFIX VERSION WORK - an installed library is found by pkg-config and by CMake, and works. ROOT is DESTDIR with
# PREFIX: CMake finds its files also where the folder was moved to. CC may be set.
set -eu
root=$1 prefix=$2 version=$3 work=$4
here=$(cd "$(dirname "$0")" && pwd)
examples=$(cd "$here/../../../examples" && pwd)
input='{"content":[{"type":"text","text":"7 C"}],"structuredContent":{"c":7}}'
expected='{"content":[{"type":"text","text":"7 C"}]}'
rm -rf "$work"
mkdir -p "$work"

works() {
  [ "$(printf '%s' "$input" | "$@" sep-2200)" = "$expected" ] || { echo "$*: wrong output" >&2; exit 1; }
}

# The loop of a runtime: a summary whose data is added, a block for the person only, and a result that is none.
loops() {
  printf 'version = 1\nextends = "lossless"\n' >"$work/policy.toml"
  printf 'shop\tlist\t%s\n' \
    '{"content":[{"type":"text","text":"2 found"}],"structuredContent":{"names":["Aster","Bruno"]}}' \
    '{"content":[{"type":"text","text":"for you","annotations":{"audience":["user"]}},{"type":"text","text":"for all"}]}' \
    '{"content":7}' >"$work/calls"
  printf '%s\n' 'model: 2 found' '{"names":["Aster","Bruno"]}' 'user: 2 found' 'model: for all' 'user: for you' 'for all' \
    'refused: wrong-shape at byte 11 (from 0), in content: `content` must be an array of blocks' >"$work/expected"
  "$@" "$work/policy.toml" <"$work/calls" >"$work/said"
  cmp "$work/said" "$work/expected" || { cat "$work/said" >&2; exit 1; }
}

[ "$(readlink "$root/lib/libmcp_select.so")" = libmcp_select.so.1 ]
[ -f "$root/lib/libmcp_select.so.1" ]

if command -v pkg-config >/dev/null; then
  export PKG_CONFIG_PATH="$root/lib/pkgconfig"
  [ "$(pkg-config --modversion mcp_select)" = "$version" ]
  [ "$(pkg-config --variable=prefix mcp_select)" = "$prefix" ]
  moved="--define-variable=prefix=$root --define-variable=libdir=$root/lib"
  # shellcheck disable=SC2046,SC2086 # flags are words
  "${CC:-cc}" "$examples/c/select.c" -o "$work/pkg" $(pkg-config $moved --cflags --libs mcp_select) -Wl,-rpath,"$root/lib"
  works "$work/pkg"
  # shellcheck disable=SC2046,SC2086
  "${CXX:-c++}" -std=c++17 "$examples/cpp/runtime.cpp" -o "$work/pkg-runtime" \
    $(pkg-config $moved --cflags --libs mcp_select) -Wl,-rpath,"$root/lib"
  loops "$work/pkg-runtime"
else
  echo "SKIPPED: pkg-config is not installed"
fi

if command -v cmake >/dev/null; then
  major=$(echo "$version" | cut -d. -f1) minor=$(echo "$version" | cut -d. -f2)
  cmake -S "$here" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$root" -DEXAMPLES="$examples" -DWANTED="$major.$minor" >"$work/log"
  cmake --build "$work/cmake" >>"$work/log"
  for kind in shared static; do
    works "$work/cmake/c-$kind"
    works "$work/cmake/cpp-$kind"
    loops "$work/cmake/runtime-$kind"
  done
  # A version that it is not.
  for wanted in "$((major + 1)).0" "$major.$((minor + 1))"; do
    if cmake -S "$here" -B "$work/other" -DCMAKE_PREFIX_PATH="$root" -DEXAMPLES="$examples" -DWANTED="$wanted" \
      >>"$work/log" 2>&1; then
      echo "CMake took $version for $wanted" >&2
      exit 1
    fi
  done
else
  echo "SKIPPED: cmake is not installed"
fi
echo "installed library works"
