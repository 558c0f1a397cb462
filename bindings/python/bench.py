"""What a call costs: `select` against what a host does without it, in one process, on rotating inputs.

    python bench.py [--rounds 40] [--json FILE]

Medians of nanoseconds a call over rounds that take turns, so that a busy machine hits all alike. The others do what
`sep-2200` does for a model: hide blocks for people, drop `_meta` and blank texts, and fall back on the structured
value; that all give the same result is checked first. `orjson` and `mcp` (which only parses and checks) are measured
when they are installed. Exits with 1 when `select` is not at least 5 times as fast as `json` or twice as fast as
`orjson` at 2 KB, the shapes taken together. `--json` writes the figures as rows, as `make bench` merges them.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mcp_select

Select = Callable[[bytes], Any]
PROSE = "The forecast for the next days says rain in the morning and sun in the afternoon, with winds from the west. "
SHAPES = ["text", "twice", "prose + value", "value"]
SIZES = {"200 B": 200, "2 KB": 2000}
# As rows name them.
ROWS = {
    "select (sep-2200)": "python: mcp-select",
    "select (lossless)": "python: mcp-select, lossless",
    "json": "python: json",
    "orjson": "python: orjson",
    "mcp model_validate_json": "python: mcp",
}


def items(seed: int, size: int) -> dict[str, Any]:
    """Return a value whose JSON has about `size` bytes."""
    listed: list[dict[str, Any]] = [{"id": seed, "title": "Fix it"}]
    while len(json.dumps({"items": listed})) < size - 40:
        number = seed * 1000 + len(listed)
        listed.append({"id": number, "title": f"Fix the parser {number}", "state": "open", "score": number / 8})
    return {"items": listed}


def results(shape: str, size: int) -> list[bytes]:
    """Return 64 different results of about `size` bytes."""
    made = []
    for seed in range(64):
        prose = f"{seed}. " + PROSE * (size // len(PROSE) + 1)
        words, value = prose, None
        if shape == "text":
            words = prose[: size - 60]
        elif shape == "twice":
            value = items(seed, size * 2 // 5 - 30)
            words = json.dumps(value)
        else:
            value = items(seed, size // 2 if shape == "prose + value" else size - 60)
            words = prose[: size // 2 - 100]
        result: dict[str, Any] = {"content": [{"type": "text", "text": words}] if shape != "value" else []}
        if value is not None:
            result["structuredContent"] = value
        made.append(json.dumps(result).encode())
    return made


def by_hand(load: Callable[[bytes], Any], dump: Callable[[Any], bytes]) -> Select:
    """Return what hosts write today: parse, a few ifs, write again."""

    def select(wire: bytes) -> bytes:
        result = load(wire)
        seen = []
        for block in result.get("content") or []:
            audience = (block.get("annotations") or {}).get("audience")
            if audience and "assistant" not in audience:
                continue
            block.pop("_meta", None)
            if block["type"] == "text" and not block["text"].strip():
                continue
            seen.append(block)
        value = result.get("structuredContent")
        if not seen:
            words = "(no output)" if value is None else dump(value).decode()
            seen = [{"type": "text", "text": words}]
        shown: dict[str, Any] = {"content": seen}
        if result.get("isError"):
            shown["isError"] = True
        return dump(shown)

    return select


def selecting(policy: str) -> Select:
    """Return a call with a built-in policy."""
    engine = mcp_select.Engine.builtin(policy)
    return lambda wire: engine.select(wire, server="github", tool="list_issues").json


def contestants() -> dict[str, Select]:
    """Return what is measured, by name."""
    found: dict[str, Select] = {
        "select (sep-2200)": selecting("sep-2200"),
        "select (lossless)": selecting("lossless"),
        "json": by_hand(json.loads, lambda value: json.dumps(value, separators=(",", ":")).encode()),
    }
    try:
        import orjson

        found["orjson"] = by_hand(orjson.loads, orjson.dumps)
    except ImportError:
        pass
    for name in ("json", "orjson"):
        for wire in results("value", 2000) + results("twice", 200) if name in found else []:
            assert json.loads(found[name](wire)) == json.loads(found["select (sep-2200)"](wire)), wire
    try:
        from mcp.types import CallToolResult

        found["mcp model_validate_json"] = CallToolResult.model_validate_json
    except ImportError:
        pass
    return found


def measured(runners: dict[str, Select], wires: list[bytes], rounds: int) -> dict[str, float]:
    """Return the median of nanoseconds a call."""
    times: dict[str, list[float]] = {name: [] for name in runners}
    for _ in range(rounds):
        for name, run in runners.items():
            started = time.perf_counter_ns()
            for wire in wires:
                run(wire)
            times[name].append((time.perf_counter_ns() - started) / len(wires))
    return {name: statistics.median(found) for name, found in times.items()}


def main() -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description="what a call costs")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures as rows")
    arguments = parser.parse_args()
    rounds = arguments.rounds
    runners = contestants()
    print(f"Python {sys.version.split()[0]}, mcp-select {mcp_select.__version__}; ns a call, median of {rounds} rounds")
    sums: dict[str, float] = {}
    rows: list[dict[str, Any]] = []
    for size, count in SIZES.items():
        table = {shape: measured(runners, results(shape, count), rounds) for shape in SHAPES}
        print(f"\n{size:26}" + "".join(f"{shape:>15}" for shape in SHAPES) + f"{'together':>12}")
        for name in runners:
            sums[name] = sum(row[name] for row in table.values())
            print(f"{name:26}" + "".join(f"{table[shape][name]:15.0f}" for shape in SHAPES) + f"{sums[name]:12.0f}")
            for shape in SHAPES:
                rows.append({"shape": shape, "bytes": count, "who": ROWS[name], "ns": round(table[shape][name], 1)})
    if arguments.json:
        arguments.json.write_text(json.dumps(rows), encoding="utf-8")
    failed = 0
    for name, goal in {"json": 5.0, "orjson": 2.0}.items():
        if name in sums:
            ratio = sums[name] / sums["select (sep-2200)"]
            print(f"\nat 2 KB select is {ratio:.1f} times as fast as {name} (goal: {goal:.0f})")
            failed += ratio < goal
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
