"""The project's cases (tests/cases/*.toml): the same outcome here, and the same bytes as the command line."""

import json
import subprocess
import sys

import pytest
from recorded import CASES, command_line, minified, missing

import mcp_select

tomllib = pytest.importorskip("tomllib", reason="Python 3.10 has no tomllib") if sys.version_info < (3, 11) else None
if tomllib is None:
    import tomllib


def all_cases():
    found = []
    for path in sorted(CASES.glob("*.toml")):
        file = tomllib.loads(path.read_text(encoding="utf-8"))
        # The library inside is built without the JSON Schema validator.
        marks = [pytest.mark.skip(reason="needs the feature schema")] if file.get("needs") == "schema" else []
        for case in file["cases"]:
            policy = next((source for source in (case, file) if "policy" in source or "policy_toml" in source), {})
            given = {"policy": "sep-2200", **{key: policy[key] for key in ("policy", "policy_toml") if key in policy}}
            found.append(pytest.param(given, case, id=f"{path.stem}: {case['name']}", marks=marks))
    return found


ALL = all_cases()


def wire_of(case):
    return bytes.fromhex(case["result_hex"]) if "result_hex" in case else case["result"].encode()


def route_of(case):
    return {
        "server": case.get("server", "demo"),
        "tool": case.get("tool", "tool"),
        "audience": case.get("audience", "model"),
        "revision": case.get("revision"),
        "tool_definition": case.get("tool_definition"),
        "labels": case.get("labels"),
        "extensions": case.get("extensions"),
        "input": case.get("input", "result"),
    }


def test_there_are_cases():
    if not ALL:
        missing(f"no cases in {CASES}")
    assert len(ALL) > 50


@pytest.mark.parametrize(("given", "case"), ALL)
def test_case(given, case):
    expect, wire = case["expect"], wire_of(case)
    engine = mcp_select.Engine(given["policy_toml"]) if "policy_toml" in given else None
    engine = engine or mcp_select.Engine.builtin(given["policy"])
    try:
        seen = engine.select(wire, **route_of(case))
    except mcp_select.Error as error:
        assert error.code == expect["status"]
        assert expect.get("message", error.message) == error.message
        return
    status = "not-for-readers" if seen.outcome != "selected" else "changed" if seen.changed else "unchanged"
    assert status == expect["status"]
    assert seen.json == (expect["json"].encode() if "json" in expect else wire)
    blocks = [block.kind if block.source is None else f"{block.kind} {block.source}" for block in seen.blocks]
    decision = seen.decision
    got = {
        "text": seen.text(),
        "lane": seen.lane,
        "outcome": seen.outcome,
        "is_error": seen.is_error,
        "blocks": blocks,
        "dropped": [f"{drop['what']} {drop['why']}" for drop in decision.get("dropped", [])],
        "notes": [f"{note['code']} {note['count']}" for note in decision.get("notes", [])],
        "deviates": decision.get("deviates", []),
    }
    assert {name: got[name] for name in got if name in expect} == {name: expect[name] for name in got if name in expect}
    if "fact" in expect:
        assert expect["fact"].encode() in seen.decision_json
    if "rule" in expect:
        assert expect["rule"] in [setting["rule"] for setting in decision["settings"].values()]


@pytest.mark.parametrize(("given", "case"), ALL)
def test_case_against_the_command_line(given, case, tmp_path):
    command = command_line()
    if command is None:
        missing("the command line is not built: cargo build --release")
    if "policy_toml" in given:
        policy = tmp_path / "policy.toml"
        policy.write_text(given["policy_toml"], encoding="utf-8")
        engine = mcp_select.Engine.open(policy)
    else:
        policy = given["policy"]
        engine = mcp_select.Engine.builtin(policy)
    route = route_of(case)
    flags = ["--policy", str(policy)]
    for name in ("server", "tool", "audience", "revision", "input"):
        flags += [f"--{name}", route[name]] if route[name] is not None else []
    if route["tool_definition"] is not None:
        (tmp_path / "tool.json").write_text(route["tool_definition"], encoding="utf-8")
        flags += ["--tool-definition", str(tmp_path / "tool.json")]
    for name, value in (route["labels"] or {}).items():
        flags += ["--label", f"{name}={value}"]
    for extension in route["extensions"] or []:
        flags += ["--extension", extension]

    def run(verb, *more):
        return subprocess.run([command, verb, *flags, *more], input=wire_of(case), capture_output=True, timeout=60)

    shown = run("select")
    try:
        seen = engine.select(wire_of(case), **route)
    except mcp_select.Error as error:
        assert shown.returncode != 0
        assert shown.stderr.decode() == f"error: {error}\n"
        return
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout == minified(seen.json) + b"\n"
    if seen.outcome == "selected":
        record = run("explain", "--format", "json").stdout
        assert record.rstrip(b"\n") == seen.decision_json
        assert json.loads(record) == seen.decision
