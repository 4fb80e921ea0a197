"""`clew reflect`, and what is said where exchanges wait for it."""

import asyncio
import json
import signal
from pathlib import Path

import pytest

from agent.reflections import Reflection
from graph.errors import LogUnwritable
from tests.tui.commands.conftest import Clew, refused
from tui.commands.waiting import waiting
from tui.exit_codes import ExitCode

WAITS = "1 exchange is waiting to be learned from: the chat does it automatically, `clew reflect` does it now."
NOTHING = {"reflected": 0, "learned": 0, "review": 0, "left": 0, "stopped": False}


def learning(clew: Clew) -> object:
    """What the doctor finds of it."""
    checks = clew("doctor", "--no-model", "--json").json["checks"]
    return next(check for check in checks if check["name"] == "learning")


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
def test_what_waits_is_told_on_stderr_and_by_the_doctor_and_learned_from_once(clew: Clew, waits: None) -> None:
    commands = (("memories",), ("memories", "--json"), ("review",))
    for command in commands:
        assert WAITS in clew(*command).err.splitlines()
    assert learning(clew) == {"name": "learning", "ok": True, "detail": WAITS, "advice": ""}
    ended = clew("reflect", "--no-model")
    assert (ended.code, ended.err) == (ExitCode.OK, "")
    assert ended.out == "Reflected on 1 exchange and learned 2 things. `clew memories` lists them.\n"
    assert {each["text"] for each in clew("memories", "--json").json} == {"I live in Oslo.", "My name is Wilma."}
    assert clew("reflect", "--no-model").out == "Nothing is waiting to be learned from.\n"
    for command in commands:
        assert "to be learned from" not in clew(*command).err
    assert "'detail': 'nothing is waiting to be learned from'" in str(learning(clew))


@pytest.mark.restarts
def test_an_exchange_can_be_learned_from_again_and_nothing_is_learned_twice(clew: Clew, waits: None) -> None:
    assert clew("reflect", "--no-model", "--json").json == NOTHING | {"reflected": 1, "learned": 2}
    assert clew("reflect", "--no-model", "--json").json == NOTHING
    turn = clew("log", "--json").json[0]["turn"]
    for _ in range(2):
        ended = clew("reflect", "--again", turn.lower(), "--no-model", "--no-reinforce")
        told = "Reflected on 1 exchange and learned nothing new. `clew memories` lists them.\n"
        assert (ended.code, ended.out) == (ExitCode.OK, told)
    assert sorted(each["proof_count"] for each in clew("memories", "--all", "--json").json) == [1, 1]
    clew("hide", turn)
    refused(
        clew,
        (("reflect", "--again", turn, "--no-model"), ExitCode.NOT_FOUND, "is hidden"),
        (("reflect", "--again", "nothing", "--no-model"), ExitCode.NOT_FOUND, "There is no message nothing"),
    )


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


def test_a_home_without_a_memory_is_given_none(clew: Clew, home: Path) -> None:
    ended = clew("reflect", "--json")
    assert (ended.code, ended.json) == (ExitCode.OK, NOTHING)
    assert not (home / "memory" / "log.sqlite").exists()


@pytest.mark.restarts
def test_a_model_that_is_not_there_or_a_full_disk_leaves_all_as_it_is_and_is_told(
    clew: Clew, waits: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def full(self: Reflection, **how: bool) -> None:
        raise LogUnwritable("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(Reflection, "run", full)
        refused(clew, (("reflect", "--no-model"), ExitCode.IO_ERROR, "the disk is full"))
    for name in ("CLEW_MODEL", "CLEW_EMBEDDER"):
        monkeypatch.setenv(name, str(tmp_path / "none.gguf"))
    told = "Nothing was reflected on. `clew reflect --no-model`"
    refused(clew, (("reflect",), ExitCode.UNAVAILABLE, told))
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


def test_how_many_wait_is_said_in_plain_words_and_not_that_the_chat_does_it_where_it_does_not() -> None:
    assert waiting(0) == ""
    assert waiting(1_200).startswith("1,200 exchanges are waiting to be learned from: the chat does it automatically")
    assert waiting(2, by_itself=False) == "2 exchanges are waiting to be learned from: `clew reflect` does it now."
