"""Puts an engine into an object that calls tools, whatever its class."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from mcp_select._wire import to_wire

if TYPE_CHECKING:
    from mcp_select._engine import Engine


class Route(NamedTuple):
    """What is known before a result comes, apart from the tool."""

    engine: Engine
    server: str
    audience: str = "model"
    revision: str | None = None
    labels: Mapping[str, str] | None = None
    extensions: Collection[str] | None = None

    def select(self, result: Any, tool: str, definition: bytes | None) -> Any:
        """Return what the audience sees of an SDK's result, as an object of the same class."""
        # An `input_required` or task result of a 2.x session is for the caller, who asked for it.
        if not hasattr(result, "content") or not hasattr(result, "model_dump_json"):
            return result
        selection = self.engine.select(
            result,
            server=self.server,
            tool=tool,
            audience=self.audience,
            revision=self.revision,
            tool_definition=definition,
            labels=self.labels,
            extensions=self.extensions,
        )
        return selection.to(type(result))


def attach_to(caller: Any, route: Route, call: str, listing: str) -> None:
    """Wrap the methods `call` (tool name first) and `listing` of one object.

    The listing is only listened to: it says what the definition of each tool is.
    """
    definitions: dict[str, bytes] = {}
    call_tool, list_tools = getattr(caller, call), getattr(caller, listing)
    if hasattr(call_tool, "mcp_select_route"):
        raise ValueError("an engine is attached to this object already")

    @functools.wraps(call_tool)
    async def selecting(*arguments: Any, **named: Any) -> Any:
        tool = arguments[0] if arguments else named.get("name", named.get("tool_name"))
        result = await call_tool(*arguments, **named)
        return route.select(result, str(tool), definitions.get(str(tool)))

    @functools.wraps(list_tools)
    async def listening(*arguments: Any, **named: Any) -> Any:
        listed = await list_tools(*arguments, **named)
        for tool in getattr(listed, "tools", listed):
            definitions[tool.name] = to_wire(tool)
        return listed

    selecting.mcp_select_route = route  # type: ignore[attr-defined]
    setattr(caller, call, selecting)
    setattr(caller, listing, listening)
