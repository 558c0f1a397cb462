#!/bin/sh
# need.sh PART TOOL...: whether the tools of a part are there. Names what is missing; with CI=true that is a failure (2).
part=$1
shift
for tool; do
    if ! command -v "$tool" >/dev/null 2>&1; then
        echo "$part: skipped, there is no $tool" >&2
        [ "${CI:-}" = true ] && exit 2
        exit 1
    fi
done
exit 0
