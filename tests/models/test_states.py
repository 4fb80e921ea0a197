"""States on disk: bounded, private, and nothing that is not whole is ever given back."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from models import states
from models.protocols import KVState
from models.states import Header, KVStates, worth_keeping

STATE = KVState((5, 6, 7), memoryview(bytes(range(256)) * 20))
NOTE = {"marks": [{"turn": "T1"}], "left_out": {"T2": 4}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kv"


@pytest.fixture
def shelf(folder: Path, monkeypatch: pytest.MonkeyPatch) -> KVStates:
    monkeypatch.setattr(states, "RESERVE", 0)
    return KVStates(folder, limit=20_000)


def only(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


def test_a_state_comes_back_as_it_was_with_its_note_to_no_other_session_or_model(shelf: KVStates, folder: Path) -> None:
    assert shelf.save("A", "model", STATE, NOTE)
    kept = shelf.find("A", "model")
    assert kept is not None
    assert kept.header.note == NOTE
    back = shelf.read(kept)
    assert back is not None
    assert (back.tokens, bytes(back.data)) == (STATE.tokens, bytes(STATE.data))
    assert shelf.find("B", "model") is None
    assert shelf.find("A", "other") is None
    assert only(folder).stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700


def test_each_voice_of_a_session_has_its_own_and_one_saved_without_is_found(shelf: KVStates, folder: Path) -> None:
    for voice, note in ((None, "the assistant's"), ("mara/../x", "Mara's"), ("jonas", "Jonas's")):
        assert shelf.save("A", "model", STATE, note, voice=voice)
    assert {path.parent for path in folder.iterdir()} == {folder}
    assert (folder / "A-model.kv").exists()  # as it was called before there were voices

    def notes() -> list[object]:
        found = (shelf.find("A", "model", voice) for voice in (None, "mara/../x", "jonas"))
        return [kept.header.note if kept else None for kept in found]

    assert notes() == ["the assistant's", "Mara's", "Jonas's"]
    assert shelf.find("A", "model", "ada") is None
    shelf.tidy(("A",))
    shelf.forget_mentioning({"Mara's"})
    assert notes() == ["the assistant's", None, "Jonas's"]
    shelf.forget("A")
    assert list(folder.iterdir()) == []


def test_a_header_from_before_there_were_voices_is_read(shelf: KVStates) -> None:
    header = Header.model_validate_json('{"session": "A", "model": "m", "tokens": [1], "size": 1, "note": {}}')
    assert header.voice is None


def flip(at: int) -> Callable[[bytes], bytes]:
    return lambda data: data[:at] + bytes([data[at] ^ 1]) + data[at:][1:]


def test_what_is_not_whole_is_removed(shelf: KVStates, folder: Path) -> None:
    harms: list[Callable[[bytes], bytes]] = [
        *map(flip, (0, 20, 60, -1, -40, -3000)),
        lambda data: data[:-1],
        lambda data: data[:30],
        lambda data: data + b"x",
        lambda data: b"",
        lambda data: os.urandom(len(data)),
        lambda data: data[:8] + b"\xff" * 8 + data[16:],
    ]
    for number, harm in enumerate(harms):
        shelf.save("A", "model", STATE, NOTE)
        path = only(folder)
        path.write_bytes(harm(path.read_bytes()))
        kept = shelf.find("A", "model")
        assert kept is None or shelf.read(kept) is None, number
        assert not path.exists(), number


def test_a_state_of_another_model_session_or_voice_in_its_place_is_removed(shelf: KVStates, folder: Path) -> None:
    for session, model, voice in (("A", "elsewhere", None), ("B", "model", None), ("A", "model", "mara")):
        shelf.save(session, model, STATE, NOTE, voice=voice)
        only(folder).rename(folder / "A-model.kv")
        assert shelf.find("A", "model") is None
        assert list(folder.iterdir()) == []


def test_one_that_changed_between_its_header_and_its_payload_is_refused(shelf: KVStates) -> None:
    shelf.save("A", "model", STATE, NOTE)
    kept = shelf.find("A", "model")
    assert kept is not None
    shelf.save("A", "model", KVState((1,), STATE.data), NOTE)
    assert shelf.read(kept) is None


def test_past_the_limit_the_one_used_longest_ago_leaves(shelf: KVStates, folder: Path) -> None:
    for age, session in ((300, "A"), (200, "B"), (100, "C")):
        shelf.save(session, "model", STATE, NOTE)
        moment = folder.stat().st_mtime - age
        os.utime(folder / f"{session}-model.kv", (moment, moment))
    kept = shelf.find("A", "model")
    assert kept is not None
    assert shelf.read(kept) is not None  # used again, so now B is the oldest
    assert shelf.save("D", "model", STATE, NOTE)
    assert sorted(path.name[0] for path in folder.iterdir()) == ["A", "C", "D"]
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 20_000
    # One larger than the limit is not kept, and pushes nobody out.
    assert not shelf.save("E", "model", KVState((1,), memoryview(bytes(30_000))), NOTE)
    assert sorted(path.name[0] for path in folder.iterdir()) == ["A", "C", "D"]


def test_a_full_or_filling_disk_keeps_the_old(shelf: KVStates, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf.save("A", "model", STATE, NOTE)

    def full(data: memoryview) -> Any:
        yield data[:100]
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(states, "_chunks", full)
    assert not shelf.save("A", "model", KVState((1, 2), STATE.data), NOTE)
    monkeypatch.undo()
    kept = shelf.find("A", "model")
    assert kept is not None
    assert kept.header.tokens == STATE.tokens
    assert only(folder).name == "A-model.kv"
    monkeypatch.setattr(states, "RESERVE", 1 << 60)  # one that others need is left to them
    assert not shelf.save("B", "model", STATE, NOTE)
    assert only(folder).name == "A-model.kv"


def test_a_folder_that_cannot_be_made_means_no_states_and_no_error(tmp_path: Path) -> None:
    (tmp_path / "kv").write_text("a file")
    shelf = KVStates(tmp_path / "kv", limit=20_000)
    assert not shelf.save("A", "model", STATE, NOTE)
    assert shelf.find("A", "model") is None
    shelf.forget("A")
    shelf.tidy(())


def test_what_a_crash_left_unfinished_is_never_read_and_tidied_away(shelf: KVStates, folder: Path) -> None:
    shelf.save("A", "model", STATE, NOTE)
    whole = only(folder).read_bytes()
    only(folder).unlink()
    (folder / "A-model.new").write_bytes(whole[: len(whole) // 2])
    assert shelf.find("A", "model") is None
    shelf.tidy(("A",))
    assert list(folder.iterdir()) == []


def test_a_forgotten_session_and_those_that_mention_a_turn_are_gone(shelf: KVStates) -> None:
    for session in ("A", "B", "C"):
        shelf.save(session, "model", STATE, {"marks": [{"turn": f"turn-{session}"}]})
    shelf.forget("A")
    shelf.forget_mentioning({"turn-B", "turn-X"})
    assert [session for session in "ABC" if shelf.find(session, "model")] == ["C"]
    shelf.tidy(("A", "B"))
    assert shelf.find("C", "model") is None


def test_without_a_limit_states_take_one_context_or_both_voices(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "RESERVE", 0)
    shelf = KVStates(folder, limit=None)
    quarter = KVState(tuple(range(100)), memoryview(bytes(10_000)))
    for session in "ABCDE":
        assert shelf.save(session, "model", quarter, NOTE, context=400)
    assert sorted(path.name[0] for path in folder.iterdir()) == ["B", "C", "D", "E"]
    full = KVState(tuple(range(400)), memoryview(bytes(40_000)))
    assert shelf.save("F", "model", full, NOTE, context=400)
    assert only(folder).name == "F-model.kv"
    large = KVState(tuple(range(390)), memoryview(bytes(39_000)))
    for voice in ("mara", "jonas", "mara"):
        assert shelf.save("G", "model", large, NOTE, context=400, voice=voice)
    assert {path.name[0] for path in folder.iterdir()} == {"G"}
    assert shelf.find("G", "model", "mara")
    assert shelf.find("G", "model", "jonas")


def test_a_state_is_worth_its_place_where_it_spares_a_noticed_time() -> None:
    for tokens, bytes_each, reading_s, worth in (
        (60, 23_000, 0.003, False),  # a first exchange with the smallest model on two cores
        (300, 23_000, 0.003, True),
        (60, 147_000, 0.06, True),  # a model of 4 billion parameters on a processor
        (300, 147_000, 0.0004, False),  # on a GPU, which reads faster than the disk
        (200, 23_000, None, True),
    ):
        assert worth_keeping(tokens, tokens * bytes_each, reading_s) == worth
