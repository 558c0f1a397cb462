"""The `fastmcp` package, 3.x and 4.x: its clients, and a middleware for its servers and proxies."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from mcp_select.adapters._attach import Route, attach_to

if TYPE_CHECKING:
    from mcp_select._engine import Engine

_C = TypeVar("_C")


def attach(
    client: _C,
    engine: Engine,
    *,
    server: str,
    audience: str = "model",
    revision: str | None = None,
    labels: Mapping[str, str] | None = None,
    extensions: Collection[str] | None = None,
) -> _C:
    """Have `client.call_tool` and `client.call_tool_mcp` return what `audience` sees, and return the client.

        client = attach(fastmcp.Client("server.py"), engine, server="github")

    `.data` is made of the structured value: it is there for the audience `code`, and `None` for `model`. Copies that
    `client.new()` makes are not attached to.

    Raises:
        ValueError: an engine is attached already.
    """
    route = Route(engine, server, audience, revision, labels, extensions)
    attach_to(client, route, "call_tool_mcp", "list_tools_mcp")
    return client


if TYPE_CHECKING:
    # Typed as `Any`, since its own types differ between 3.x and 4.x.
    Middleware: Any = object
else:
    try:
        from fastmcp.server.middleware import Middleware
    except ImportError:  # fastmcp-slim without a server
        Middleware = object


class SelectMiddleware(Middleware):  # type: ignore[misc]
    """Middleware of a FastMCP server or proxy: its clients get what `audience` sees.

    proxy = create_proxy(upstream)
    proxy.add_middleware(SelectMiddleware(engine, server="github"))
    """

    def __init__(
        self,
        engine: Engine,
        *,
        server: str,
        audience: str = "model",
        revision: str | None = None,
        labels: Mapping[str, str] | None = None,
        extensions: Collection[str] | None = None,
        drop_output_schemas: bool = True,
    ) -> None:
        """Make a middleware.

        Args:
            engine: the engine, shared with others or not.
            server: the host's own id of what this server or proxy stands for.
            audience: who reads the results of its clients.
            revision: the protocol revision that was agreed, `YYYY-MM-DD`.
            labels: facts that only the host knows.
            extensions: extensions that were negotiated.
            drop_output_schemas: list tools without their `outputSchema`. Clients refuse a result without
                `structuredContent` from a tool that has one; say `False` where the policy always keeps the field.
        """
        self._route = Route(engine, server, audience, revision, labels, extensions)
        self._drop_output_schemas = drop_output_schemas

    async def on_list_tools(self, context: Any, call_next: Any) -> Sequence[Any]:
        """List the tools, without output schemas that the results will not keep."""
        tools: Sequence[Any] = await call_next(context)
        if not self._drop_output_schemas:
            return tools
        return [tool.model_copy(update={"output_schema": None}) for tool in tools]

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        """Call the tool and select from what it returns."""
        result = await call_next(context)
        if not hasattr(result, "content"):
            return result
        wire = {"content": [_dumped(block) for block in result.content]}
        if result.structured_content is not None:
            wire["structuredContent"] = result.structured_content
        if result.meta is not None:
            wire["_meta"] = result.meta
        if getattr(result, "is_error", False):
            wire["isError"] = True  # type: ignore[assignment]
        route = self._route
        selection = route.engine.select(
            json.dumps(wire, ensure_ascii=False),
            server=route.server,
            tool=context.message.name,
            audience=route.audience,
            revision=route.revision,
            labels=route.labels,
            extensions=route.extensions,
        )
        if not selection.changed:
            return result
        from mcp.types import CallToolResult

        seen = selection.result()
        made = {
            "content": CallToolResult.model_validate({"content": seen.get("content", [])}).content,
            "structured_content": seen.get("structuredContent"),
            "meta": seen.get("_meta"),
        }
        if seen.get("isError"):
            made["is_error"] = True
        return type(result)(**made)


def _dumped(block: Any) -> dict[str, Any]:
    dumped: dict[str, Any] = block.model_dump(mode="json", by_alias=True, exclude_none=True)
    return dumped
