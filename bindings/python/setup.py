"""Builds the wheel: cargo makes the static library, the C compiler the module round it.

Everything that is no code is in `pyproject.toml`; the version is the crate's.
"""

import atexit
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from setuptools import setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))  # a PEP 517 build does not put this folder there

import build_ffi  # noqa: E402

# Cargo features of the library inside, comma-separated.
FEATURES = os.environ.get("MCP_SELECT_FEATURES", "")
# What the crate is built from: goes into the source distribution.
SOURCES = [
    "Cargo.toml",
    "Cargo.lock",
    "build.rs",
    "src",
    "rules",
    "include",
    "docs/lints",
    "README.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
]


def version() -> str:
    """Return the crate's version, in the spelling of Python."""
    found = re.search(r'^version = "([^"]+)"', (build_ffi.CRATE / "Cargo.toml").read_text(encoding="utf-8"), re.M)
    if found is None:
        raise SystemExit("Cargo.toml names no version")
    return re.sub(r"-(alpha|beta|rc)\.?", lambda pre: {"alpha": "a", "beta": "b", "rc": "rc"}[pre[1]], found[1])


def static_library() -> str:
    """Build the crate as a static library and return its path."""
    command = ["cargo", "rustc", "--release", "--lib", "--crate-type", "staticlib", "--no-default-features", "--locked"]
    command += ["--features", FEATURES] if FEATURES else []
    command += ["--manifest-path", str(build_ffi.CRATE / "Cargo.toml"), "--message-format", "json-render-diagnostics"]
    try:
        built = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    except FileNotFoundError:
        raise SystemExit(
            "mcp-select is built from Rust source: install cargo (https://rustup.rs) and try again"
        ) from None
    for line in built.stdout.splitlines():
        message = json.loads(line)
        if message.get("reason") == "compiler-artifact" and message["target"]["name"] == "mcp_select":
            for name in message["filenames"]:
                if name.endswith((".a", ".lib")):
                    return str(name)
    raise SystemExit("cargo named no static library")


class BuildExt(build_ext):  # type: ignore[misc]
    """Runs cargo first, then links what it made."""

    def run(self) -> None:
        """Build the extension."""
        library = static_library()
        for extension in self.extensions:
            extension.extra_objects = [library]
            extension.depends = [*extension.depends, library]
        super().run()


class Sdist(sdist):  # type: ignore[misc]
    """Adds the Rust source."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        """Copy the crate into `rust`."""
        super().make_release_tree(base_dir, files)
        for name in SOURCES:
            source, target = build_ffi.CRATE / name, Path(base_dir, "rust", name)
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, dirs_exist_ok=True)
            elif source.is_file():
                shutil.copy2(source, target)


# Not in this folder: what an earlier version left there would go into the wheel.
BUILD = tempfile.mkdtemp(prefix="mcp-select-")
atexit.register(shutil.rmtree, BUILD, ignore_errors=True)
LIMITED = {"bdist_wheel": {"py_limited_api": "cp310"}} if build_ffi.LIMITED_API else {}

setup(
    version=version(),
    cffi_modules=["build_ffi.py:builder"],
    cmdclass={"build_ext": BuildExt, "sdist": Sdist},
    options={"build": {"build_base": BUILD}, **LIMITED},
)
