"""The loaded library, checked, and the pool of its selections.

A native selection is a buffer that one thread uses at a time. A `Selection` takes one out of the pool for its lifetime and
gives it back, so that a call allocates nothing once the pool is warm.
"""

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


class Native:
    """A native selection, and the out-parameters of a call with it."""

    __slots__ = ("error", "large", "length", "selection")

    def __init__(self) -> None:
        slot = ffi.new("mcp_select_selection **")
        if lib.mcp_select_selection_new(slot) != 0:
            raise MemoryError
        self.selection = ffi.gc(slot[0], lib.mcp_select_selection_free)
        self.large = False
        self.length = ffi.new("size_t *")
        self.error = ffi.new("mcp_select_error **")


# Bounded: what does not fit is freed. Appending and popping are atomic, with the GIL and without.
POOL: Final[deque[Native]] = deque(maxlen=64)
# A buffer that grew beyond this is cut back before it returns to the pool.
KEEP_BYTES: Final = 1 << 20
