#!/bin/sh
# exports.sh HEADER SHARED STATIC - what the libraries show to the world: the shared one exactly the functions of the header,
# the static one nothing but mcp_select_*, all functions of the header among them.
set -eu
header=$1 shared=$2 static=$3

declared=$(grep -v '^ \*\|^/\*' "$header" | grep -o 'mcp_select_[a-z_0-9]*(' | tr -d '(' | sort -u)
exported=$(nm -D --defined-only "$shared" | awk '{ print $3 }' | sort -u)
in_archive=$(nm -g --defined-only "$static" | awk 'NF == 3 { print $3 }' | sort -u)

[ -n "$declared" ]
if [ "$declared" != "$exported" ]; then
  echo "$shared does not export exactly the functions of $header:" >&2
  printf '%s\n--\n%s\n' "$declared" "$exported" | sort | uniq -u >&2
  exit 1
fi
if [ "$declared" != "$in_archive" ]; then
  echo "$static does not show exactly the functions of $header:" >&2
  printf '%s\n--\n%s\n' "$declared" "$in_archive" | sort | uniq -u >&2
  exit 1
fi
readelf -d "$shared" | grep -q 'SONAME.*\[libmcp_select.so.1\]'
echo "$(printf '%s\n' "$declared" | wc -l) functions exported"
