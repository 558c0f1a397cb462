#!/bin/sh
# The tests of the Python binding, in two environments: mcp 1.x and 2.x cannot live in one.
#
#   bindings/python/run_tests.sh [mcp1] [mcp2] [-- arguments of pytest]
#
# Makes target/venv-mcp1 and target/venv-mcp2 with exactly what requirements/ says, builds the package once, and runs
# linters, type checks and tests. PYTHON names the interpreter. An environment stays as long as its requirements do.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
python=${PYTHON:-python3}
mkdir -p "$target"

environments=
while [ $# -gt 0 ]; do
    case $1 in
    mcp1 | mcp2) environments="$environments $1" && shift ;;
    --) shift && break ;;
    *) break ;;
    esac
done
environments=${environments:-mcp1 mcp2}

# What each environment is expected to have: an adapter whose package is missing there fails instead of being skipped.
expected() {
    case $1 in
    mcp1) echo "fastmcp fastmcp.server langchain_mcp_adapters agents pydantic_ai.mcp google.adk" ;;
    mcp2) echo "fastmcp fastmcp.server agents pydantic_ai.mcp" ;;
    esac
}

wheels=$target/python-wheels
rm -rf "$wheels"
built=
for environment in $environments; do
    venv=$target/venv-$environment
    requirements=$here/requirements/$environment.txt
    if ! cmp -s "$requirements" "$venv/installed.txt"; then
        rm -rf "$venv"
        "$python" -m venv "$venv"
        "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps -r "$requirements"
        cp "$requirements" "$venv/installed.txt"
    fi
    if [ -z "$built" ]; then
        "$venv/bin/pip" wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$wheels" "$here"
        built=yes
    fi
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall "$wheels"/*.whl
done

status=0
cd "$here"
for environment in $environments; do
    echo "== Python tests with $environment"
    bin=$target/venv-$environment/bin
    if [ "$environment" = "${environments##* }" ]; then
        "$bin/ruff" check . && "$bin/ruff" format --check . || status=1
    fi
    "$bin/mypy" || status=1
    MCP_SELECT_EXPECT=$(expected "$environment") "$bin/pytest" "$@" || status=1
    # The rest is the same in both.
    [ $# -gt 0 ] || set -- -k "adapters or docs"
done
exit $status
