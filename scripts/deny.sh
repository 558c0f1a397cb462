#!/bin/sh
# deny.sh CARGO-DENY - licences, bans and sources of the product, benches/ and fuzz/, and advisories where the RustSec database
# can be had. `make deny` calls it.
set -eu
deny=$1
root=$(pwd)
failed=0

check() { # MANIFEST CONFIG WHICH...
  manifest=$1 config=$2
  shift 2
  echo "$manifest: $*"
  "$deny" --log-level warn --locked --manifest-path "$root/$manifest" --config "$root/$config" check "$@" || failed=1
}

all="licenses bans sources"
if "$deny" --log-level off --manifest-path "$root/Cargo.toml" --config "$root/deny.toml" fetch db >/dev/null 2>&1; then
  all="advisories $all"
else
  echo "deny: ADVISORIES NOT CHECKED, the RustSec database (https://github.com/RustSec/advisory-db) is out of reach" >&2
fi
# shellcheck disable=SC2086 # one word for each check
{
  check Cargo.toml deny.toml $all
  check fuzz/Cargo.toml deny-unshipped.toml $all
  check benches/Cargo.toml deny-unshipped.toml $all
}
exit "$failed"
