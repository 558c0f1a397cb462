"""The `mcp` package, 1.x and 2.x: a `ClientSession`, or a `Client` of 2.x."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Protocol, TypeVar

from mcp_select.adapters._attach import Route, attach_to

if TYPE_CHECKING:
    from mcp_select._engine import Engine


class _Session(Protocol):
    @property
    def call_tool(self) -> object: ...
    @property
    def list_tools(self) -> object: ...


_S = TypeVar("_S", bound=_Session)


def attach(
    session: _S,
    engine: Engine,
    *,
    server: str,
    audience: str = "model",
    revision: str | None = None,
    labels: Mapping[str, str] | None = None,
    extensions: Collection[str] | None = None,
) -> _S:
    """Have `session.call_tool` return what `audience` sees, and return the session.

        async with ClientSession(read, write) as session:
            attach(session, engine, server="github")
            await session.initialize()

    The SDK checks `structuredContent` against the tool's `outputSchema` before the engine looks at the result. Tool
    definitions are taken from `session.list_tools`. The arguments are those of `Engine.select`.

    Raises:
        ValueError: an engine is attached already.
    """
    attach_to(session, Route(engine, server, audience, revision, labels, extensions), "call_tool", "list_tools")
    return session
