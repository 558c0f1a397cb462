"""What reaches the model with each adapter and without: a real server over stdio, the published packages.

Three things are looked at: data that a server gives twice, a block that is for people, a text that lost the data.
"""

import asyncio
import importlib.util
import json
import os
import sys
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

import pytest

import mcp_select

pytest.importorskip("mcp", reason="the mcp package is not installed")

import mcp
from mcp import ClientSession, StdioServerParameters, stdio_client

SERVER = str(Path(__file__).parent / "server.py")
MCP_2 = int(version("mcp").split(".")[0]) >= 2
STDIO = StdioServerParameters(command=sys.executable, args=[SERVER], env=dict(os.environ))


def needs(module):
    """Skip when a package is not in this environment. `run_tests.sh` says which environment has which."""
    expected = module in os.environ.get("MCP_SELECT_EXPECT", "").split()
    try:
        missing = importlib.util.find_spec(module) is None
    except ModuleNotFoundError:
        missing = True
    assert not (expected and missing), f"{module} should be installed here"
    return pytest.mark.skipif(missing, reason=f"{module} is not installed here")


@pytest.fixture
def engine():
    return mcp_select.Engine.builtin("lossless")


def texts_of(result):
    return [block.text for block in result.content if block.type == "text"]


def count(shown, what):
    """How often something stands in what a model gets, however it is quoted."""
    return (shown if isinstance(shown, str) else json.dumps(shown, default=str)).count(what)


# ---- mcp: sessions ------------------------------------------------------------------------------------------------


@asynccontextmanager
async def session():
    async with stdio_client(STDIO) as (read, write), ClientSession(read, write) as opened:
        await opened.initialize()
        yield opened


@asynccontextmanager
async def client():
    async with mcp.Client(STDIO) as opened:
        yield opened


@pytest.mark.parametrize(
    "connect", [session, pytest.param(client, marks=pytest.mark.skipif(not MCP_2, reason="mcp 1.x has no Client"))]
)
def test_mcp(engine, connect):
    from mcp_select.adapters.mcp import attach

    async def run():
        async with connect() as plain:
            before = {
                name: await plain.call_tool(name, {}) for name in ("twice", "hidden", "lossy", "picture", "failed")
            }
            assert attach(plain, engine, server="weather") is plain
            with pytest.raises(ValueError, match="already"):
                attach(plain, engine, server="weather")
            await plain.list_tools()
            after = {name: await plain.call_tool(name, arguments={}) for name in before}
            by_name = await plain.call_tool(name="twice", arguments={})
        return before, after, by_name

    before, after, by_name = asyncio.run(run())
    assert {type(result) for result in after.values()} == {type(before["twice"])}
    dumped = {name: result.model_dump_json(by_alias=True) for name, result in before.items()}
    seen = {name: result.model_dump_json(by_alias=True) for name, result in after.items()}
    assert (count(dumped["twice"], "Oslo"), count(seen["twice"], "Oslo")) == (2, 1)
    assert (count(dumped["hidden"], "SECRET"), count(seen["hidden"], "SECRET")) == (1, 0)
    assert (count(dumped["hidden"], "TRACE"), count(seen["hidden"], "TRACE")) == (1, 0)
    assert ("rain" in "".join(texts_of(before["lossy"])), "rain" in "".join(texts_of(after["lossy"]))) == (False, True)
    # Servers of 2026-07-28 sign their results in `_meta`: not for the model either.
    assert after["picture"].content == before["picture"].content
    assert after["failed"].content == before["failed"].content
    assert by_name == after["twice"]


def test_objects_of_the_sdk(engine):
    """Any version's `CallToolResult` goes in by its names on the wire, and comes out again."""
    from mcp.types import CallToolResult

    wire = {
        "content": [{"type": "text", "text": "a", "_meta": {"k": 1}}],
        "structuredContent": {"a": None, "b": "b"},
        "_meta": {"example.com/k": 1},
    }
    made = CallToolResult.model_validate(wire)
    route = {"server": "s", "tool": "t"}
    whole = engine.select(made, audience="app", **route)
    assert whole.result()["_meta"] == {"example.com/k": 1}
    assert whole.result()["structuredContent"] == {"a": None, "b": "b"}
    assert whole.to(CallToolResult) is made
    code = engine.select(made, audience="code", **route).to(CallToolResult)
    assert code.model_dump(by_alias=True, mode="json")["structuredContent"] == {"a": None, "b": "b"}
    assert code.content == []
    model = engine.select(made, **route).to(CallToolResult)
    assert (texts_of(model), model.meta) == (["a", '{"a":null,"b":"b"}'], None)
    assert engine.select(json.dumps(wire), audience="app", **route).to(CallToolResult) == made


def test_definitions_reach_the_policy():
    from mcp_select.adapters.mcp import attach

    policy = 'version = 1\n[[rules]]\nwhen = { output_schema = false }\nplaceholder = "no schema"\n'
    engine = mcp_select.Engine(policy)

    async def run():
        async with session() as opened:
            attach(opened, engine, server="weather")
            await opened.list_tools()
            return texts_of(await opened.call_tool("empty", {}))

    assert asyncio.run(run()) == ["no schema"]


# ---- fastmcp ------------------------------------------------------------------------------------------------------


def stdio_transport():
    from fastmcp.client.transports import StdioTransport

    return StdioTransport(command=sys.executable, args=[SERVER], env=dict(os.environ))


@needs("fastmcp")
def test_fastmcp_client(engine):
    import fastmcp

    from mcp_select.adapters.fastmcp import attach

    async def run(adapted):
        client = fastmcp.Client(stdio_transport())
        if adapted:
            attach(client, engine, server="weather")
        async with client:
            results = {name: await client.call_tool(name, {}) for name in ("twice", "hidden", "lossy", "picture")}
            with pytest.raises(fastmcp.exceptions.ToolError, match="no such city"):
                await client.call_tool("failed", {})
            return results

    before, after = asyncio.run(run(False)), asyncio.run(run(True))
    assert before["twice"].structured_content is not None
    assert after["twice"].structured_content is None
    assert texts_of(after["twice"]) == texts_of(before["twice"])
    assert (count(texts_of(before["hidden"]), "SECRET"), count(texts_of(after["hidden"]), "SECRET")) == (1, 0)
    assert ("rain" in texts_of(before["lossy"])[-1], "rain" in texts_of(after["lossy"])[-1]) == (False, True)
    assert after["picture"].content == before["picture"].content


@needs("fastmcp.server")
def test_fastmcp_proxy(engine):
    import fastmcp
    from fastmcp.server.providers.proxy import ProxyClient

    from mcp_select.adapters.fastmcp import SelectMiddleware

    try:
        from fastmcp.server import create_proxy
    except ImportError:
        from fastmcp.server.providers.proxy import FastMCPProxy

        def create_proxy(upstream):
            return FastMCPProxy(client_factory=lambda: upstream)

    async def run(adapted, **more):
        proxy = create_proxy(ProxyClient(stdio_transport()))
        if adapted:
            proxy.add_middleware(SelectMiddleware(engine, server="weather", **more))
        async with fastmcp.Client(proxy) as client:
            tools = await client.list_tools()
            names = ("twice", "hidden", "lossy", "picture", "failed")
            return tools, {name: await client.call_tool_mcp(name, {}) for name in names}

    _, before = asyncio.run(run(False))
    tools, after = asyncio.run(run(True))
    assert all(tool.model_dump(by_alias=True)["outputSchema"] is None for tool in tools)
    wire = {name: result.model_dump_json(by_alias=True) for name, result in before.items()}
    seen = {name: result.model_dump_json(by_alias=True) for name, result in after.items()}
    assert (count(wire["twice"], "Oslo"), count(seen["twice"], "Oslo")) == (2, 1)
    assert (count(wire["hidden"], "SECRET"), count(seen["hidden"], "SECRET")) == (1, 0)
    assert (count(wire["hidden"], "TRACE"), count(seen["hidden"], "TRACE")) == (1, 0)
    assert ("rain" in "".join(texts_of(before["lossy"])), "rain" in "".join(texts_of(after["lossy"]))) == (False, True)
    assert after["picture"].content == before["picture"].content
    assert "no such city" in seen["failed"]
    assert count(seen["failed"], "true") == 1
    _, whole = asyncio.run(run(True, audience="app", drop_output_schemas=False))
    names = {"content", "structuredContent"}
    whole, plain = (result["twice"].model_dump(by_alias=True) for result in (whole, before))
    assert {name: whole[name] for name in names} == {name: plain[name] for name in names}


@needs("fastmcp.server")
def test_a_fastmcp_server_with_output_schemas(engine):
    """A client refuses a result without the value that a tool's schema promised: the listing drops the schema."""
    import fastmcp

    from mcp_select.adapters.fastmcp import SelectMiddleware

    server = fastmcp.FastMCP("weather")

    @server.tool
    def forecast() -> dict[str, str]:
        return {"sky": "rain"}

    async def run(**more):
        server.middleware[:] = [each for each in server.middleware if not isinstance(each, SelectMiddleware)]
        server.add_middleware(SelectMiddleware(engine, server="weather", **more))
        async with fastmcp.Client(server) as client:
            return await client.call_tool("forecast", {})

    seen = asyncio.run(run())
    assert seen.structured_content is None
    assert json.loads(texts_of(seen)[0]) == {"sky": "rain"}
    with pytest.raises(Exception, match="structured"):
        asyncio.run(run(drop_output_schemas=False))


# ---- langchain ----------------------------------------------------------------------------------------------------


@needs("langchain_mcp_adapters")
def test_langchain(engine):
    from langchain_mcp_adapters.client import MultiServerMCPClient

    from mcp_select.adapters.langchain import SelectInterceptor

    async def run(interceptors):
        connection = {"transport": "stdio", "command": sys.executable, "args": [SERVER], "env": dict(os.environ)}
        client = MultiServerMCPClient({"weather": connection}, tool_interceptors=interceptors)
        tools = {tool.name: tool for tool in await client.get_tools()}
        call = {"type": "tool_call", "id": "1", "args": {}}
        names = ("twice", "hidden", "lossy", "picture", "failed", "empty")
        return {name: await tools[name].ainvoke({**call, "name": name}) for name in names}

    before, after = asyncio.run(run([])), asyncio.run(run([SelectInterceptor(engine)]))
    assert {type(message).__name__ for message in after.values()} == {"ToolMessage"}
    assert (count(before["twice"].content, "Oslo"), count(after["twice"].content, "Oslo")) == (1, 1)
    # LangChain keeps the second copy beside the message.
    assert (before["twice"].artifact is not None, after["twice"].artifact) == (True, None)
    assert (count(before["hidden"].content, "SECRET"), count(after["hidden"].content, "SECRET")) == (1, 0)
    assert (count(before["lossy"].content, "rain"), count(after["lossy"].content, "rain")) == (0, 1)
    assert after["failed"].status == before["failed"].status == "error"
    assert count(after["failed"].content, "no such city") == 1
    assert (count(before["empty"].content, "no output"), count(after["empty"].content, "no output")) == (0, 1)
    assert len(after["picture"].content) == len(before["picture"].content) == 2


# ---- openai-agents ------------------------------------------------------------------------------------------------


@needs("agents")
@pytest.mark.parametrize("structured", [False, True])
def test_openai_agents(engine, structured):
    from agents import Agent, ModelResponse, Runner, Usage, set_tracing_disabled
    from agents.mcp import MCPServerStdio
    from agents.models.interface import Model
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    from mcp_select.adapters.openai_agents import attach

    set_tracing_disabled(True)

    class Recorder(Model):
        def __init__(self, tool):
            self.tool, self.shown = tool, None

        async def get_response(self, system_instructions, input, *rest, **named):
            results = [
                item["output"] for item in input if isinstance(item, dict) and item.get("type", "").endswith("output")
            ]
            if results:
                self.shown = results[0]
                part = ResponseOutputText(text="done", type="output_text", annotations=[])
                said = ResponseOutputMessage(
                    id="2", content=[part], role="assistant", status="completed", type="message"
                )
            else:
                said = ResponseFunctionToolCall(call_id="1", name=self.tool, arguments="{}", type="function_call")
            return ModelResponse(output=[said], usage=Usage(), response_id=None)

        def stream_response(self, *rest, **named):
            raise NotImplementedError

    async def run(adapted):
        shown = {}
        params = {"command": sys.executable, "args": [SERVER], "env": dict(os.environ)}
        server = MCPServerStdio(
            params, name="weather", use_structured_content=structured, client_session_timeout_seconds=60
        )
        if adapted:
            attach(server, engine)
        async with server:
            for tool in ("twice", "hidden", "lossy", "picture", "failed", "empty"):
                model = Recorder(tool)
                await Runner.run(Agent(name="a", model=model, mcp_servers=[server]), "go")
                shown[tool] = model.shown
        return shown

    before, after = asyncio.run(run(False)), asyncio.run(run(True))
    assert (count(before["twice"], "Oslo"), count(after["twice"], "Oslo")) == (1, 1)
    assert (count(before["hidden"], "SECRET"), count(after["hidden"], "SECRET")) == (1, 0)
    # Without: either the data or the words are lost, as the flag has it.
    assert (count(before["lossy"], "rain"), count(before["lossy"], "2 days found")) == (
        (1, 0) if structured else (0, 1)
    )
    assert (count(after["lossy"], "rain"), count(after["lossy"], "2 days found")) == (1, 1)
    assert after["picture"] == before["picture"]
    assert after["failed"] == before["failed"]
    assert (count(before["empty"], "no output"), count(after["empty"], "no output")) == (0, 1)


# ---- pydantic-ai --------------------------------------------------------------------------------------------------


@needs("pydantic_ai.mcp")
def test_pydantic_ai(engine):
    from pydantic_ai import Agent
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.messages import ModelResponse, RetryPromptPart, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import FunctionModel

    from mcp_select.adapters.pydantic_ai import attach

    hooked = []

    async def hook(ctx, call_tool, name, args):
        hooked.append(name)
        return await call_tool(name, args)

    async def run(adapted):
        shown = {}
        toolset = MCPToolset(stdio_transport(), process_tool_call=hook)
        if adapted:
            assert attach(toolset, engine, server="weather") is toolset
        for tool in ("twice", "hidden", "lossy", "picture", "failed", "empty"):

            def model(messages, info, tool=tool):
                for part in messages[-1].parts:
                    if isinstance(part, (ToolReturnPart, RetryPromptPart)):
                        shown[tool] = (
                            part.model_response_str() if isinstance(part, ToolReturnPart) else part.model_response()
                        )
                        return ModelResponse(parts=[TextPart("done")])
                return ModelResponse(parts=[ToolCallPart(tool, {})])

            await Agent(FunctionModel(model), toolsets=[toolset]).run("go")
        return shown

    before, after = asyncio.run(run(False)), asyncio.run(run(True))
    assert len(hooked) == 12
    assert (count(before["twice"], "Oslo"), count(after["twice"], "Oslo")) == (1, 1)
    assert (count(before["hidden"], "SECRET"), count(after["hidden"], "SECRET")) == (1, 0)
    # Without: pydantic-ai takes the value and loses the words.
    assert (count(before["lossy"], "rain"), count(before["lossy"], "2 days found")) == (1, 0)
    assert (count(after["lossy"], "rain"), count(after["lossy"], "2 days found")) == (1, 1)
    assert after["picture"] == before["picture"]
    assert "no such city" in after["failed"]
    assert "no output" in after["empty"]


# ---- google-adk ---------------------------------------------------------------------------------------------------


@needs("google.adk")
@pytest.mark.filterwarnings("ignore")
def test_google_adk(engine):
    from google.adk.agents import LlmAgent
    from google.adk.models import BaseLlm, LlmResponse
    from google.adk.runners import InMemoryRunner
    from google.adk.tools.mcp_tool import McpToolset, StdioConnectionParams
    from google.genai import types

    from mcp_select.adapters.google_adk import select_results

    class Recorder(BaseLlm):
        tool: str
        shown: list = []

        async def generate_content_async(self, llm_request, stream=False):
            answers = [part.function_response for part in llm_request.contents[-1].parts if part.function_response]
            if answers:
                self.shown.append(answers[0].response)
                part = types.Part(text="done")
            else:
                part = types.Part(function_call=types.FunctionCall(name=self.tool, args={}))
            yield LlmResponse(content=types.Content(role="model", parts=[part]))

    async def run(**adapter):
        shown = {}
        params = StdioConnectionParams(server_params=STDIO, timeout=60)
        toolset = McpToolset(connection_params=params)
        for tool in ("twice", "hidden", "lossy", "picture", "failed", "empty"):
            model = Recorder(model="recorder", tool=tool, shown=[])
            runner = InMemoryRunner(agent=LlmAgent(name="a", model=model, tools=[toolset], **adapter), app_name="a")
            session = await runner.session_service.create_session(app_name="a", user_id="u")
            go = types.Content(role="user", parts=[types.Part(text="go")])
            async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=go):
                pass
            shown[tool] = model.shown[0]
        await toolset.close()
        return shown

    before = asyncio.run(run())
    after = asyncio.run(run(after_tool_callback=select_results(engine, server="weather")))
    # Without: everything, twice.
    assert (count(before["twice"], "Oslo"), count(after["twice"], "Oslo")) == (2, 1)
    assert (count(before["hidden"], "SECRET"), count(after["hidden"], "SECRET")) == (1, 0)
    assert (count(before["hidden"], "TRACE"), count(after["hidden"], "TRACE")) == (1, 0)
    assert (count(after["lossy"], "rain"), count(after["lossy"], "2 days found")) == (1, 1)
    assert after["picture"]["content"] == before["picture"]["content"]
    assert after["failed"] == before["failed"]
    assert count(after["empty"], "no output") == 1


def test_google_adk_names(engine):
    """ADK writes `meta` for `_meta`, at every level but inside values."""
    from types import SimpleNamespace

    from mcp_select.adapters.google_adk import select_results

    tool = SimpleNamespace(raw_mcp_tool=mcp.types.Tool.model_validate({"name": "t", "inputSchema": {"type": "object"}}))
    block = {"type": "resource", "resource": {"uri": "a:b", "text": "x", "meta": {"k": 1}}, "meta": {"k": 1}}
    response = {"meta": {"k": 1}, "content": [block], "structuredContent": {"meta": 1}, "isError": False}
    assert select_results(engine, server="s", audience="app")(tool, {}, None, response) is None
    seen = select_results(engine, server=lambda tool: "s", audience="code")(tool, {}, None, response)
    assert seen == {"structuredContent": {"meta": 1}, "content": [], "isError": False} or "meta" not in seen
    assert seen["structuredContent"] == {"meta": 1}
    model = select_results(engine, server="s")(tool, {}, None, response)
    assert model["content"][0] == {"type": "resource", "resource": {"uri": "a:b", "text": "x"}}
    assert select_results(engine, server="s")(tool, {}, None, {"error": "MCP tool execution failed"}) is None
    assert select_results(engine, server="s")(SimpleNamespace(), {}, None, response) is None
