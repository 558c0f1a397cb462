"""The loaded library, checked, and the pool of its selections.

A native selection is a buffer that one thread uses at a time. A `Selection` takes one out of the pool for its
lifetime and gives it back, so that the library allocates nothing once the pool is warm.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final

from mcp_select._native import ffi, lib

if TYPE_CHECKING:
    from mcp_select._native import CData

if not lib.mcp_select_abi_min_compatible() <= lib.MCP_SELECT_ABI_VERSION <= lib.mcp_select_abi_version():
    raise ImportError("mcp_select: the library and the header that this package was built on do not fit")


def read(accessor: Any, *arguments: CData) -> bytes:
    """Call an accessor that gives a pointer and a length, and copy what it points to; nothing gives `b""`."""
    length = ffi.new("size_t *")
    start = accessor(*arguments, length)
    return bytes(ffi.buffer(start, length[0])) if length[0] else b""


VERSION: Final[str] = read(lib.mcp_select_version).decode()


# A native selection with the out-parameters of a call: `struct call` of build_ffi.py. It has no finalizer: when the
# garbage collector takes a cycle, it finalizes all that is in it, also what a finalizer next to it has just put back
# into the pool.

# Those that wait for the next call. Appending and popping are atomic, with the GIL and without.
POOL: Final[deque[CData]] = deque()
# About as many wait; what does not fit is freed.
POOL_SIZE: Final = 64
# A selection that has seen a larger result gives the memory beyond this back before it returns to the pool.
KEEP_BYTES: Final = 1 << 20


def new_call() -> CData:
    """Make a native selection. Hand it to `give_back`, or it is never freed."""
    call = ffi.new("struct call *")
    slot = ffi.new("mcp_select_selection **")
    if lib.mcp_select_selection_new(slot) != 0:
        raise MemoryError
    call.selection = slot[0]
    return call


def give_back(call: CData) -> None:
    """Put a native selection that nobody reads any more into the pool, or free it when enough wait there."""
    if call.result_len > KEEP_BYTES:
        lib.mcp_select_selection_trim(call.selection, KEEP_BYTES)
        call.result_len = 0
    if len(POOL) < POOL_SIZE:
        POOL.append(call)
    else:
        selection, call.selection = call.selection, ffi.NULL
        lib.mcp_select_selection_free(selection)
