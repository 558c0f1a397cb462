"""What the typed layer adds: kinds of input, errors, the record, the requests it remembers."""

import copy
import ctypes
import gc
import json
import os
import pickle
import sys
import weakref

import pytest

import mcp_select
from mcp_select import _engine
from mcp_select._error import refuse
from mcp_select._raw import hot

TWICE = b'{"content":[{"type":"text","text":"{\\"c\\":7}"}],"structuredContent":{"c":7}}'
ONCE = b'{"content":[{"type":"text","text":"{\\"c\\":7}"}]}'
PLAIN = b'{"content":[{"type":"text","text":"7 C"}]}'


@pytest.fixture
def engine():
    return mcp_select.Engine.builtin("sep-2200")


def select(engine, result, **more):
    return engine.select(result, **{"server": "weather", "tool": "now", **more})


class Mallinfo(ctypes.Structure):
    """What glibc says of its allocations."""

    _fields_ = [(name, ctypes.c_size_t) for name in ["arena", "o", "s", "h", "mapped", "u", "f", "used", "free", "k"]]


def allocated():
    """Return the bytes that malloc has given out; a test that asks is skipped where nobody says."""
    ask = getattr(ctypes.CDLL(None), "mallinfo2", None) if sys.platform == "linux" else None
    if ask is None:
        pytest.skip("only glibc counts what is allocated")
    ask.restype = Mallinfo
    info = ask()
    return info.used + info.mapped


@pytest.mark.parametrize(
    "make", [bytes, bytearray, memoryview, bytes.decode, json.loads], ids=lambda make: make.__name__
)
def test_every_kind_of_input(engine, make):
    seen = select(engine, make(TWICE))
    assert seen.changed
    assert seen.json == ONCE
    assert seen.result() == json.loads(ONCE)
    assert seen.text() == '{"c":7}'
    assert seen.lane == "content"
    assert seen.outcome == "selected"
    assert seen.is_error is False
    assert seen.blocks == [mcp_select.Block("kept", 0)]
    assert seen.decision["policy"]["name"] == "sep-2200"
    assert seen.generation == 1


@pytest.mark.parametrize(
    "make", [bytes, bytearray, memoryview, bytes.decode, json.loads], ids=lambda make: make.__name__
)
def test_unchanged_gives_the_input(engine, make):
    value = make(PLAIN)
    seen = select(engine, value)
    assert not seen.changed
    assert json.loads(seen.json) == json.loads(PLAIN)
    assert seen.text() == "7 C"
    if make is bytes:
        assert seen.json is value


def test_a_buffer_that_is_written_to_later_does_not_matter(engine):
    value = bytearray(PLAIN)
    seen = select(engine, value)
    value[:] = b"x" * len(value)
    assert seen.json == PLAIN
    assert seen.text() == "7 C"


def test_numbers_of_bytes_keep_their_spelling_and_those_of_a_dict_do_not():
    code = mcp_select.Engine('version = 1\n[audience.model]\norder = ["structured"]\n')
    result = b'{"content":[],"structuredContent":{"n":1.50,"m":1E5}}'
    assert select(code, result).text() == '{"n":1.50,"m":1E5}'
    assert select(code, json.loads(result)).text() == '{"n":1.5,"m":100000.0}'


def test_text_takes_a_separator(engine):
    seen = select(engine, {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]})
    assert (seen.text(), seen.text(""), seen.text(" é ")) == ("a\nb", "ab", "a é b")


def test_lone_surrogates(engine):
    with pytest.raises(mcp_select.ResultError, match="invalid-utf8 at byte 36"):
        select(engine, '{"content":[{"type":"text","text":"a\ud800"}]}')
    assert select(engine, {"content": [{"type": "text", "text": "a\ud800"}]}).text() == "a\ufffd"
    with pytest.raises(mcp_select.ArgumentError):
        select(engine, PLAIN).text("\ud800")
    with pytest.raises(mcp_select.ArgumentError):
        select(engine, PLAIN, server="\ud800")


@pytest.mark.parametrize("value", [None, 7, [1], object()])
def test_other_types_are_refused(engine, value):
    with pytest.raises(TypeError, match="expected bytes"):
        select(engine, value)


def test_a_refused_result_says_where(engine):
    with pytest.raises(mcp_select.ResultError) as caught:
        select(engine, b'{"content":[],"structuredContent":{"a":NaN}}')
    error = caught.value
    assert error.code == "malformed-json"
    assert error.status == -30
    assert error.offset == 39
    assert error.member == error.place == "structuredContent.a"
    assert str(error) == error.message
    assert error.diagnostics == []
    assert isinstance(error, ValueError)
    assert isinstance(error, mcp_select.Error)


def test_nan_in_a_dict_is_refused(engine):
    with pytest.raises(mcp_select.ResultError, match="NaN"):
        select(engine, {"content": [], "structuredContent": {"a": float("nan")}})


def test_a_bad_policy_says_all_that_is_wrong():
    with pytest.raises(mcp_select.PolicyError) as caught:
        mcp_select.Engine('version = 1\nordr = 1\n[audience.model]\nodrer = ["content"]\n')
    error = caught.value
    assert error.code == "bad-policy"
    assert error.place == "policy:2:1"
    assert [(found["code"], found["line"]) for found in error.diagnostics] == [("unknown-key", 2), ("unknown-key", 4)]
    assert "order" in error.diagnostics[1]["help"]


@pytest.mark.parametrize(
    ("make", "kind", "code"),
    [
        (lambda: mcp_select.Engine(""), mcp_select.PolicyError, "empty-policy"),
        (lambda: mcp_select.Engine.open("/nowhere/policy.toml"), mcp_select.PolicyError, "policy-file"),
        (lambda: mcp_select.Engine.builtin("sep-22"), mcp_select.PolicyError, "no-builtin"),
        (lambda: mcp_select.Engine.builtin("sep-2200").reload(), mcp_select.PolicyError, "no-file"),
    ],
)
def test_engines_that_cannot_be(make, kind, code):
    with pytest.raises(kind) as caught:
        make()
    assert caught.value.code == code


def test_requests_that_cannot_be(engine):
    with pytest.raises(mcp_select.RequestError) as caught:
        select(engine, PLAIN, audience="nobody")
    assert caught.value.code == "unknown-audience"
    with pytest.raises(mcp_select.RequestError) as caught:
        select(engine, PLAIN, revision="yesterday")
    assert caught.value.code == "bad-revision"
    with pytest.raises(mcp_select.RequestError) as caught:
        select(engine, PLAIN, tool_definition="[]")
    assert caught.value.code == "bad-tool-definition"
    with pytest.raises(ValueError, match="input is"):
        select(engine, PLAIN, input="other")


@pytest.mark.parametrize("remake", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_errors_can_be_sent_to_another_process(engine, remake):
    with pytest.raises(mcp_select.ResultError) as caught:
        select(engine, b"{")
    again = remake(caught.value)
    assert type(again) is mcp_select.ResultError
    assert (str(again), again.offset, repr(again)) == (str(caught.value), caught.value.offset, repr(caught.value))


def test_what_is_not_for_readers(engine):
    wire = b'{"resultType":"input_required","requestState":"x"}'
    seen = select(engine, wire)
    assert (seen.outcome, seen.changed, seen.json, seen.text(), seen.blocks) == ("needs_input", False, wire, "", [])
    task = b'{"resultType":"task","taskId":"7"}'
    assert select(engine, task, extensions=["io.modelcontextprotocol/tasks"]).outcome == "task"
    with pytest.raises(mcp_select.ResultError):
        select(engine, task)


def test_revision_labels_and_definition_reach_the_policy():
    engine = mcp_select.Engine("""
version = 1
[[rules]]
when = { label.ring = "canary" }
placeholder = "label"
[[rules]]
when = { revision = ">= 2026-07-28" }
placeholder = "revision"
[[rules]]
when = { output_schema = true }
placeholder = "definition"
""")
    nothing = {"content": []}
    assert select(engine, nothing).text() == "(no output)"
    assert select(engine, nothing, labels={"ring": "canary"}).text() == "label"
    assert select(engine, nothing, revision="2026-07-28").text() == "revision"
    definition = {"name": "now", "outputSchema": {"type": "object"}}
    for spelt in (definition, json.dumps(definition), json.dumps(definition).encode()):
        assert select(engine, nothing, tool_definition=spelt).text() == "definition"
    table = engine.table(server="weather", tool="now", tool_definition=definition)
    assert "definition" in json.dumps(table)


def test_requests_are_remembered_and_bounded(engine, monkeypatch):
    made = []
    request = _engine._Request
    monkeypatch.setattr(_engine, "_Request", lambda *key: made.append(key) or request(*key))
    monkeypatch.setattr(_engine, "REMEMBERED_REQUESTS", 10)
    for _ in range(50):
        select(engine, PLAIN)
        select(engine, PLAIN, labels={"a": "1", "b": "2"})
        select(engine, PLAIN, labels={"b": "2", "a": "1"}, tool_definition=None)
    assert len(made) == 2
    for number in range(100):
        select(engine, PLAIN, tool=f"tool{number}")
    assert len(made) == 102
    assert len(engine._requests) == 10


def test_selections_do_not_share_what_they_saw(engine):
    first, second = select(engine, TWICE), select(engine, PLAIN)
    third = select(engine, {"content": [], "isError": True})
    assert (first.json, second.json) == (ONCE, PLAIN)
    assert third.is_error
    assert third.text() == "(no output)"
    assert first.decision["bytes_in"] == len(TWICE)
    assert third.lane == "nothing"
    assert third.decision["lane"] == "nothing"


def test_a_large_result_leaves_no_large_buffer(engine):
    text = "x" * 3_000_000
    result = json.dumps({"content": [{"type": "text", "text": text}], "structuredContent": {"a": 1}}).encode()
    hot.empty_pool()
    before = allocated()
    seen = select(engine, result)
    assert seen.text() == text
    assert seen.changed
    assert allocated() - before > 6_000_000
    del seen
    assert allocated() - before < 100_000
    assert hot.empty_pool() == 0
    assert select(engine, TWICE).json == ONCE


@pytest.mark.parametrize("result", [TWICE, PLAIN, b"{"], ids=["changed", "unchanged", "refused"])
def test_nothing_is_kept_of_a_call(engine, result):
    """References to what went in, and to what a call uses inside, are as many after it as before."""
    wire, definition = bytes(bytearray(result)), b'{"name":"now"}'
    watched = [wire, definition, None, mcp_select.Selection, refuse, engine]

    def counts():
        return [sys.getrefcount(one) for one in watched]

    def call():
        try:
            return select(engine, wire, tool_definition=definition).json
        except mcp_select.ResultError:
            return None

    call()
    before = counts()
    for _ in range(1000):
        call()
    # `None` and the rest of the interpreter move a little by themselves.
    assert all(abs(after - earlier) < 100 for after, earlier in zip(counts(), before, strict=True))


def test_selections_are_made_by_engines_alone(engine):
    seen = select(engine, PLAIN)
    for make in (
        mcp_select.Selection,
        hot.Selection,
        lambda: object.__new__(mcp_select.Selection),
        lambda: copy.copy(seen),
        lambda: pickle.dumps(seen),
        lambda: hot.Selection._call(1, 2, PLAIN, None),
        lambda: hot.Selection._call(1, 2, bytearray(PLAIN), None, refuse),
        lambda: hot.Selection._call("1", 2, PLAIN, None, refuse),
        lambda: hot.Selection._call(),
    ):
        with pytest.raises(TypeError):
            make()
    with pytest.raises(mcp_select.ArgumentError):
        hot.Selection._call(0, 0, PLAIN, None, refuse)
    with pytest.raises(AttributeError):
        seen.json = b""


def test_a_selection_may_stand_in_what_it_was_made_of(engine):
    result = json.loads(PLAIN)

    class Result(dict):
        pass

    result = Result(result)
    gone = weakref.ref(result)
    result.seen = select(engine, result)
    del result
    gc.collect()
    assert gone() is None


def test_replace_and_generation(engine):
    before = select(engine, TWICE)
    engine.replace('version = 1\n[audience.model]\norder = ["structured"]\nstructured.render = "pretty"\n')
    after = select(engine, TWICE)
    assert (before.generation, after.generation, engine.generation) == (1, 2, 2)
    assert (before.text(), after.text()) == ('{"c":7}', '{\n  "c": 7\n}')
    with pytest.raises(mcp_select.PolicyError):
        engine.replace("version = 2")
    assert engine.generation == 2
    about = engine.diagnostics()
    assert about["generation"] == 2
    assert about["error"] is None


def test_paths(tmp_path):
    path = tmp_path / "pölicy ☃.toml"
    path.write_text('version = 1\nextends = "lossless"\n', encoding="utf-8")
    for spelt in (path, str(path)):
        assert mcp_select.Engine.open(spelt).diagnostics()["files"][-1] == "sep-2200"
    with pytest.raises(mcp_select.PolicyError):
        mcp_select.Engine.open(os.fspath(tmp_path))


def test_reprs(engine):
    assert repr(engine) == "<mcp_select.Engine 'sep-2200' generation=1>"
    assert repr(select(engine, TWICE)) == "<mcp_select.Selection selected changed lane=content 48 bytes>"


class Loop:
    """A cycle, and a finalizer in it."""

    def __init__(self, about):
        self.me, self.about = self, about

    def __del__(self):
        self.about(self)


def test_the_garbage_collector_may_take_everything_at_once():
    """A selection in a cycle of garbage goes back to the pool; its buffer is not freed beside that."""
    seen = []

    def last_words(loop):
        try:
            seen.append(select(loop.engine, TWICE).json)
        except mcp_select.ArgumentError as error:
            seen.append(error.code)

    for _ in range(20):
        loop = Loop(last_words)
        loop.engine = mcp_select.Engine.builtin("sep-2200")
        loop.selections = [select(loop.engine, TWICE) for _ in range(100)]
        del loop
        gc.collect()
        again = [select(mcp_select.Engine.builtin("sep-2200"), TWICE) for _ in range(3)]
        assert {selection.json for selection in again} == {ONCE}
    assert len(seen) == 20
    assert set(seen) <= {ONCE, "bad-argument"}
    assert hot.empty_pool() <= hot.POOL_SIZE
