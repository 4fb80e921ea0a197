"""Many go through together, or one alone."""

import threading
from concurrent.futures import ThreadPoolExecutor

from graph.kuzu.store import ReadWriteLock


def test_readers_are_inside_together() -> None:
    gate, meet = ReadWriteLock(), threading.Barrier(3, timeout=20)

    def read() -> None:
        with gate.shared():
            meet.wait()  # breaks unless all three are inside at once

    with ThreadPoolExecutor(3) as pool:
        for reader in [pool.submit(read) for _ in range(3)]:
            reader.result()


def test_who_is_alone_waits_for_those_inside_and_holds_newcomers_back() -> None:
    gate, order = ReadWriteLock(), list[str]()
    inside, leave = threading.Event(), threading.Event()

    def first() -> None:
        with gate.shared():
            inside.set()
            leave.wait()
            order.append("first")

    def alone() -> None:
        with gate.alone() as empty:
            assert empty
            order.append("alone")

    def second() -> None:
        with gate.shared():
            order.append("second")

    with ThreadPoolExecutor(3) as pool:
        pool.submit(first)
        inside.wait()
        waiting = pool.submit(alone)
        while not gate.held_back:
            pass
        pool.submit(second)
        leave.set()
        waiting.result()
    assert order == ["first", "alone", "second"]


def test_who_cannot_be_alone_in_time_lets_everybody_on() -> None:
    gate = ReadWriteLock()
    with gate.shared():
        with gate.alone(timeout_s=0.01) as empty:
            assert not empty
        with gate.shared():
            pass
    with gate.alone(timeout_s=0.01) as empty:
        assert empty
