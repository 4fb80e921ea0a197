"""`clew reflect`, and what is said where exchanges wait for it."""

import asyncio
import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.reflections import Reflection
from graph.errors import LogUnwritable
from tests.tui.commands.conftest import Ended
from tui.commands.waiting import waiting
from tui.exit_codes import ExitCode

Clew = Callable[..., Ended]
WAITS = "1 exchange is waiting to be learned from: the chat does it automatically, `clew reflect` does it now."
NOTHING = {"reflected": 0, "learned": 0, "review": 0, "left": 0, "stopped": False}


@pytest.fixture
def waits(clew: Clew, tmp_path: Path) -> None:
    """A chat that was imported, and nothing learned from it."""
    file = tmp_path / "chat.jsonl"
    lines = [
        {"role": "user", "text": "I live in Oslo.", "time": 1700000000},
        {"role": "user", "text": "My name is Wilma.", "time": 1700000001},
        {"role": "assistant", "text": "A fine town.", "time": 1700000002},
    ]
    file.write_text("\n".join(map(json.dumps, lines)))
    assert clew("import", str(file), "--no-embed").code == ExitCode.OK


@pytest.mark.restarts
def test_what_waits_is_learned_from_once(clew: Clew, waits: None) -> None:
    ended = clew("reflect", "--no-model")
    assert (ended.code, ended.err) == (ExitCode.OK, "")
    assert ended.out == "Reflected on 1 exchange and learned 2 things. `clew memories` lists them.\n"
    assert {each["text"] for each in clew("memories", "--json").json} == {"I live in Oslo.", "My name is Wilma."}
    assert clew("reflect", "--no-model").out == "Nothing is waiting to be learned from.\n"


@pytest.mark.restarts
def test_an_exchange_can_be_learned_from_again_and_nothing_is_learned_twice(clew: Clew, waits: None) -> None:
    clew("reflect", "--no-model")
    turn = clew("log", "--json").json[0]["turn"]
    for _ in range(2):
        ended = clew("reflect", "--again", turn.lower(), "--no-model", "--no-reinforce")
        assert (ended.code, ended.out) == (
            ExitCode.OK,
            "Reflected on 1 exchange and learned nothing new. `clew memories` lists them.\n",
        )
    assert sorted(each["proof_count"] for each in clew("memories", "--all", "--json").json) == [1, 1]
    clew("hide", turn)
    for unknown, why in ((turn, "is hidden"), ("nothing", "There is no message nothing")):
        ended = clew("reflect", "--again", unknown, "--no-model")
        assert (ended.code, ended.out) == (ExitCode.NOT_FOUND, "")
        assert why in ended.err


@pytest.mark.restarts
def test_an_imported_chat_keeps_the_way_to_how_things_are_now(clew: Clew, tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    towns = ("I live in Delft.", "I moved to Breda, I no longer live in Delft.", "I live in Utrecht now.")
    lines = [(role, text) for town in towns for role, text in (("user", town), ("assistant", "Nice."))]
    file.write_text("\n".join(json.dumps({"role": role, "text": text}) for role, text in lines))
    clew("import", str(file), "--no-embed")
    assert clew("reflect", "--no-model", "--json").json["reflected"] == 3
    told = clew("memories", "--all", "--json").json
    statuses = [each["status"] for each in told if each["text"] in towns]
    assert sorted(statuses) == ["active", "superseded", "superseded"]


@pytest.mark.restarts
def test_the_counts_are_there_for_programs(clew: Clew, waits: None) -> None:
    assert clew("reflect", "--no-model", "--json").json == NOTHING | {"reflected": 1, "learned": 2}
    assert clew("reflect", "--no-model", "--json").json == NOTHING


def test_a_home_without_a_memory_is_given_none(clew: Clew, home: Path) -> None:
    ended = clew("reflect", "--json")
    assert (ended.code, ended.json) == (ExitCode.OK, NOTHING)
    assert clew("reflect", "--again", "01ABCDEF").code == ExitCode.NOT_FOUND
    assert not (home / "memory" / "log.sqlite").exists()


@pytest.mark.restarts
def test_a_model_that_is_not_there_leaves_all_as_it_is_and_names_the_way_without(
    clew: Clew, waits: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("CLEW_MODEL", "CLEW_EMBEDDER"):
        monkeypatch.setenv(name, str(tmp_path / "none.gguf"))
    ended = clew("reflect")
    assert (ended.code, ended.out) == (ExitCode.UNAVAILABLE, "")
    assert "Nothing was reflected on. `clew reflect --no-model`" in ended.err
    assert clew("reflect", "--no-model", "--json").json == NOTHING | {"reflected": 1, "learned": 2}


@pytest.mark.restarts
def test_ctrl_c_keeps_what_was_learned_and_says_how_to_go_on(
    clew: Clew, waits: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Reflection.run

    async def interrupted(self: Reflection, **how: bool) -> None:
        await whole(self, **how)
        signal.raise_signal(signal.SIGINT)
        await asyncio.Event().wait()

    monkeypatch.setattr(Reflection, "run", interrupted)
    ended = clew("reflect", "--no-model")
    assert ended.code == ExitCode.INTERRUPTED
    assert "learned 2 things" in ended.out
    assert "Stopped. What was learned stays" in ended.err


@pytest.mark.restarts
def test_a_disk_that_is_full_is_no_success(clew: Clew, waits: None, monkeypatch: pytest.MonkeyPatch) -> None:
    async def full(self: Reflection, **how: bool) -> None:
        raise LogUnwritable("the disk is full")

    monkeypatch.setattr(Reflection, "run", full)
    ended = clew("reflect", "--no-model")
    assert (ended.code, ended.out) == (ExitCode.IO_ERROR, "")
    assert "the disk is full" in ended.err


@pytest.mark.parametrize("command", [("memories",), ("memories", "--json"), ("review",)])
@pytest.mark.restarts
def test_what_lists_memories_says_on_stderr_that_exchanges_wait(
    clew: Clew, waits: None, command: tuple[str, ...]
) -> None:
    assert WAITS in clew(*command).err.splitlines()
    clew("reflect", "--no-model")
    assert "to be learned from" not in clew(*command).err


@pytest.mark.restarts
def test_the_doctor_finds_that_exchanges_wait_and_that_this_is_well(clew: Clew, waits: None) -> None:
    def learning() -> dict[str, object]:
        checks = clew("doctor", "--no-model", "--json").json["checks"]
        return next(check for check in checks if check["name"] == "learning")

    assert learning() == {"name": "learning", "ok": True, "detail": WAITS, "advice": ""}
    clew("reflect", "--no-model")
    assert learning()["detail"] == "nothing is waiting to be learned from"


def test_how_many_wait_is_said_in_plain_words_and_not_that_the_chat_does_it_where_it_does_not() -> None:
    assert waiting(0) == ""
    assert waiting(1_200).startswith("1,200 exchanges are waiting to be learned from: the chat does it automatically")
    assert waiting(2, by_itself=False) == "2 exchanges are waiting to be learned from: `clew reflect` does it now."
