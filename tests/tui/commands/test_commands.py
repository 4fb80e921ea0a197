"""The command line as a whole: help, usage, the home folder, errors, and what is not imported."""

import os
import re
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bench.killing import CLEW
from graph.errors import MemoryHeld
from graph.memory import Memory
from tests.tui.commands.conftest import modules_of
from tui.commands import COMMANDS, home_first
from tui.exit_codes import ExitCode
from tui.version import VERSION

Run = Callable[..., Any]


def test_help_names_every_command_and_every_exit_code(clew: Run) -> None:
    ended = clew("--help")
    assert ended.code == 0
    for name in COMMANDS:
        assert f"\n  {name} " in ended.out
    codes = {int(word) for word in ended.out.partition("Exit codes:")[2].replace(",", " ").split() if word.isdigit()}
    assert codes == set(map(int, ExitCode))


def test_the_readme_lists_every_exit_code_once() -> None:
    readme = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
    table = readme.partition("| exit code |")[2].partition("\n\n")[0]
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)] == list(map(int, ExitCode))


@pytest.mark.process
@pytest.mark.parametrize(("argv", "code"), [(("log",), 0), (("show", "01ARZ3"), 66), (("log", "--nonsense"), 74)])
def test_a_narration_that_cannot_be_written_does_not_change_how_a_command_ends(
    environment: dict[str, str], argv: tuple[str, ...], code: int
) -> None:
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [*CLEW, *argv],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=full,
            env=environment,
            check=False,
        )
    assert ended.returncode == code


@pytest.mark.process
def test_a_reply_is_given_where_nothing_can_be_narrated(environment: dict[str, str]) -> None:
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [*CLEW, "ask", "hi"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=full,
            env=environment | {"CLEW_SAMPLING__MAX_TOKENS": "4"},
            check=False,
        )
    assert ended.returncode == 0
    assert ended.stdout.strip()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(clew: Run, name: str) -> None:
    ended = clew(name, "-h")
    assert ended.code == 0
    assert ended.out.startswith(f"Usage: clew {name}")
    assert ended.out == clew(name, "--help").out
    assert not re.search(r"<|list\[| range\b|\[\[", ended.out), "names, and no types of Python"
    if "--limit" in ended.out:
        assert "-k, --limit N" in ended.out
    if "--dry-run" in ended.out:
        assert "-n, --dry-run" in ended.out


def test_no_summary_of_a_command_is_cut(clew: Run) -> None:
    listed = clew("-h").out.partition("Commands:\n")[2].partition("\n\n")[0]
    summaries = [" ".join(each.split()[1:]) for each in re.split(r"\n  (?=\w)", "\n" + listed)[1:]]
    assert len(summaries) == len(COMMANDS)
    assert not [each for each in summaries if each[-1] not in ".…" or each.endswith("...")]


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        (("log", "--limit", "x"), "'x' is not a whole number"),
        (("log", "-k", "-1"), "-1 is too small: 0 is the least"),
        (("recall", "x", "--limit", "101"), "101 is too large: 100 is the most"),
        (("query", "RETURN 1", "--format", "xml"), "'xml' is not one of 'table', 'json', 'csv'"),
        (("query", "RETURN 1", "--timeout", "soon"), "'soon' is not a number"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_in_words(clew: Run, argv: tuple[str, ...], why: str) -> None:
    ended = clew(*argv)
    assert ended.code == ExitCode.USAGE
    assert f": {why}" in ended.err


def test_the_version_is_told(clew: Run) -> None:
    assert clew("--version").out == f"clew {VERSION}\n"


def test_a_misspelt_command_is_2_and_suggests_the_right_one(clew: Run) -> None:
    ended = clew("sesions")
    assert ended.code == 2
    assert "Did you mean 'sessions'" in ended.err


@pytest.mark.parametrize(
    "argv",
    [
        ("--home", "{}", "blocks", "human", "hello"),
        ("blocks", "--home", "{}", "human", "hello"),
        ("blocks", "human", "hello", "--home={}"),
        ("--home={}", "blocks", "human", "hello"),
    ],
)
def test_home_may_stand_anywhere(clew: Run, tmp_path: Path, argv: tuple[str, ...]) -> None:
    there = tmp_path / "there"
    assert clew(*(word.format(there) for word in argv)).code == 0
    assert (there / "memory").is_dir()


def test_words_after_two_dashes_are_no_options() -> None:
    assert home_first(["ask", "--", "--home", "is where"]) == ["ask", "--", "--home", "is where"]
    assert home_first(["ask", "x", "--home"]) == ["ask", "x", "--home"]


def test_a_home_that_cannot_be_made_is_73(clew: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    ended = clew("blocks", "human", "hello", "--home", str(tmp_path / "file" / "home"))
    assert ended.code == 73
    assert "Nothing was changed" in ended.err


@pytest.mark.restarts
def test_reading_commands_work_on_a_home_that_cannot_be_written(
    clew: Run, home: Path, remember: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = remember("one")
    monkeypatch.setattr(os, "access", lambda path, mode: not (mode & os.W_OK))
    monkeypatch.setattr("models.quiet.guard_descriptors", lambda log_file: None)  # they are this process's own
    for argv in (("log",), ("sessions",), ("show", said.turn), ("doctor", "--no-model"), ("models", "list")):
        ended = clew(*argv)
        assert ended.code == 0, (argv, ended.err)
    assert clew("rebuild").code == 73


def test_everything_that_is_made_is_private(spawn: Run, home: Path, remember: Run) -> None:
    remember("one")
    spawn("log", "--home", str(home / "second"))
    for root, folders, files in os.walk(home / "second"):
        for name in [*folders, *files]:
            assert (Path(root) / name).stat().st_mode & 0o077 == 0, name


def test_what_holds_the_graph_ends_75_at_once_and_names_the_holder(clew: Run, remember: Run, home: Path) -> None:
    remember("one")
    memory = Memory.open(home / "memory", command="clew (chat)")
    try:
        for argv in (["rebuild"], ["erase", "--yes"]):
            ended = clew(*argv)
            assert ended.code == 75, argv
            assert f"`clew (chat)` (process {os.getpid()})" in ended.err
    finally:
        memory.close()
    assert (home / "memory" / "log.sqlite").exists()


@pytest.mark.process
def test_a_reader_that_goes_away_is_141_without_a_word(environment: dict[str, str], remember: Run) -> None:
    said = remember("one", "long " * 50_000)
    with subprocess.Popen(
        [*CLEW, "show", said.turn], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.wait(60) == 141
        assert process.stderr.read() == b""


@pytest.mark.process
def test_an_output_that_cannot_be_written_is_74(environment: dict[str, str], remember: Run) -> None:
    remember("one")
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [*CLEW, "log"],
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            check=False,
        )
    assert ended.returncode == 74
    assert ended.stderr.splitlines() == ["clew: [Errno 28] No space left on device"]


@pytest.mark.process
def test_closed_streams_are_no_reason_to_fail(environment: dict[str, str], remember: Run) -> None:
    remember("one")
    for closed in (">&-", "2>&-", "<&-", "<&- >&- 2>&-"):
        line = f'"$0" "$@" {closed}'
        ended = subprocess.run(["sh", "-c", line, *CLEW, "log"], capture_output=True, env=environment, check=False)
        assert ended.returncode == 0, (closed, ended.stderr)


@pytest.mark.process
@pytest.mark.parametrize("argv", [("log",), ("sessions", "--json"), ("show", "last")])
def test_reading_imports_neither_the_graph_nor_models_nor_a_screen(
    environment: dict[str, str], remember: Run, argv: tuple[str, ...]
) -> None:
    remember("one")
    heavy = {"kuzu", "llama_cpp", "textual", "numpy", "pyarrow", "huggingface_hub", "agent.agent", "models.generator"}
    assert not heavy & modules_of(*argv, environment=environment)


def test_the_readme_lists_every_command_once() -> None:
    readme = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
    table = readme.partition("| command | does |")[2].partition("\n\n")[0]
    heads = [row.split("|")[1] for row in table.splitlines()[2:]]
    listed = [name for head in heads for name in re.findall(r"`clew ([a-z]+)", head)]
    assert sorted(listed) == sorted(COMMANDS)


def test_the_commands_that_are_said_to_work_beside_another_clew_do(clew: Run, remember: Run, home: Path) -> None:
    said = remember("The ferry leaves at nine.")
    told = str(MemoryHeld(None)).partition("Close that one first;")[2]
    beside = re.findall(r"`(?:clew )?(\w+)`", told)
    assert {"log", "tree", "export", "backup"} <= set(beside)
    given = {"show": (said.turn,), "about": ("ferry",), "backup": (str(home / "copy.sqlite"),)}
    with closing(Memory.open(home / "memory", command="test")):
        for name in beside:
            ended = clew(name, *given.get(name, ()))
            assert ended.code == 0, (name, ended.err)
        assert clew("memories").code == ExitCode.HELD
