"""The `pydantic-ai` package: its `MCPToolset`.

Its hook `process_tool_call` gets what pydantic-ai has made of a result: it has chosen between `content` and
`structuredContent` by then. The engine is put below it, into the FastMCP client of the toolset, so that it sees the
whole result and the hook stays free.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Protocol, TypeVar

from mcp_select.adapters import fastmcp

if TYPE_CHECKING:
    from mcp_select._engine import Engine


class _Toolset(Protocol):
    @property
    def client(self) -> object: ...


_T = TypeVar("_T", bound=_Toolset)


def attach(
    toolset: _T,
    engine: Engine,
    *,
    server: str,
    audience: str = "model",
    revision: str | None = None,
    labels: Mapping[str, str] | None = None,
    extensions: Collection[str] | None = None,
) -> _T:
    """Have the agent get what `audience` sees of each result, and return the toolset.

        agent = Agent("openai:gpt-5", toolsets=[attach(MCPToolset(...), engine, server="github")])

    Results of task-augmented calls do not come this way: give `prefer_tasks=False` to the toolset.

    Raises:
        ValueError: an engine is attached already.
    """
    fastmcp.attach(
        toolset.client,
        engine,
        server=server,
        audience=audience,
        revision=revision,
        labels=labels,
        extensions=extensions,
    )
    return toolset
