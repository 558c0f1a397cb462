"""The `langchain-mcp-adapters` package: an interceptor of its tool calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from mcp_select.adapters._attach import Route

if TYPE_CHECKING:
    from mcp_select._engine import Engine


class SelectInterceptor:
    """An interceptor: tool messages hold what `audience` sees.

        client = MultiServerMCPClient(connections, tool_interceptors=[SelectInterceptor(engine)])

    The server is the name of the connection. Put it last in the list to have it next to the server, so that the other
    interceptors see what the model will see.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        audience: str = "model",
        revision: str | None = None,
        labels: Mapping[str, str] | None = None,
        extensions: Collection[str] | None = None,
    ) -> None:
        """Make an interceptor. The arguments are those of `Engine.select`."""
        self._route = Route(engine, "", audience, revision, labels, extensions)

    async def __call__(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Call the tool and select from what it returns. Messages and commands of other interceptors pass."""
        result = await handler(request)
        # A `ToolMessage` has contents and can be dumped too.
        if not (hasattr(result, "isError") or hasattr(result, "is_error")):
            return result
        return self._route._replace(server=request.server_name).select(result, request.name, None)
