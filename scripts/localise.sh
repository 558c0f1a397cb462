#!/bin/sh
# localise.sh IN.a OUT.a - makes of cargo's static library one that can stand beside other Rust libraries in one program.
#
# Cargo's archive carries the standard library, whose symbols are global: two such archives clash when they are linked. Here
# all objects that our functions need become one, and of its symbols only mcp_select_* stay global. Groups are resolved
# (--force-group-allocation), or the linker would throw away `DW.ref.rust_eh_personality` of the other library.
#
# LD, OBJCOPY, NM, AR and STRIP_DEBUG=no (keeps what a debugger wants) may be set. GNU binutils; for ELF only.
set -eu
in=$1 out=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

wanted=$("${NM:-nm}" -g --defined-only "$in" 2>/dev/null | awk '$2 == "T" && $3 ~ /^mcp_select_/ { print "-u", $3 }')
[ -n "$wanted" ] || { echo "localise.sh: no mcp_select_* in $in" >&2; exit 1; }
# shellcheck disable=SC2086 # one word for each symbol
"${LD:-ld}" -r --force-group-allocation -o "$work/one.o" $wanted "$in"
# The bitcode that the standard library carries is of no use any more, and an LLVM plugin of binutils that is older than
# rustc's chokes on it.
"${OBJCOPY:-objcopy}" --remove-section=.llvmbc --remove-section=.llvmcmd \
  --wildcard --keep-global-symbol='mcp_select_*' "$work/one.o" "$work/mcp_select.o"
[ "${STRIP_DEBUG:-yes}" = no ] || "${OBJCOPY:-objcopy}" --strip-debug "$work/mcp_select.o"
rm -f "$out"
"${AR:-ar}" rcsD "$out" "$work/mcp_select.o"
