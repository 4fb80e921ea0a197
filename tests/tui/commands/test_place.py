"""The home that a command is told of is made by what writes, and left alone by what only asks."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.mark.parametrize("asked", [("schema",), ("query", "RETURN 1"), ("query", "--ask", "how many messages?")])
def test_a_home_that_is_not_there_is_not_made_by_a_question(clew: Run, tmp_path: Path, asked: tuple[str, ...]) -> None:
    there = tmp_path / "elsewhere" / "home"
    ended = clew("--home", str(there), *asked)
    assert (ended.code, ended.out) == (66, "")
    assert not there.parent.exists()
