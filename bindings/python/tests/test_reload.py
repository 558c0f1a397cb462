"""Reload: by hand, by itself, by the symlink swap of a Kubernetes ConfigMap, under threads and across a fork."""

import os
import threading
import time

import pytest

import mcp_select

POLICY = 'version = 1\n[audience.model]\nplaceholder = "{}"\n'
NOTHING = b'{"content":[]}'


def placeholder(engine):
    return engine.select(NOTHING, server="s", tool="t").text()


@pytest.fixture
def policy(tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text(POLICY.format("one"))
    return path


def wait_until(done):
    end = time.monotonic() + 20
    while not done():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_by_hand(policy):
    engine = mcp_select.Engine.open(policy)
    engine.auto_reload(0)
    assert engine.reload() is False
    policy.write_text(POLICY.format("two"))
    assert placeholder(engine) == "one"
    assert engine.reload() is True
    assert (placeholder(engine), engine.generation) == ("two", 2)


def test_a_broken_file_leaves_the_last_good_policy(policy):
    engine = mcp_select.Engine.open(policy)
    policy.write_text("version = 1\nordr = 1\n")
    with pytest.raises(mcp_select.PolicyError, match="unknown key `ordr`"):
        engine.reload()
    assert (placeholder(engine), engine.generation) == ("one", 1)
    error = engine.diagnostics()["error"]
    assert (error["code"], error["line"]) == ("bad-policy", 2)
    policy.write_text(POLICY.format("two"))
    assert engine.reload() is True
    assert engine.diagnostics()["error"] is None


def test_by_itself(policy):
    engine = mcp_select.Engine.open(policy)
    engine.auto_reload(5)
    policy.write_text(POLICY.format("a longer one"))
    wait_until(lambda: placeholder(engine) == "a longer one")
    assert engine.generation == 2


def stays(engine, text):
    for _ in range(30):
        assert placeholder(engine) == text, engine.diagnostics()
        time.sleep(0.002)


def replace(path, text):
    new = path.with_name("new")
    new.write_text(text)
    os.replace(new, path)


def test_as_file_systems_change_it(policy):
    engine = mcp_select.Engine.open(policy)
    engine.auto_reload(1)
    replace(policy, POLICY.format("two"))
    wait_until(lambda: placeholder(engine) == "two")
    replace(policy, "version = 1\nordr = 1\n")
    stays(engine, "two")
    assert "ordr" in engine.diagnostics()["error"]["message"]
    replace(policy, POLICY.format("three"))
    wait_until(lambda: placeholder(engine) == "three")
    policy.unlink()
    stays(engine, "three")
    policy.write_text(POLICY.format("four"))
    wait_until(lambda: placeholder(engine) == "four")


def test_a_half_written_file_is_not_loaded(policy):
    engine = mcp_select.Engine.open(policy)
    engine.auto_reload(1)
    text = POLICY.format("two")
    for _ in range(40):
        text += "# one more line\n"
        policy.write_text(text)
        assert placeholder(engine) == "one"
        time.sleep(0.002)
    wait_until(lambda: placeholder(engine) == "two")


def test_an_extended_file_and_an_audience(tmp_path):
    base, policy = tmp_path / "base.toml", tmp_path / "policy.toml"
    base.write_text(POLICY.format("one") + '[audience.reviewer]\nlike = "model"\n')
    policy.write_text('version = 1\nextends = "./base.toml"\n[audience.model]\nusable = "any"\n')
    engine = mcp_select.Engine.open(policy)
    engine.auto_reload(1)
    replace(base, POLICY.format("two"))
    stays(engine, "one")
    assert "reviewer" in engine.diagnostics()["error"]["message"]
    replace(base, POLICY.format("three") + '[audience.reviewer]\nlike = "model"\n')
    wait_until(lambda: placeholder(engine) == "three")


def publish(mount, number, text):
    """What the kubelet does: a new folder, a link to it, renamed over the old link."""
    folder = mount / f"..data_{number}"
    folder.mkdir()
    (folder / "policy.toml").write_text(text)
    new = mount / "..data_tmp"
    new.symlink_to(folder.name)
    os.replace(new, mount / "..data")


@pytest.fixture
def config_map(tmp_path):
    publish(tmp_path, 0, POLICY.format("0"))
    (tmp_path / "policy.toml").symlink_to("..data/policy.toml")
    return tmp_path


def test_a_config_map(config_map):
    engine = mcp_select.Engine.open(config_map / "policy.toml")
    engine.auto_reload(5)
    for number in range(1, 4):
        publish(config_map, number, POLICY.format(number))
        wait_until(lambda number=number: placeholder(engine) == str(number))
    assert engine.generation == 4


def test_threads_select_while_it_reloads(config_map):
    engine = mcp_select.Engine.open(config_map / "policy.toml")
    engine.auto_reload(1)
    stop, seen, wrong = threading.Event(), [0, 0, 0, 0], []

    def work(index):
        last = 0
        while not stop.is_set():
            selection = engine.select(NOTHING, server="s", tool=f"t{seen[index] % 7}")
            number = int(selection.text())
            # Generation, text and record are of one policy, and a thread never sees an older one again.
            if selection.generation < last or selection.decision["policy"]["generation"] != selection.generation:
                wrong.append((number, selection.generation, last))
            last = selection.generation
            seen[index] += 1

    threads = [threading.Thread(target=work, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for number in range(1, 11):
        publish(config_map, number, POLICY.format(number))
        engine.reload()
        time.sleep(0.02)
    stop.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert placeholder(engine) == "10"
    assert min(seen) > 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
def test_a_child_reloads_for_itself(policy):
    engine = mcp_select.Engine.open(policy)
    engine.auto_reload(5)
    assert placeholder(engine) == "one"
    ready, go = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.read(ready, 1)
            wait_until(lambda: placeholder(engine) == "two!")
            status = 0
        finally:
            os._exit(status)
    policy.write_text(POLICY.format("two!"))
    os.write(go, b"x")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert engine.reload() in (True, False)
    assert placeholder(engine) == "two!"
