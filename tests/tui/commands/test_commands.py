"""The command line as a whole: help, usage, the home folder, errors, and what is not imported."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from bench.killing import CLEW
from graph.errors import MemoryHeld
from tests.tui.commands.conftest import Clew, Remember, held, modules_of, refused, started
from tui.commands import COMMANDS, home_first
from tui.exit_codes import ExitCode
from tui.version import VERSION

README = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")


def test_help_names_every_command_and_every_exit_code(clew: Clew) -> None:
    ended = clew("--help")
    assert ended.code == 0
    for name in COMMANDS:
        assert f"\n  {name} " in ended.out
    codes = {int(word) for word in ended.out.partition("Exit codes:")[2].replace(",", " ").split() if word.isdigit()}
    assert codes == set(map(int, ExitCode))


def test_the_readme_lists_every_exit_code_and_every_command_once() -> None:
    table = README.partition("| exit code |")[2].partition("\n\n")[0]
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)] == list(map(int, ExitCode))
    table = README.partition("| command | does |")[2].partition("\n\n")[0]
    heads = [row.split("|")[1] for row in table.splitlines()[2:]]
    listed = [name for head in heads for name in re.findall(r"`clew ([a-z]+)", head)]
    assert sorted(listed) == sorted(COMMANDS)


@pytest.mark.process
def test_where_nothing_can_be_narrated_or_written_a_command_ends_as_ever_or_with_74(
    environment: dict[str, str], remember: Remember
) -> None:
    remember("one")
    with Path("/dev/full").open("wb") as full:
        for argv, code in ((("show", "01ARZ3"), 66), (("log", "--nonsense"), 74), (("log", "--client", "x"), 0)):
            assert started(environment, *argv, stderr=full).returncode == code
        ended = started(environment | {"CLEW_SAMPLING__MAX_TOKENS": "4"}, "ask", "hi", stderr=full)
        assert ended.returncode == 0
        assert ended.stdout.strip()
        ended = started(environment, "log", stdout=full)
        assert ended.returncode == 74
        assert ended.stderr.splitlines() == [b"clew: [Errno 28] No space left on device"]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(clew: Clew, name: str) -> None:
    ended = clew(name, "-h")
    assert ended.code == 0
    assert ended.out.startswith(f"Usage: clew {name}")
    assert ended.out == clew(name, "--help").out
    assert not re.search(r"<|list\[| range\b|\[\[", ended.out), "names, and no types of Python"
    if "--limit" in ended.out:
        assert "-k, --limit N" in ended.out
    if "--dry-run" in ended.out:
        assert "-n, --dry-run" in ended.out
    if name in ("recall", "recent", "about", "themes"):
        assert "--json" in ended.out


def test_no_summary_of_a_command_is_cut(clew: Clew) -> None:
    listed = clew("-h").out.partition("Commands:\n")[2].partition("\n\n")[0]
    summaries = [" ".join(each.split()[1:]) for each in re.split(r"\n  (?=\w)", "\n" + listed)[1:]]
    assert len(summaries) == len(COMMANDS)
    assert not [each for each in summaries if each[-1] not in ".…" or each.endswith("...")]


@pytest.mark.restarts
def test_what_makes_no_sense_is_refused_in_words_and_makes_no_memory(clew: Clew, home: Path) -> None:
    rows = tomllib.loads(Path(__file__).with_name("refused.toml").read_text(encoding="utf-8"))["rows"]
    refused(clew, *((tuple(row["argv"]), row["code"], row["says"]) for row in rows), stdin=b" \n")
    assert not (home / "memory" / "log.sqlite").exists()
    assert not (home / "backups").exists()


def test_the_version_is_told(clew: Clew) -> None:
    assert clew("--version").out == f"clew {VERSION}\n"


@pytest.mark.restarts
def test_home_may_stand_anywhere_and_one_that_cannot_be_made_is_73(clew: Clew, tmp_path: Path) -> None:
    for number, argv in enumerate(
        (
            ("--home", "{}", "blocks", "human", "hello"),
            ("blocks", "--home", "{}", "human", "hello"),
            ("blocks", "human", "hello", "--home={}"),
            ("--home={}", "blocks", "human", "hello"),
        )
    ):
        there = tmp_path / str(number)
        assert clew(*(word.format(there) for word in argv)).code == 0
        assert (there / "memory").is_dir()
    (tmp_path / "file").write_text("not a folder")
    refused(clew, (("blocks", "x", "y", "--home", str(tmp_path / "file" / "home")), 73, "Nothing was changed"))


def test_words_after_two_dashes_are_no_options() -> None:
    assert home_first(["ask", "--", "--home", "is where"]) == ["ask", "--", "--home", "is where"]
    assert home_first(["ask", "x", "--home"]) == ["ask", "x", "--home"]


@pytest.mark.restarts
def test_reading_commands_work_on_a_home_that_cannot_be_written(
    clew: Clew, home: Path, remember: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = remember("one")
    monkeypatch.setattr(os, "access", lambda path, mode: not (mode & os.W_OK))
    for argv in (("log",), ("sessions",), ("show", said.turn), ("doctor", "--no-model"), ("models", "list")):
        ended = clew(*argv)
        assert ended.code == 0, (argv, ended.err)
    assert clew("rebuild").code == 73


def test_what_holds_the_graph_ends_75_at_once_and_names_the_holder(clew: Clew, remember: Remember, home: Path) -> None:
    said = remember("The ferry leaves at nine.")
    beside = re.findall(r"`(?:clew )?(\w+)`", str(MemoryHeld(None)).partition("Close that one first;")[2])
    assert {"log", "tree", "export", "backup"} <= set(beside)
    given = {"show": (said.turn,), "about": ("ferry",), "backup": (str(home / "copy.sqlite"),)}
    with held(home):
        holder = f"`clew (chat)` (process {os.getpid()})"
        refused(clew, *((argv, 75, holder) for argv in (("rebuild",), ("erase", "--yes"), ("memories",))))
        for name in beside:
            ended = clew(name, *given.get(name, ()))
            assert ended.code == 0, (name, ended.err)
    assert (home / "memory" / "log.sqlite").exists()


@pytest.mark.process
def test_a_reader_that_goes_away_is_141_without_a_word(environment: dict[str, str], remember: Remember) -> None:
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
def test_closed_streams_are_no_reason_to_fail(environment: dict[str, str], remember: Remember) -> None:
    remember("one")
    for closed in (">&-", "2>&-", "<&-", "<&- >&- 2>&-"):
        line = f'"$0" "$@" {closed}'
        ended = subprocess.run(["sh", "-c", line, *CLEW, "log"], capture_output=True, env=environment)
        assert ended.returncode == 0, (closed, ended.stderr)


@pytest.mark.process
def test_reading_imports_no_graph_no_models_and_no_screen(environment: dict[str, str], remember: Remember) -> None:
    remember("one")
    heavy = {"kuzu", "llama_cpp", "textual", "numpy", "pyarrow", "huggingface_hub", "agent.agent", "models.generator"}
    for argv in (("log",), ("sessions", "--json"), ("show", "last")):
        assert not heavy & modules_of(*argv, environment=environment), argv
