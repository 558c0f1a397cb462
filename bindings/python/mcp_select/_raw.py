"""The loaded library, checked, and the pool of its selections.

A native selection is a buffer that one thread uses at a time. A `Selection` takes one out of the pool for its lifetime and
gives it back, so that a call allocates nothing once the pool is warm.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from mcp_select._native import ffi, lib

if not lib.mcp_select_abi_min_compatible() <= lib.MCP_SELECT_ABI_VERSION <= lib.mcp_select_abi_version():
    raise ImportError("mcp_select: the library and the header that this package was built on do not fit")


def read(bytes_of: "object", *arguments: "object") -> bytes:
    """Call an accessor that gives a pointer and a length, and copy what it points to; nothing gives `b""`."""
    length = ffi.new("size_t *")
    start = bytes_of(*arguments, length)  # type: ignore[operator]
    return ffi.buffer(start, length[0])[:] if length[0] else b""  # type: ignore[return-value]


VERSION: Final[str] = read(lib.mcp_select_version).decode()


# Selections that wait for the next call. Appending and popping are atomic, with the GIL and without.
POOL: Final[deque[Native]] = deque()
# About as many wait; what does not fit is freed.
POOL_SIZE: Final = 64
# A buffer that grew beyond this is cut back before it returns to the pool.
KEEP_BYTES: Final = 1 << 20


class Native:
    """A native selection, and the out-parameters of a call with it.

    It has no finalizer, and neither has the pointer in it: when the garbage collector takes a cycle, it finalizes all that
    is in it, also what a finalizer next to it has just put back into the pool.
    """

    __slots__ = ("error", "large", "length", "selection")

    def __init__(self) -> None:
        slot = ffi.new("mcp_select_selection **")
        if lib.mcp_select_selection_new(slot) != 0:
            raise MemoryError
        self.selection = slot[0]
        self.large = False
        self.length = ffi.new("size_t *")
        self.error = ffi.new("mcp_select_error **")


def give_back(native: Native) -> None:
    """Put a native selection that nobody reads any more into the pool, or free it when enough wait there."""
    if native.large:
        native.large = False
        lib.mcp_select_selection_trim(native.selection, KEEP_BYTES)
    if len(POOL) < POOL_SIZE:
        POOL.append(native)
    else:
        selection, native.selection = native.selection, ffi.NULL
        lib.mcp_select_selection_free(selection)
