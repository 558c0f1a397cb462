"""What a call came to: the result as one audience sees it, and why."""

from __future__ import annotations

import json
import os
import threading
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeVar

from mcp_select._error import Error
from mcp_select._native import ffi, lib
from mcp_select._raw import hot, read

if TYPE_CHECKING:
    from mcp_select._native import CData

Outcome = Literal["selected", "needs_input", "task"]
Lane = Literal["nothing", "content", "structured", "structured-only", "both", "raw", "whole"]
BlockKind = Literal["kept", "rewritten", "note", "added"]
_Any = TypeVar("_Any")

_OUTCOMES: Final[dict[int, Outcome]] = {
    lib.MCP_SELECT_OUTCOME_SELECTED: "selected",
    lib.MCP_SELECT_OUTCOME_NEEDS_INPUT: "needs_input",
    lib.MCP_SELECT_OUTCOME_TASK: "task",
}
_LANES: Final[dict[int, Lane]] = {
    lib.MCP_SELECT_LANE_NOTHING: "nothing",
    lib.MCP_SELECT_LANE_CONTENT: "content",
    lib.MCP_SELECT_LANE_STRUCTURED: "structured",
    lib.MCP_SELECT_LANE_STRUCTURED_ONLY: "structured-only",
    lib.MCP_SELECT_LANE_BOTH: "both",
    lib.MCP_SELECT_LANE_RAW: "raw",
    lib.MCP_SELECT_LANE_WHOLE: "whole",
}
_BLOCK_KINDS: Final[dict[int, BlockKind]] = {
    lib.MCP_SELECT_BLOCK_KEPT: "kept",
    lib.MCP_SELECT_BLOCK_REWRITTEN: "rewritten",
    lib.MCP_SELECT_BLOCK_NOTE: "note",
    lib.MCP_SELECT_BLOCK_ADDED: "added",
}
_CHANGED: Final[int] = lib.MCP_SELECT_CHANGED

# A native selection is for one thread at a time, and two threads may ask one `Selection` for its text or record.
_reading = threading.Lock()


def _forget_lock() -> None:
    """In the child of a fork nobody else is reading, whatever a thread of the parent did at that moment."""
    global _reading
    _reading = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_lock)


class Block(NamedTuple):
    """A block of the output.

    Attributes:
        kind: `kept` (byte for byte the source block), `rewritten` (cut, sanitised, projected, turned into text, or its
            `_meta` filtered), `note` (stands in the place of the source block) or `added` (the structured value, extras
            or the placeholder).
        source: its index in the `content` of the input; `None` for a block that was added.
    """

    kind: BlockKind
    source: int | None


class Selection(hot.Selection):
    """What an audience sees of a result. Made by `Engine.select`; read it from any thread.

    It owns a buffer of the library until it is gone: keep the bytes of `json` rather than many selections.
    """

    __slots__ = ()

    @property
    def _native(self) -> CData:
        return ffi.cast("mcp_select_selection *", self._address)

    @property
    def changed(self) -> bool:
        """Whether the reader sees something else than the input."""
        return self._status == _CHANGED

    def result(self) -> dict[str, Any]:
        """Return `json` as Python objects, parsed anew at each call."""
        parsed: dict[str, Any] = json.loads(self.json)
        return parsed

    def text(self, separator: str = "\n") -> str:
        r"""Return every text that the reader sees, joined with `separator`, for a model API that takes one string.

        It is empty when the result is not for readers (see `outcome`).

        Raises:
            ArgumentError: `separator` is no Unicode text.
        """
        native, wire = self._native, b"" if self._status == _CHANGED else self.json
        between = separator.encode("utf-8", "surrogatepass")
        start, length = ffi.new("const uint8_t **"), ffi.new("size_t *")
        with _reading:
            status = lib.mcp_select_selection_text(native, wire, len(wire), between, len(between), start, length)
            if status < 0:
                raise _bad_separator(status)
            return str(ffi.buffer(start[0], length[0])[:], "utf-8") if length[0] else ""

    @property
    def blocks(self) -> list[Block]:
        """The blocks of the output, for a host that holds parsed blocks and asks which to keep."""
        native = self._native
        found = []
        for index in range(lib.mcp_select_selection_block_count(native)):
            source = lib.mcp_select_selection_block_source(native, index)
            kind = _BLOCK_KINDS[lib.mcp_select_selection_block_kind(native, index)]
            found.append(Block(kind, None if source < 0 else source))
        return found

    @property
    def outcome(self) -> Outcome:
        """`selected`; `needs_input` or `task`: hand the input to the protocol driver, show it to nobody."""
        return _OUTCOMES[lib.mcp_select_selection_outcome(self._native)]

    @property
    def lane(self) -> Lane:
        """The way in which what is seen was built; `nothing` for the placeholder and for what is not for readers."""
        return _LANES[lib.mcp_select_selection_lane(self._native)]

    @property
    def is_error(self) -> bool:
        """Whether the result's `isError` was true."""
        return lib.mcp_select_selection_is_error(self._native) == 1

    @property
    def generation(self) -> int:
        """The generation of the policy that decided, 1 for the first one of an engine."""
        return lib.mcp_select_selection_generation(self._native)

    @property
    def decision_json(self) -> bytes:
        """The decision record as the library wrote it; the same bytes in every language."""
        with _reading:
            return read(lib.mcp_select_selection_decision, self._native)

    @property
    def decision(self) -> dict[str, Any]:
        """The decision record: the settings with the rule of each, the facts, what was left out, sizes in bytes.

        Never a value out of `_meta`. Parsed anew at each call.
        """
        record: dict[str, Any] = json.loads(self.decision_json)
        return record

    def to(self, model: type[_Any]) -> _Any:
        """Return what is seen as a pydantic model, such as `mcp.types.CallToolResult` of any version.

        An object of that class that went in comes out itself when nothing changed. `content` is `[]` where the policy
        left it out, since the SDKs demand it.

        Raises:
            pydantic.ValidationError: the SDK does not take what the policy let through.
        """
        if self._status != _CHANGED and isinstance(self._source, model):
            return self._source
        result = self.result()
        result.setdefault("content", [])
        made: _Any = model.model_validate(result)  # type: ignore[attr-defined]
        return made

    def __repr__(self) -> str:
        state = "changed" if self.changed else "unchanged"
        return f"<mcp_select.Selection {self.outcome} {state} lane={self.lane} {len(self.json)} bytes>"


def _bad_separator(status: int) -> Error:
    from mcp_select._error import ArgumentError

    message = "bad-argument: the separator is no Unicode text"
    return ArgumentError({"status": status, "code": "bad-argument", "message": message})
