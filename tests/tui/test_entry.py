"""The way in: what the command line means, and a memory that is held."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from agent.home import Home
from graph.memory import Memory
from tui.backstage import Options
from tui.entry import chat_options, held_by, main
from tui.exit_codes import ExitCode
from tui.themes import first_theme


def test_bare_words_are_commands_and_known_options_are_the_chat_which_resumes_by_default() -> None:
    assert chat_options([]) == {}
    assert chat_options(["--home", "/x", "--model=a.gguf", "--new"]) == {"home": "/x", "model": "a.gguf", "new": True}
    assert chat_options(["--home", "/x", "log"]) is None
    assert chat_options(["--session"]) is None
    assert chat_options(["ask", "hello"]) is None
    assert Options() == Options(home=None, model=None, session=None, project=None, new=False)


def test_the_version_is_printed_and_without_a_terminal_it_says_what_to_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("clew ")
    assert main([]) == ExitCode.USAGE
    assert "clew ask" in capsys.readouterr().err


@pytest.mark.process
def test_a_held_memory_is_named_and_exits_75_before_anything_is_painted(tmp_path: Path) -> None:
    home = Home.resolve(tmp_path)
    memory = Memory.open(home.memory, command="clew (test)")
    leader, follower = pty.openpty()
    try:
        assert held_by(home) is not None
        code = "import sys; from tui.entry import main; sys.exit(main([]))"
        ended = subprocess.run(
            [sys.executable, "-c", code],
            stdin=follower,
            stdout=follower,
            stderr=subprocess.PIPE,
            env=os.environ | {"CLEW_HOME": str(tmp_path)},
            check=False,
        )
    finally:
        memory.close()
        os.close(leader)
        os.close(follower)
    assert ended.returncode == ExitCode.HELD
    assert b"clew (test)" in ended.stderr
    assert held_by(home) is None


def test_the_theme_of_the_first_paint_needs_no_valid_settings(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    assert first_theme(config) == "clew-dark"
    config.write_text('theme = "light"\n')
    assert first_theme(config) == "clew-light"
    config.write_text("theme = [broken")
    assert first_theme(config) == "clew-dark"
