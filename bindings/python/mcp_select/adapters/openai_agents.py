"""The `openai-agents` package: `MCPServerStdio` and the other MCP servers of its agents."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Protocol, TypeVar

from mcp_select.adapters._attach import Route, attach_to

if TYPE_CHECKING:
    from mcp_select._engine import Engine


class _Server(Protocol):
    @property
    def name(self) -> str: ...


_S = TypeVar("_S", bound=_Server)


def attach(
    mcp_server: _S,
    engine: Engine,
    *,
    server: str | None = None,
    audience: str = "model",
    revision: str | None = None,
    labels: Mapping[str, str] | None = None,
    extensions: Collection[str] | None = None,
) -> _S:
    """Have the agent get what `audience` sees of each result, and return the server.

        agent = Agent(name="Assistant", mcp_servers=[attach(MCPServerStdio(...), engine)])

    `server` is the server's `name` unless it is given. `use_structured_content` has no effect where the policy puts
    the structured value into a text, as the built-in ones do for the audience `model`.

    Raises:
        ValueError: an engine is attached already.
    """
    name = mcp_server.name if server is None else server
    attach_to(mcp_server, Route(engine, name, audience, revision, labels, extensions), "call_tool", "list_tools")
    return mcp_server
