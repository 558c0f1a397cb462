"""Many threads, event loops, forks, process pools, and memory that stays flat."""

import asyncio
import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest

import mcp_select

ENGINE = mcp_select.Engine.builtin("lossless")


def result(number):
    return b'{"content":[{"type":"text","text":"%d found."}],"structuredContent":{"name":"item %d"}}' % (number, number)


def text(number):
    return f'{number} found.\n{{"name":"item {number}"}}'


def seen(number):
    selection = ENGINE.select(result(number), server="s", tool=f"t{number % 5}")
    return selection.text(), len(selection.decision_json) > 100


def test_threads():
    with ThreadPoolExecutor(8) as pool:
        for number, got in enumerate(pool.map(seen, range(4000))):
            assert got == (text(number), True)


def test_one_selection_read_by_many_threads():
    selection = ENGINE.select(result(7), server="s", tool="t")
    record = selection.decision_json
    with ThreadPoolExecutor(8) as pool:
        reads = [pool.submit(lambda: (selection.text(), selection.json, selection.decision_json)) for _ in range(500)]
        assert {read.result() for read in reads} == {(text(7), selection.json, record)}


def test_an_event_loop():
    async def one(number):
        await asyncio.sleep(0)
        here = ENGINE.select(result(number), server="s", tool="t").text()
        there = await asyncio.to_thread(lambda: ENGINE.select(result(number), server="s", tool="t").text())
        return here == there == text(number)

    async def many():
        return await asyncio.gather(*(one(number) for number in range(200)))

    assert all(asyncio.run(many()))


def test_other_threads_run_while_the_library_works():
    large = b'{"content":[{"type":"text","text":"x"}],"structuredContent":{"a":["%s"]}}' % (b"a b c " * 1_000_000)
    go, ran = threading.Event(), []

    def other():
        go.wait()
        ran.append(time.perf_counter())

    thread = threading.Thread(target=other)
    thread.start()
    interval = sys.getswitchinterval()
    # Nobody is asked for the GIL within this time: the other thread gets it only because the call gives it up.
    sys.setswitchinterval(10)
    try:
        go.set()
        ENGINE.select(large, server="s", tool="t")
        done = time.perf_counter()
    finally:
        sys.setswitchinterval(interval)
        thread.join()
    assert ran[0] < done


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_forks_while_threads_select():
    stop = threading.Event()

    def work():
        shared = ENGINE.select(result(1), server="s", tool="t")
        number = 0
        while not stop.is_set():
            number += 1
            seen(number)
            shared.text()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(30):
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    signal.alarm(20)  # a child that hangs dies of it
                    status = 0 if all(seen(number) == (text(number), True) for number in range(50)) else 2
                finally:
                    os._exit(status)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@pytest.mark.parametrize("method", [m for m in ("fork", "spawn") if m in multiprocessing.get_all_start_methods()])
def test_process_pools(method):
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        for number, got in enumerate(pool.map(seen, range(20))):
            assert got == (text(number), True)


def test_memory_stays_flat():
    if not os.path.exists("/proc/self/statm"):
        pytest.skip("no /proc on this platform")
    engine = mcp_select.Engine.builtin("lossless")
    # MCP_SELECT_SELECTIONS=1000000 for the long run.
    rounds = int(os.environ.get("MCP_SELECT_SELECTIONS", "200000"))

    def run(count):
        for number in range(count):
            selection = engine.select(result(number), server="s", tool=f"t{number % 10_000}")
            if number % 16 == 0:
                selection.text()
                selection.decision  # noqa: B018
            if number % 64 == 0:
                with pytest.raises(mcp_select.ResultError):
                    engine.select(b'{"content":7}', server="s", tool="t")

    def resident():
        gc.collect()
        with open("/proc/self/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    run(rounds // 5)  # fills the remembered requests and warms the allocator
    before = resident()
    run(rounds)
    grown = resident() - before
    print(f"{rounds} selections: {before >> 20} MiB resident, {grown / 1024:.0f} KiB more after them")
    assert grown < 2 << 20
