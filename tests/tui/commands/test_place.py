"""The home that a command is told of is made by what writes, and left alone by what only asks."""

from pathlib import Path

from tests.tui.commands.conftest import Clew, refused


def test_a_home_that_is_not_there_is_not_made_by_a_question(clew: Clew, tmp_path: Path) -> None:
    there = tmp_path / "elsewhere" / "home"
    asked = (("schema",), ("query", "RETURN 1"), ("query", "--ask", "how many messages?"))
    refused(clew, *((("--home", str(there), *argv), 66, "") for argv in asked))
    assert not there.parent.exists()
