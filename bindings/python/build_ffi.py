"""The raw layer, made of the committed C header: what cffi compiles, and the type stub of the module that comes of it.

cffi's API mode lets the C compiler check every declaration against the header. `python build_ffi.py` writes
`mcp_select/_native.pyi` anew (the tests fail when it is stale), `python build_ffi.py --check` only compares. `setup.py`
builds the module; what is put round it stands in `mcp_select/_engine.py`.
"""

import re
import sys
import sysconfig
from pathlib import Path

import cffi

HERE = Path(__file__).resolve().parent
STUB = HERE / "mcp_select" / "_native.pyi"
# A source distribution carries the Rust crate in `rust`; in a clone it stands two folders up.
CRATE = HERE / "rust" if (HERE / "rust").is_dir() else HERE.parent.parent
HEADER = CRATE / "include" / "mcp_select.h"

# A free-threaded Python has no limited API yet.
LIMITED_API = not sysconfig.get_config_var("Py_GIL_DISABLED")

# The second module of the shared library.
HOT = "hot.c"


def declarations(header: str) -> str:
    """Return what the header declares, without comments and preprocessor lines, but with its numeric macros."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    text = re.sub(r"^#if defined\(__cplusplus\)\n.*?^#endif\n", "", text, flags=re.DOTALL | re.MULTILINE)
    lines = [
        line.rstrip()
        for line in text.splitlines()
        if line.strip() and (not line.startswith("#") or re.fullmatch(r"#define \w+ -?\d+", line.rstrip()))
    ]
    return "\n".join(lines) + "\n"


def _python_type(c_type: str) -> str:
    if "*" in c_type:
        # cffi takes bytes for the bytes that a call only reads.
        return "bytes | CData" if re.fullmatch(r"const uint8_t \*", c_type) else "CData"
    return "None" if c_type == "void" else "int"


def stub(cdef: str) -> str:
    """Return the type stub of the compiled module, one line for each declaration."""
    enumerators = re.findall(r"^\s+(MCP_SELECT_\w+)\s*=", cdef, flags=re.MULTILINE)
    macros = re.findall(r"^#define (\w+)", cdef, flags=re.MULTILINE)
    lines = [
        "# Made of include/mcp_select.h by build_ffi.py; do not edit it.",
        "from typing import Any, Final, Protocol",
        "",
        "class CData(Protocol):",
        "    def __getitem__(self, index: int, /) -> Any: ...",
        "    def __setitem__(self, index: int, value: Any, /) -> None: ...",
        "    def __int__(self) -> int: ...",
        "",
        "class _FFI:",
        "    NULL: Final[CData]",
        "    def new(self, cdecl: str, init: Any = None, /) -> CData: ...",
        "    def gc(self, cdata: CData, destructor: Any, size: int = 0, /) -> CData: ...",
        "    def cast(self, cdecl: str, value: CData | int, /) -> CData: ...",
        "    def buffer(self, cdata: CData, size: int, /) -> memoryview: ...",
        "",
        "class _Lib:",
    ]
    lines += [f"    {name}: Final[int]" for name in [*macros, *enumerators]]
    for returned, name, parameters in re.findall(r"^([\w ]+?[ *]+)(mcp_select_\w+)\(([^)]*)\);", cdef, flags=re.M):
        arguments = ["self"]
        for parameter in re.sub(r"\s+", " ", parameters).split(","):
            if parameter.strip() == "void":
                continue
            match = re.fullmatch(r"\s*(.*?[ *]+)(\w+)\s*", parameter)
            if match is None:
                raise ValueError(f"{name}: a parameter that this script does not know: {parameter!r}")
            c_type, argument = match.groups()
            arguments.append(f"{argument}: {_python_type(c_type.strip())}")
        comma = ", /" if len(arguments) > 1 else ""
        result = "CData" if "*" in returned else _python_type(returned.strip())
        line = f"    def {name}({', '.join(arguments)}{comma}) -> {result}: ..."
        if len(line) > 120:
            inside = ",\n        ".join(arguments)
            line = f"    def {name}(\n        {inside},\n        /,\n    ) -> {result}: ..."
        lines.append(line)
    return "\n".join([*lines, "", "ffi: Final[_FFI]", "lib: Final[_Lib]", ""])


def builder() -> cffi.FFI:
    """Return the builder of `mcp_select._native`. `setup.py` adds the static library."""
    made = cffi.FFI()
    made.cdef(declarations(HEADER.read_text(encoding="utf-8")))
    if sys.platform == "win32":
        libraries, link = ["ws2_32", "userenv", "ntdll", "bcrypt", "kernel32", "advapi32"], []
    elif sys.platform == "darwin":
        libraries = []
        link = [f"-Wl,-exported_symbol,_PyInit_{name}" for name in ("_native", "_hot")] + ["-Wl,-dead_strip", "-Wl,-x"]
    else:
        # The two modules alone go out, so that two Rust libraries in one process never meet.
        libraries = ["pthread", "dl", "m"]
        link = ["-Wl,--exclude-libs,ALL", "-Wl,--gc-sections", "-Wl,-s", f"-Wl,--version-script={HERE / 'exports.map'}"]
    made.set_source(
        "mcp_select._native",
        '#include "mcp_select.h"',
        sources=[HOT],
        py_limited_api=LIMITED_API,
        define_macros=[("Py_LIMITED_API", "0x030A0000")] if LIMITED_API else [],
        include_dirs=[str(HEADER.parent)],
        libraries=libraries,
        extra_link_args=link,
        depends=[str(HEADER), HOT],
    )
    return made


def main() -> int:
    """Write the stub, or with `--check` say whether it is stale."""
    fresh = stub(declarations(HEADER.read_text(encoding="utf-8")))
    if "--check" in sys.argv[1:]:
        if STUB.read_text(encoding="utf-8") == fresh:
            return 0
        print(f"{STUB.name} is not what include/mcp_select.h says: run python build_ffi.py", file=sys.stderr)
        return 1
    STUB.write_text(fresh, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
