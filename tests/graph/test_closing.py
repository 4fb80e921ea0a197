"""Closing a memory while its graph is still being opened, as every short-lived command does."""

import threading
from pathlib import Path

import pytest

from graph.errors import GraphFailure
from graph.memory import Memory


@pytest.mark.restarts
def test_closing_while_the_graph_opens_leaves_nobody_waiting(tmp_path: Path) -> None:
    for head_start in range(12):
        memory = Memory.open(tmp_path, command="test")
        begun = threading.Event()

        def opening(memory: Memory = memory, begun: threading.Event = begun) -> None:
            begun.set()
            try:
                memory.open_graph(lambda progress: None)
            except GraphFailure:
                return  # it was closed first

        thread = threading.Thread(target=opening, daemon=True)
        thread.start()
        if head_start % 3:
            begun.wait(10)
        memory.close()
        thread.join(30)
        assert not thread.is_alive()
