#!/bin/sh
# instructions.sh PROGRAM BUDGETS - how many instructions a selection takes, for each shape of results, under callgrind; held
# against the budgets. More than 5 % above one is a failure; more than 15 % below it calls for a lower one.
#
# WRITE=1 writes the budgets anew, 3 % above what was measured. They hold for one kind of vector instructions, that which
# valgrind offered then: elsewhere the figures are only printed.
set -eu
program=$1 budgets=$2
shapes="text dual structured prose image blocks meta"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

level=$("${VALGRIND:-valgrind}" -q "$program" level)
for shape in $shapes; do
  "${VALGRIND:-valgrind}" --tool=callgrind --toggle-collect=measured --callgrind-out-file="$work/out" \
    "$program" "$shape" >"$work/bytes" 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
  collected=$(sed -n 's/^==[0-9]*== Collected : \([0-9]*\).*/\1/p' "$work/log")
  # 200 results. Nothing counted means that the function was not found.
  [ "${collected:-0}" -gt 100000 ] || { echo "$shape: callgrind counted nothing" >&2; cat "$work/log" >&2; exit 1; }
  echo "$shape $((collected / 200)) $(cat "$work/bytes")"
done >"$work/measured"

if [ "${WRITE:-}" = 1 ]; then
  {
    echo "# Instructions a selection may take, by the shape of a result of 2 KB. Written by \`make instructions WRITE=1\`:"
    echo "# 3 % above what was measured with $(rustc --version | cut -d ' ' -f 1-2)."
    echo "level $level"
    awk '{ printf "%s %d\n", $1, $2 * 1.03 }' "$work/measured"
  } >"$budgets"
fi

awk -v level="$level" '
  NR == FNR { budget[$1] = $2; next }
  FNR == 1 && budget["level"] != level {
    elsewhere = 1
    print "SKIPPED: the budgets are of " budget["level"] ", this is " level ": not compared"
  }
  {
    figure = sprintf("%-12s %6d instructions a call of %d bytes", $1, $2, $3)
    if (elsewhere) { print figure; next }
    if (!budget[$1]) { print figure ": NO BUDGET, make instructions WRITE=1"; failed = 1; next }
    change = ($2 / budget[$1] - 1) * 100
    verdict = ""
    if (change > 5) { verdict = ": OVER BUDGET"; failed = 1 }
    else if (change < -15) verdict = ": lower the budget, make instructions WRITE=1"
    printf "%s, budget %d, %+.1f %%%s\n", figure, budget[$1], change, verdict
  }
  END { exit failed }
' "$budgets" "$work/measured"
