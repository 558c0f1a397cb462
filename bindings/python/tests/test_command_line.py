"""Recorded results under three policies: the output and the decision record have the bytes of the command line."""

import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
from recorded import command_line, corpus, minified, missing

import mcp_select


@pytest.mark.parametrize("policy", ["sep-2200", "lossless", "text-only"])
def test_recorded_results(policy):
    results, command = corpus(), command_line()
    if not results or command is None:
        missing("no recorded results (MCP_SELECT_CORPUS)" if not results else "the command line is not built")
    engine = mcp_select.Engine.builtin(policy)

    def different(found):
        server, tool, revision, path = found
        wire = path.read_bytes()
        flags = ["--policy", policy, "--server", server, "--tool", tool, "--revision", revision, str(path)]
        shown = subprocess.run([command, "select", *flags], capture_output=True, timeout=60)
        try:
            seen = engine.select(wire, server=server, tool=tool, revision=revision)
        except mcp_select.Error as error:
            return None if shown.stderr.decode() == f"error: {error}\n" else (path, shown.stderr)
        if shown.stdout != minified(seen.json) + b"\n":
            return (path, "output")
        record = subprocess.run([command, "explain", "--format", "json", *flags], capture_output=True, timeout=60)
        return None if record.stdout.rstrip(b"\n") == seen.decision_json else (path, "record")

    with ThreadPoolExecutor(2) as pool:
        differences = [found for found in pool.map(different, results) if found]
    assert differences == []
    assert len(results) > 500
