#!/bin/sh
# fuzz.sh BIN SECONDS TARGET... - runs each fuzz target for so long, one after the other; a line for each, and all of them as
# a table in target/fuzz/summary.md. Fails when one found something. `make fuzz` calls it.
set -eu
bin=$1 seconds=$2
shift 2

out=target/fuzz
mkdir -p "$out/tmp"
TMPDIR=$(pwd)/$out/tmp
export TMPDIR
{
  echo "| target | executions | seconds | coverage | features | corpus | findings |"
  echo "|---|--:|--:|--:|--:|--:|--:|"
} > "$out/summary.md"

# What the target takes: the longest input, and words to try.
options() {
  case $1 in
    scan | mirror) echo "-max_len=4096 -dict=fuzz/json.dict" ;;
    select | ffi | coverage) echo "-max_len=2048 -dict=fuzz/json.dict" ;;
    path) echo "-max_len=512 -dict=fuzz/path.dict" ;;
    policy) echo "-max_len=4096 -dict=fuzz/policy.dict" ;;
    meta_key) echo "-max_len=256 -dict=fuzz/meta.dict" ;;
    limit | sanitize) echo "-max_len=1024 -dict=fuzz/text.dict" ;;
    *) echo "-max_len=1024" ;;
  esac
}

failed=0
for target in "$@"; do
  artifacts=$out/artifacts/$target
  mkdir -p "$artifacts" "target/fuzz-corpus/$target"
  log=$out/$target.log
  status=0
  # shellcheck disable=SC2046 # one word for each option
  "$bin/$target" "target/fuzz-corpus/$target" -max_total_time="$seconds" $(options "$target") -timeout=20 \
    -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$artifacts/" > "$log" 2>&1 || status=$?
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  took=$(sed -n 's/^Done [0-9]* runs in \([0-9]*\) second.*/\1/p' "$log")
  last=$(grep -a ' cov: ' "$log" | tail -n 1)
  of() { echo "$last" | sed -n "s/.* $1: \([^ ]*\).*/\1/p"; }
  findings=0
  if [ "$status" -ne 0 ]; then
    findings=1
    failed=1
  fi
  printf '%-9s %10s executions  cov %6s  ft %6s  corpus %s  findings %s\n' "$target" "${executions:-?}" "$(of cov)" "$(of ft)" "$(of corp)" "$findings"
  echo "| $target | ${executions:-?} | ${took:-?} | $(of cov) | $(of ft) | $(of corp) | $findings |" >> "$out/summary.md"
  if [ "$status" -ne 0 ]; then
    grep -a -m 1 -A 6 'panicked at\|ERROR: ' "$log" | cut -c 1-2000 || tail -n 20 "$log"
    sed -n "s|.*Test unit written to |  again: $bin/$target |p" "$log"
  fi
done
rm -rf "$out/tmp"
exit "$failed"
