"""The loaded library, checked: what cffi made of the header, and the hot path of `hot.c`."""

from __future__ import annotations

import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from typing import TYPE_CHECKING, Any, Final

from mcp_select import _native
from mcp_select._native import ffi, lib

if TYPE_CHECKING:
    from types import ModuleType

    from mcp_select._native import CData

if not lib.mcp_select_abi_min_compatible() <= lib.MCP_SELECT_ABI_VERSION <= lib.mcp_select_abi_version():
    raise ImportError("mcp_select: the library and the header that this package was built on do not fit")


def _load_hot() -> ModuleType:
    """Load the second module of the shared library: it is found by the name of its file alone (PEP 489)."""
    name, path = "mcp_select._hot", _native.__file__
    spec = spec_from_file_location(name, path, loader=ExtensionFileLoader(name, path))
    if spec is None or spec.loader is None:
        raise ImportError(f"{name} cannot be loaded from {path}")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[name] = module
    return module


if TYPE_CHECKING:
    from mcp_select import _hot

    hot = _hot
else:
    hot = _load_hot()


def address(native: CData) -> int:
    """Return the address of a native object."""
    return int(ffi.cast("uintptr_t", native))


def read(accessor: Any, *arguments: CData) -> bytes:
    """Call an accessor that gives a pointer and a length, and copy what it points to; nothing gives `b""`."""
    length = ffi.new("size_t *")
    start = accessor(*arguments, length)
    return bytes(ffi.buffer(start, length[0])) if length[0] else b""


VERSION: Final[str] = read(lib.mcp_select_version).decode()
