"""The engine: a policy in force, and `select`, the one call of the hot path."""

from __future__ import annotations

import json
import os
from collections import OrderedDict
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

from mcp_select._error import check, refuse
from mcp_select._native import ffi, lib
from mcp_select._raw import address, read
from mcp_select._selection import Selection
from mcp_select._wire import JsonLike, to_wire

if TYPE_CHECKING:
    from mcp_select._native import CData

ResultLike = JsonLike
Label = Mapping[str, str]
Input = Literal["result", "sampling"]

# Routes that an engine remembers. Servers and tools are few; a host that makes up names must not grow without end.
REMEMBERED_REQUESTS: Final = 4096

_INPUTS: Final[dict[str, int]] = {
    "result": lib.MCP_SELECT_INPUT_RESULT,
    "sampling": lib.MCP_SELECT_INPUT_SAMPLING,
}
# Looked up once: a call goes through it each time.
_call: Final = Selection._call


def _utf8(text: str) -> bytes:
    # What is no UTF-8 the library refuses by name.
    return text.encode("utf-8", "surrogatepass")


class Engine:
    """A policy in force. Make one, share it between all threads and tasks.

    Every method may be called from many threads at once, and in the child of a `fork`. The GIL is released while the
    library works. An engine cannot be pickled: open it in each process that is not forked.
    """

    __slots__ = ("__weakref__", "_address", "_native", "_requests")

    def __init__(self, policy: str | bytes) -> None:
        """Make an engine with the policy in this TOML text. `extends` may name built-in policies only.

        Raises:
            PolicyError: the policy does not load; `diagnostics` says all that is wrong.
        """
        text = _utf8(policy) if isinstance(policy, str) else policy
        self._adopt(lib.mcp_select_engine_new, text)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Engine:
        """Make an engine with the policy of a file and of the files that it extends.

        The files are looked at again at most once a second while results are selected; see `auto_reload`.

        Raises:
            PolicyError: a file cannot be read, or the policy does not load.
        """
        return cls.__new__(cls)._adopt(lib.mcp_select_engine_open, os.fsencode(path))

    @classmethod
    def builtin(cls, name: str) -> Engine:
        """Make an engine with a built-in policy, such as `sep-2200` or `lossless`.

        Raises:
            PolicyError: there is none of this name.
        """
        return cls.__new__(cls)._adopt(lib.mcp_select_engine_builtin, _utf8(name))

    def _adopt(self, make: Any, text: bytes) -> Engine:
        engine, error = ffi.new("mcp_select_engine **"), ffi.new("mcp_select_error **")
        check(make(text, len(text), engine, error), error)
        self._native = engine[0]
        self._address = address(engine[0])
        self._requests: OrderedDict[tuple[Any, ...], _Request] = OrderedDict()
        return self

    # After it a NULL is left, which the library refuses: a finalizer of the same garbage may still ask this engine.
    def __del__(self, _free: Any = lib.mcp_select_engine_free, _null: Any = ffi.NULL) -> None:
        native, self._native, self._address = getattr(self, "_native", _null), _null, 0
        _free(native)

    def select(
        self,
        result: ResultLike,
        *,
        server: str,
        tool: str,
        audience: str = "model",
        revision: str | None = None,
        tool_definition: JsonLike | None = None,
        labels: Label | None = None,
        extensions: Collection[str] | None = None,
        input: Input = "result",
    ) -> Selection:
        """Select what an audience sees of a result.

        Args:
            result: the `result` of `tools/call`: its bytes (used as they are), a `bytearray`, `memoryview` or `str`
                (copied once), a `dict` or an `mcp.types.CallToolResult` of any version (written as JSON first).
            server: the host's own id of the connection, never the name that a server gives itself.
            tool: the tool's name, as the server knows it.
            audience: `model`, `code`, `app`, `user`, or what the policy defines.
            revision: the protocol revision that was agreed, `YYYY-MM-DD`.
            tool_definition: the tool's object out of `tools/list`. Hand over the same `bytes` each time: a `dict` or a
                model is written as JSON at each call.
            labels: facts that only the host knows, for `when = { label.NAME = PATTERN }`.
            extensions: extensions that were negotiated, such as `io.modelcontextprotocol/tasks`.
            input: `result`, or `sampling` for a `tool_result` block of a sampling message.

        Raises:
            ResultError: the result is refused: malformed, too large, of the wrong shape. Never a part of it comes out.
            RequestError: the policy does not define the audience, or `revision` or `tool_definition` is none.
            TypeError: `result` is nothing of the above.
        """
        if tool_definition is None and revision is None and labels is None and extensions is None and input == "result":
            key: tuple[Any, ...] = (server, tool, audience)
        else:
            definition = None if tool_definition is None else to_wire(tool_definition)
            said = tuple(sorted(labels.items())) if labels else ()
            key = (server, tool, audience, revision, definition, said, tuple(extensions or ()), input)
        request = self._requests.get(key)
        if request is None:
            request = self._request(key)
        wire = result if type(result) is bytes else to_wire(result)
        return _call(self._address, request.address, wire, result, refuse)

    def _request(self, key: tuple[Any, ...]) -> _Request:
        """Make the request of a key, and remember it."""
        request = _Request(*key)
        known = self._requests
        while len(known) >= REMEMBERED_REQUESTS:
            try:
                known.popitem(last=False)
            except KeyError:  # other threads took them all
                break
        known[key] = request
        return request

    def reload(self) -> bool:
        """Read the policy's files now; return whether a new policy is in force.

        It reads files: from an event loop, call it in a worker thread.

        Raises:
            PolicyError: the files do not load, an audience of the policy in force would vanish, or the engine was not
                opened from a file. The policy in force stays.
        """
        error = ffi.new("mcp_select_error **")
        return check(lib.mcp_select_engine_reload(self._native, error), error) == lib.MCP_SELECT_CHANGED

    def replace(self, policy: str | bytes) -> None:
        """Swap in the policy in this TOML text. The files of the engine are forgotten: auto reload stops.

        Raises:
            PolicyError: the policy does not load. The policy in force stays.
        """
        text = _utf8(policy) if isinstance(policy, str) else policy
        error = ffi.new("mcp_select_error **")
        check(lib.mcp_select_engine_replace(self._native, text, len(text), error), error)

    def auto_reload(self, interval_ms: int) -> None:
        """Set how often a selection may look at the files, in milliseconds; 0: never.

        With an event loop, choose 0 and call `reload` from a worker thread.

        Raises:
            OverflowError: below 0 or over 4294967295.
        """
        lib.mcp_select_engine_auto_reload(self._native, interval_ms)

    @property
    def generation(self) -> int:
        """1 for the first policy, one more with each swap."""
        return lib.mcp_select_engine_generation(self._native)

    def diagnostics(self) -> dict[str, Any]:
        """Tell of the policy in force: name, hash, generation, files, warnings, ages in milliseconds.

        `error` is that of the last reload, or `None`.
        """
        error = ffi.new("mcp_select_error **")
        text = ffi.new("mcp_select_text **")
        check(lib.mcp_select_engine_diagnostics(self._native, text, error), error)
        return _take_text(text)

    def table(
        self,
        *,
        server: str,
        tool: str,
        audience: str = "model",
        revision: str | None = None,
        tool_definition: JsonLike | None = None,
        labels: Label | None = None,
        extensions: Collection[str] | None = None,
        input: Input = "result",
    ) -> dict[str, Any]:
        """Tell the decision table of one route, for an admin page or a test. The arguments are those of `select`.

        Raises:
            RequestError: as `select`.
        """
        definition = None if tool_definition is None else to_wire(tool_definition)
        said = tuple(sorted(labels.items())) if labels else ()
        request = _Request(server, tool, audience, revision, definition, said, tuple(extensions or ()), input)
        error = ffi.new("mcp_select_error **")
        text = ffi.new("mcp_select_text **")
        check(lib.mcp_select_engine_table(self._native, request.native, text, error), error)
        return _take_text(text)

    def __repr__(self) -> str:
        about = self.diagnostics()
        return f"<mcp_select.Engine {about['policy']!r} generation={about['generation']}>"


class _Request:
    """A native request. It is freed when the last call with it is over."""

    __slots__ = ("address", "native")

    def __init__(
        self,
        server: str,
        tool: str,
        audience: str,
        revision: str | None = None,
        definition: bytes | None = None,
        labels: tuple[tuple[str, str], ...] = (),
        extensions: tuple[str, ...] = (),
        input: str = "result",
    ) -> None:
        if input not in _INPUTS:
            raise ValueError(f"input is {input!r}; it is one of {', '.join(_INPUTS)}")
        slot, error = ffi.new("mcp_select_request **"), ffi.new("mcp_select_error **")
        check(lib.mcp_select_request_new(*_text(server), *_text(tool), *_text(audience), slot, error), error)
        self.native = native = slot[0]
        self.address = address(native)
        if revision is not None:
            check(lib.mcp_select_request_set_revision(native, *_text(revision), error), error)
        if definition is not None:
            check(lib.mcp_select_request_set_tool_definition(native, definition, len(definition), error), error)
        for name, value in labels:
            check(lib.mcp_select_request_set_label(native, *_text(name), *_text(value), error), error)
        for extension in extensions:
            check(lib.mcp_select_request_add_extension(native, *_text(extension), error), error)
        check(lib.mcp_select_request_set_input(native, _INPUTS[input]), error)

    def __del__(self, _free: Any = lib.mcp_select_request_free, _null: Any = ffi.NULL) -> None:
        native, self.native, self.address = getattr(self, "native", _null), _null, 0
        _free(native)


def _text(text: str) -> tuple[bytes, int]:
    utf8 = _utf8(text)
    return utf8, len(utf8)


def _take_text(slot: CData) -> dict[str, Any]:
    text = slot[0]
    try:
        parsed: dict[str, Any] = json.loads(read(lib.mcp_select_text_bytes, text))
    finally:
        lib.mcp_select_text_free(text)
    return parsed
