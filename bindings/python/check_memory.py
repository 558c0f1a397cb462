"""Runs the binding under valgrind: no invalid access and no leak in the native module or through it.

    python check_memory.py

runs itself three times: as it is, which must be clean, then with a leak and with a read beyond a buffer on purpose.
Those must be found, or nothing was looked at. What valgrind says of the interpreter alone is left out.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

RESULTS = [
    b'{"content":[{"type":"text","text":"2 days found."}],"structuredContent":{"days":["rain","sun"],"n":1.50}}',
    b'{"content":[{"type":"image","data":"AAAA","mimeType":"image/png","_meta":{"k":1}}],"isError":true,"_meta":{"a":1}}',
    b'{"resultType":"input_required","inputRequests":{}}',
    b'{"content":[{"type":"text","text":"\\u001b[1mbold\\ud83e\\udd8a"}]}',
]
BROKEN = [b"", b'{"content":[', b'{"content":["\xff"]}', b'{"content":7}']
POLICY = 'version = 1\nextends = "lossless"\n[audience.model]\nlimit = { chars = 70 }\nsanitize = ["ansi"]\n'


def calls() -> None:
    """Use all of the binding, and let go of it."""
    import mcp_select

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "policy.toml")
        path.write_text(POLICY)
        engines = [mcp_select.Engine(POLICY), mcp_select.Engine.builtin("raw"), mcp_select.Engine.open(path)]
        for engine in engines:
            for audience in ("model", "code", "user", "app", "nobody"):
                select(engine, audience)
            engine.diagnostics()
            engine.table(server="s", tool="t")
            engine.auto_reload(0)
        path.write_text(POLICY + "hide = true\n")
        engines[2].reload()
        engines[0].replace(POLICY + "hide = true\n")
        for policy in ("version = 2", "", "version = 1\norder = 7"):
            try:
                mcp_select.Engine(policy)
            except mcp_select.PolicyError as error:
                str(error)


def select(engine: object, audience: str) -> None:
    """Select from every result, read all there is, and keep some selections a while."""
    import mcp_select

    assert isinstance(engine, mcp_select.Engine)
    kept = []
    for result in RESULTS * 3 + BROKEN:
        try:
            seen = engine.select(result, server="s", tool="t", audience=audience, labels={"ring": "x"})
        except mcp_select.Error as error:
            str(error)
            continue
        kept.append(seen)
        if seen.outcome == "selected":
            assert seen.json
            assert isinstance(seen.text(), str)
        assert seen.decision["outcome"] == seen.outcome
        assert all(block.kind for block in seen.blocks)


def leak() -> None:
    """Lose an engine."""
    from mcp_select._native import ffi, lib

    slot = ffi.new("mcp_select_engine **")
    lib.mcp_select_engine_builtin(b"raw", 3, slot, ffi.NULL)


def overrun() -> None:
    """Name one byte more than there is."""
    from mcp_select._native import ffi, lib

    slot = ffi.new("mcp_select_engine **")
    text = b"version = 1\n" * 100
    lib.mcp_select_engine_new(ffi.new("uint8_t[]", text), len(text) + 64, slot, ffi.NULL)


def found(what: str) -> list[str]:
    """Run this file under valgrind, and return what is wrong in the native module or under it."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        command = ["valgrind", "--leak-check=full", "--show-leak-kinds=definite", "--num-callers=30", "--xml=yes"]
        command += [f"--xml-file={report}", sys.executable, "-I", __file__, what]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONMALLOC": "malloc"})
        errors = ET.parse(report).getroot().findall("error")
    mine = []
    for error in errors:
        frames = [(frame.findtext("obj", ""), frame.findtext("fn", "???")) for frame in error.iter("frame")]
        if any("_native" in name for name, _ in frames):
            text = error.findtext("what") or error.findtext("xwhat/text", "")
            mine.append("\n  ".join([f"{error.findtext('kind')}: {text}", *(f"{fn} in {name}" for name, fn in frames)]))
    return mine


def main() -> None:
    """Check the binding, and that the check can fail."""
    if len(sys.argv) == 2:
        from mcp_select._raw import hot

        {"calls": calls, "leak": leak, "overrun": overrun}[sys.argv[1]]()
        gc.collect()
        # They are meant to last as long as the process.
        hot.empty_pool()
        return
    faults = found("calls")
    if faults:
        raise SystemExit("\n".join(faults))
    for planted in ("leak", "overrun"):
        if not found(planted):
            raise SystemExit(f"error: {planted}: a fault on purpose was not found")
    print("no invalid access and no leak in the native module; those on purpose were found")


main()
