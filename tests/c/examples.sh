#!/bin/sh
# examples.sh FOLDER - runs the examples of C and C++ in FOLDER, on the shared and the static library: all four say the same.
set -eu
folder=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# check STATUS EXPECTED-OUTPUT POLICY RESULT
check() {
  printf '%s' "$4" >"$work/result.json"
  printf '%s' "$2" >"$work/expected"
  for program in select-c select-c-static select-cpp select-cpp-static; do
    for from in file stdin; do
      status=0
      if [ $from = file ]; then
        "$folder/$program" "$3" "$work/result.json" >"$work/out" 2>"$work/err" || status=$?
      else
        "$folder/$program" "$3" <"$work/result.json" >"$work/out" 2>"$work/err" || status=$?
      fi
      if [ "$status" != "$1" ] || ! cmp -s "$work/out" "$work/expected"; then
        echo "$program ($from) on $4: status $status" >&2
        cat "$work/out" "$work/err" >&2
        exit 1
      fi
      if [ "$status" != 0 ]; then
        [ -f "$work/said" ] || cp "$work/err" "$work/said"
        cmp "$work/said" "$work/err"
      fi
    done
  done
  rm -f "$work/said"
}

both='{"content":[{"type":"text","text":"7 C"}],"structuredContent":{"c":7.0}}'
check 0 '{"content":[{"type":"text","text":"7 C"}]}' sep-2200 "$both"
check 0 '{"content":[{"type":"text","text":"a"}]}' sep-2200 '{"content":[{"type":"text","text":"a"}]}'
check 1 '' sep-2200 '{"content":['
check 1 '' no-such-policy "$both"
printf 'version = 1\n[servers.demo]\norder = ["structured"]\n' >"$work/policy.toml"
check 0 '{"content":[{"type":"text","text":"{\"c\":7.0}"}]}' "$work/policy.toml" "$both"
echo "examples agree"
