"""Where the tests find the project's files, the recorded results and the command line."""

import json
import os
import re
from pathlib import Path

import pytest

BINDING = Path(__file__).resolve().parent.parent
PROJECT = BINDING.parent.parent
CASES = Path(os.environ.get("MCP_SELECT_CASES", PROJECT / "tests" / "cases"))


def missing(what):
    """Skip, but on a continuous integration machine fail."""
    if os.environ.get("CI") == "true":
        pytest.fail(what)
    pytest.skip(what)


def corpus():
    """The results that were recorded, as (server, tool, protocol revision, path). They stand outside the project."""
    root = Path(os.environ.get("MCP_SELECT_CORPUS", PROJECT.parent / "shared" / "corpus"))
    found = []
    for calls in sorted(root.glob("*/calls.jsonl")):
        for line in calls.read_text(encoding="utf-8").split("\n"):
            call = json.loads(line) if line else None
            if call and not call["is_protocol_error"]:
                found.append((call["server"], call["tool"], call["protocol_version"], calls.parent / call["file"]))
    return found


def command_line():
    """The path of the command line, built beside this binding; `None` when it is not."""
    named = os.environ.get("MCP_SELECT_COMMAND")
    target = Path(os.environ.get("CARGO_TARGET_DIR", PROJECT / "target"))
    candidates = [Path(named)] if named else [target / kind / "mcp-select" for kind in ("release", "debug")]
    return next((path for path in candidates if path.is_file()), None)


def minified(json_bytes):
    """JSON without white space between tokens, the tokens as they are: what the command line prints."""
    return re.sub(rb'("(?:[^"\\]|\\.)*")|[ \t\r\n]+', lambda token: token[1] or b"", json_bytes, flags=re.DOTALL)
