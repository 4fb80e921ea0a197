"""A title is shown while every turn it was made from is live; else the one before it, else the first words that are."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.events import (
    MAIN_WORLD,
    HeadMoved,
    SessionDeleted,
    SessionForked,
    SessionRenamed,
    SessionTitled,
    TurnDeleted,
    TurnHidden,
    TurnReleased,
    TurnTaken,
    TurnUnhidden,
    TurnWithheld,
)
from graph.memory import Memory
from graph.projection.paths import Paths
from tests.examples import examples
from tests.graph.talk import reply, said, talk


def titled(session: str, text: str, *sources: str) -> SessionTitled:
    return SessionTitled(session=session, sources=sources, text=text)


@pytest.fixture
def named(memory: Memory) -> Memory:
    talk(memory, 6)
    memory.append(titled("s", "first", "s0"), titled("s", "better", "s0", "s1"), titled("s", "late", "s0", "s1", "s4"))
    return memory


@pytest.mark.parametrize(
    ("out", "back"),
    [
        (TurnHidden(turn="s4"), TurnUnhidden(turn="s4")),
        (TurnWithheld(turn="s4"), TurnReleased(turn="s4")),
        (HeadMoved(session="s", turn="s3"), HeadMoved(session="s", turn="s4")),
    ],
)
def test_the_title_before_it_is_shown_until_its_source_is_back(named: Memory, out: Any, back: Any) -> None:
    assert named.readings.session("s").name == "late"
    named.append(out)
    assert [session.name for session in named.readings.sessions()] == ["better"] == [named.readings.session("s").name]
    named.append(back)
    assert named.readings.session("s").name == "late"


def test_each_source_counts_and_a_name_by_hand_beats_them_all(named: Memory) -> None:
    named.append(TurnHidden(turn="s1"))
    assert named.readings.session("s").name == "first"
    named.append(TurnDeleted(turn="s0"))
    assert named.readings.session("s").name == "s2", "the first words of what is left"
    assert named.readings.session("s").turns == 5, "a deleted message is none"
    named.append(SessionRenamed(session="s", text="mine"))
    assert named.readings.session("s").name == "mine"


def test_another_answer_or_another_beginning_takes_the_title_away(named: Memory) -> None:
    named.append(reply("other", parent="s0"))
    assert named.readings.session("s").name == "first"
    named.append(said("anew"))
    assert named.readings.session("s").name == "anew"
    named.append(HeadMoved(session="s", turn="s5"))
    assert named.readings.session("s").name == "late"


def test_a_fork_keeps_the_titles_of_what_it_keeps(named: Memory) -> None:
    named.append(SessionForked(session="f", origin="s", at="s1", client="x"), titled("f", "of the fork", "s0", "s4"))
    named.append(HeadMoved(session="s", turn=None))
    assert (named.readings.session("s").name, named.readings.session("f").name) == ("better", None)
    named.append(SessionDeleted(session="f"))
    assert named.readings.session("s").name is None


def test_a_chat_whose_first_message_is_hidden_is_called_by_the_next_and_one_without_words_by_nothing(
    memory: Memory,
) -> None:
    talk(memory, 4)
    memory.append(titled("s", "first", "s0"), TurnHidden(turn="s0"))
    assert memory.readings.session("s").name == "s2"
    memory.append(TurnHidden(turn="s2"))
    assert memory.readings.session("s").name is None
    memory.append(TurnUnhidden(turn="s0"))
    assert memory.readings.session("s").name == "first"


def test_a_title_of_nothing_said_stays(memory: Memory) -> None:
    talk(memory, 2)
    memory.append(titled("s", "imported"), HeadMoved(session="s", turn=None))
    assert memory.readings.session("s").name == "imported"


STEPS = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 99), st.integers(0, 99)), min_size=5, max_size=40)


@examples(60)
@given(steps=STEPS)
def test_a_glance_says_what_a_walk_says(tmp_path_factory: pytest.TempPathFactory, steps: list[Any]) -> None:
    memory = Memory.open(tmp_path_factory.mktemp("memory"), command="test")
    try:
        sessions, head = ["s"], {"s": "s5"}
        turns = talk(memory, 6)
        for place, (kind, a, b) in enumerate(steps):
            session, turn = sessions[a % len(sessions)], turns[b % len(turns)]
            _step(memory, kind, session, turn, f"n{place}", sessions, head, turns)
        with memory.readings.snapshot() as db:
            for session in sessions:
                assert memory.readings.session(session).name == _expected(memory, db, session)
    finally:
        memory.close()


def _step(
    memory: Memory,
    kind: int,
    session: str,
    turn: str,
    new: str,
    sessions: list[str],
    head: dict[str, str],
    turns: list[str],
) -> None:
    """Say something, at the end or (rarely) elsewhere; title, move, hide, fork, queue."""
    match kind:
        case 0 | 1:
            memory.append(said(new, session, parent=head[session]))
            head[session] = new
            turns.append(new)
        case 2:
            memory.append(titled(session, f"{new} of {turn}", turn))
        case 3:
            memory.append(HeadMoved(session=session, turn=turn))
            head[session] = turn
        case 4:
            memory.append((TurnHidden if len(new) % 2 else TurnUnhidden)(turn=turn))
        case 5:
            memory.append(SessionForked(session=new, origin=session, at=turn, client="x"))
            sessions.append(new)
            head[new] = turn
        case 6:
            memory.append(said(new, session, queued=True), TurnTaken(turn=new, session=session, parent=head[session]))
            head[session] = new
            turns.append(new)
        case _:
            above = memory.readings.turn(head[session]).parent
            memory.append(said(new, session, parent=above))
            head[session] = new
            turns.append(new)


def _expected(memory: Memory, db: Any, session: str) -> str | None:
    query = """
    SELECT text, structure ->> '$.sources[0]' FROM events
    WHERE structure ->> '$.session' = ? AND kind = 'session.titled' ORDER BY seq DESC
    """
    words = """
    SELECT text, structure ->> '$.turn' FROM events
    WHERE structure ->> '$.session' = ? AND kind = 'turn.said' AND structure ->> '$.role' = 'user' ORDER BY seq
    """
    paths = Paths(db)
    titles = db.execute(query, (session,)).fetchall()
    found = titles + db.execute(words, (session,)).fetchall() if titles else []
    return next((text for text, turn in found if paths.sees(turn, MAIN_WORLD)), None)
