"""What a call costs: `select` against what a host does without it, in one process, on rotating inputs.

    python bench.py [--rounds 40]

Medians of nanoseconds a call over rounds that take turns, so that a busy machine hits all alike. Sizes are bytes of the
result. Needs nothing but mcp-select; `orjson` and `mcp` are measured when they are installed. Exits with 1 when `select` is
not at least 5 times as fast as `json` or twice as fast as `orjson` at 2 KB.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import mcp_select


def results(size: int) -> list[bytes]:
    """Return 64 different results of about `size` bytes, the data as text and as a value."""
    made = []
    for seed in range(64):
        items: list[dict[str, Any]] = []
        while True:
            number = seed * 1000 + len(items)
            items.append({"id": number, "title": f"Fix the parser {number}", "state": "open", "score": number / 8})
            value = {"items": items}
            text = {"type": "text", "text": json.dumps(value)}
            result = json.dumps({"content": [text], "structuredContent": value}).encode()
            if len(result) >= size:
                break
        if size < 400:  # the smallest that still has both
            value = {"id": seed}
            text = {"type": "text", "text": f"issue {seed}: " + "x" * (size - 100)}
            result = json.dumps({"content": [text], "structuredContent": value}).encode()
        made.append(result)
    return made


def by_hand(load: Callable[[bytes], Any], dump: Callable[[Any], bytes]) -> Callable[[bytes], bytes]:
    """Return what hosts write today: parse, a few ifs, write again."""

    def select(wire: bytes) -> bytes:
        result = load(wire)
        if result.get("content"):
            return dump({"content": result["content"]})
        if result.get("structuredContent") is not None:
            return dump({"content": [{"type": "text", "text": dump(result["structuredContent"]).decode()}]})
        return dump({"content": [{"type": "text", "text": "(no output)"}]})

    return select


def contestants() -> dict[str, Callable[[bytes], Any]]:
    """Return what is measured, by name."""
    engines = {name: mcp_select.Engine.builtin(name) for name in ("sep-2200", "lossless")}

    def selecting(engine: mcp_select.Engine) -> Callable[[bytes], bytes]:
        return lambda wire: engine.select(wire, server="github", tool="list_issues").json

    found: dict[str, Callable[[bytes], Any]] = {
        "select (sep-2200)": selecting(engines["sep-2200"]),
        "select (lossless)": selecting(engines["lossless"]),
        "select (sep-2200).text()": lambda wire: (
            engines["sep-2200"].select(wire, server="github", tool="list_issues").text()
        ),
        "json": by_hand(json.loads, lambda value: json.dumps(value, separators=(",", ":")).encode()),
    }
    try:
        import orjson

        found["orjson"] = by_hand(orjson.loads, orjson.dumps)
    except ImportError:
        pass
    try:
        from mcp.types import CallToolResult

        found["mcp model_validate_json"] = CallToolResult.model_validate_json
    except ImportError:
        pass
    return found


def main() -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description="what a call costs")
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    runners = contestants()
    sizes = {"200 B": results(200), "2 KB": results(2000)}
    medians: dict[str, dict[str, float]] = {name: {} for name in runners}
    for size, wires in sizes.items():
        times: dict[str, list[float]] = {name: [] for name in runners}
        for _ in range(rounds):
            for name, run in runners.items():
                started = time.perf_counter_ns()
                for _ in range(4):
                    for wire in wires:
                        run(wire)
                times[name].append((time.perf_counter_ns() - started) / (4 * len(wires)))
        for name, found in times.items():
            medians[name][size] = statistics.median(found)
    lengths = {size: round(statistics.mean(len(wire) for wire in wires)) for size, wires in sizes.items()}
    print(f"Python {sys.version.split()[0]}, mcp-select {mcp_select.__version__}, bytes: {lengths}")
    print(f"{'ns a call':28}" + "".join(f"{size:>12}" for size in sizes))
    for name, found in medians.items():
        print(f"{name:28}" + "".join(f"{found[size]:12.0f}" for size in sizes))
    own = medians["select (sep-2200)"]["2 KB"]
    goals = {"json": 5.0, "orjson": 2.0}
    failed = 0
    for name, goal in goals.items():
        if name in medians:
            times_as_fast = medians[name]["2 KB"] / own
            print(f"at 2 KB select is {times_as_fast:.1f} times as fast as {name} (goal {goal:.0f})")
            failed += times_as_fast < goal
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
