"""Errors: the library's own, as exceptions with a code, a place and a way out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NoReturn

from mcp_select._native import ffi, lib
from mcp_select._raw import read

if TYPE_CHECKING:
    from mcp_select._native import CData


class Error(Exception):
    """Why a call failed. `str(error)` is one line: the code, the place, what is wrong, and the way out.

    Attributes:
        status: the number of the C ABI, below 0.
        code: a short stable word, such as `malformed-json`.
        message: the one line.
        offset: the byte in the result or in the policy file, from 0; `None` when there is none.
        member: the member of the result, such as `structuredContent.items[3]`; `None` when there is none.
        file: the policy file of the first fault; `None` for other errors.
        line: its line, from 1; 0 or `None` when there is none.
        column: its column in characters, from 1; 0 or `None` when there is none.
        help: how to mend it; `None` when the message says all.
        diagnostics: all that is wrong with a policy, each a dict with `code`, `level`, `message`, `file`, `line`,
            `column`, `offset`, `length` (bytes) and often `help`.
    """

    status: int
    code: str
    message: str
    offset: int | None
    member: str | None
    file: str | None
    line: int | None
    column: int | None
    help: str | None
    diagnostics: list[dict[str, Any]]

    def __init__(self, report: dict[str, Any]) -> None:
        super().__init__(report)
        self.status = report["status"]
        self.code = report["code"]
        self.message = report["message"]
        self.offset = report.get("offset")
        self.member = report.get("member")
        self.file = report.get("file")
        self.line = report.get("line")
        self.column = report.get("column")
        self.help = report.get("help")
        self.diagnostics = report.get("diagnostics", [])

    @property
    def place(self) -> str | None:
        """`FILE:LINE:COLUMN` in a policy, else the member of the result, else `byte N`; `None` when there is none."""
        if self.file is not None:
            return f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        if self.member is not None:
            return self.member
        return None if self.offset is None else f"byte {self.offset}"

    def __str__(self) -> str:
        return self.message

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.message!r})"


class PolicyError(Error, ValueError):
    """The policy does not load. The policy in force, if there was one, stays."""


class RequestError(Error, ValueError):
    """What was said of the caller does not hold: an audience without a policy, a revision, a tool definition."""


class ResultError(Error, ValueError):
    """The result is refused as a whole: malformed, too large, too deep, of the wrong shape or type."""


class ArgumentError(Error, ValueError):
    """An argument that the library cannot take, such as a name that is no UTF-8."""


class InternalError(Error, RuntimeError):
    """A fault of the library. Please report it; the engine stays usable."""


_LAYERS: Final[list[tuple[int, type[Error]]]] = [
    (lib.MCP_SELECT_ERR_JSON, ResultError),
    (lib.MCP_SELECT_ERR_AUDIENCE, RequestError),
    (lib.MCP_SELECT_ERR_POLICY, PolicyError),
]


def _class_of(status: int) -> type[Error]:
    if status == lib.MCP_SELECT_ERR_INTERNAL:
        return InternalError
    return next((kind for first, kind in _LAYERS if status <= first), ArgumentError)


def refuse(status: int, address: int) -> NoReturn:
    """Raise what a failed call gave: its status and the address of its error, which is freed."""
    raise _read_error(ffi.cast("mcp_select_error *", address), status)


def check(status: int, slot: CData) -> int:
    """Return a status that is none of an error, raise the others. The slot is of one call only."""
    if status < 0:
        raise _read_error(slot[0], status)
    return status


def _read_error(error: CData, status: int) -> Error:
    report: dict[str, Any]
    if error == ffi.NULL:
        report = {"status": status, "code": "bad-argument", "message": "bad-argument: the library gave no reason"}
    else:
        try:
            report = json.loads(read(lib.mcp_select_error_json, error))
        finally:
            lib.mcp_select_error_free(error)
    return _class_of(status)(report)
