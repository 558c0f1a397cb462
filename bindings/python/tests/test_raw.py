"""The raw layer says what the committed header says."""

import importlib.util
import re
import shutil
import subprocess
import sys
import sysconfig
from typing import get_args

import pytest
from recorded import BINDING, PROJECT

import mcp_select
from mcp_select._native import lib

HEADER = PROJECT / "include" / "mcp_select.h"

# Not through sys.path: the folder of the sources holds no compiled module.
_spec = importlib.util.spec_from_file_location("build_ffi", BINDING / "build_ffi.py")
build_ffi = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(build_ffi)


def test_the_stub_is_fresh():
    check = subprocess.run([sys.executable, str(BINDING / "build_ffi.py"), "--check"], capture_output=True, text=True)
    assert check.returncode == 0, check.stderr


def test_every_name_of_the_header_is_in_the_module_and_in_the_stub():
    header = re.sub(r"/\*.*?\*/", "", HEADER.read_text(encoding="utf-8"), flags=re.DOTALL)
    functions = set(re.findall(r"\b(mcp_select_[a-z_]+)\(", header))
    numbers = set(re.findall(r"\b(MCP_SELECT_[A-Z_0-9]+)\b\s*(?:=| [0-9])", header))
    assert len(functions) > 30
    assert len(numbers) > 30
    assert {name for name in dir(lib) if name.lower().startswith("mcp_select_")} == functions | numbers
    stub = (BINDING / "mcp_select" / "_native.pyi").read_text(encoding="utf-8")
    assert set(re.findall(r"    def (mcp_select_\w+)\(", stub)) == functions


def test_a_changed_header_changes_the_stub():
    text = HEADER.read_text(encoding="utf-8")
    changed = text.replace(
        "mcp_select_engine_free(mcp_select_engine *engine)", "mcp_select_engine_free(int32_t engine)"
    )
    assert changed != text
    assert build_ffi.stub(build_ffi.declarations(changed)) != build_ffi.stub(build_ffi.declarations(text))


@pytest.mark.parametrize(
    ("words", "prefix", "between"),
    [
        (mcp_select.Outcome, "MCP_SELECT_OUTCOME_", "_"),
        (mcp_select.Lane, "MCP_SELECT_LANE_", "-"),
        (mcp_select.BlockKind, "MCP_SELECT_BLOCK_", "-"),
    ],
)
def test_the_words_are_those_of_the_header(words, prefix, between):
    names = sorted((name for name in dir(lib) if name.startswith(prefix)), key=lambda name: getattr(lib, name))
    assert list(get_args(words)) == [name.removeprefix(prefix).lower().replace("_", between) for name in names]


def test_the_version_is_the_crates():
    crate = re.search(r'^version = "([^"]+)"', (PROJECT / "Cargo.toml").read_text(encoding="utf-8"), re.M)[1]
    assert mcp_select.__version__ == crate


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no cc")
@pytest.mark.parametrize("build", ["Py_LIMITED_API=0x030A0000", "Py_GIL_DISABLED=1"])
def test_the_hot_path_compiles_without_warnings(build):
    if build.startswith("Py_GIL") and sys.version_info < (3, 13):
        pytest.skip("free-threaded builds begin with 3.13")
    places = [f"-I{sysconfig.get_path('include')}", f"-I{HEADER.parent}"]
    command = ["cc", "-fsyntax-only", "-std=c11", "-Wall", "-Wextra", "-Werror", f"-D{build}", *places, "hot.c"]
    compiled = subprocess.run(command, cwd=BINDING, capture_output=True, text=True)
    assert compiled.returncode == 0, compiled.stderr
