"""A title is shown while every turn it was made from is live; else the one before it, else the first words that are.

Where its own words are erased, the first words that are live are shown in its place.
"""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.memory import Memory
from graph.projection.paths import Paths
from tests.examples import examples
from tests.graph.conftest import fresh
from tests.graph.deeds import delete, drop, fork, hide, move, release, rename, titled, unhide, withhold
from tests.graph.histories import history
from tests.graph.talk import reply, said, talk


@pytest.fixture
def named(memory: Memory) -> Memory:
    talk(memory, 6)
    memory.append(titled("s", "first", "s0"), titled("s", "better", "s0", "s1"), titled("s", "late", "s0", "s1", "s4"))
    return memory


def name(memory: Memory, session: str = "s") -> str | None:
    return memory.readings.session(session).name


def test_the_title_before_it_is_shown_until_its_source_is_back(named: Memory) -> None:
    for out, back in ((hide("s4"), unhide("s4")), (withhold("s4"), release("s4")), (move("s", "s3"), move("s", "s4"))):
        assert name(named) == "late"
        named.append(out)
        assert [session.name for session in named.readings.sessions()] == ["better"] == [name(named)]
        named.append(back)
    assert name(named) == "late"


def test_each_source_counts_and_a_name_by_hand_beats_them_all(named: Memory) -> None:
    named.append(reply("other", parent="s0"))
    assert name(named) == "first", "another answer takes titles away"
    named.append(said("anew"))
    assert name(named) == "anew", "and another beginning all of them"
    named.append(move("s", "s5"))
    assert name(named) == "late"
    named.append(hide("s1"))
    assert name(named) == "first"
    named.append(delete("s0"), hide("anew"))
    assert name(named) == "s2", "the first words of what is left"
    assert named.readings.session("s").turns == 7, "a deleted message is none"
    named.append(rename("s", "mine"))
    assert name(named) == "mine"


def test_a_fork_keeps_the_titles_of_what_it_keeps(named: Memory) -> None:
    named.append(fork("f", "s", "s1"), titled("f", "of the fork", "s0", "s4"))
    named.append(move("s", None))
    assert (name(named), name(named, "f")) == ("better", None)
    named.append(drop("f"))
    assert name(named) is None


def test_a_chat_whose_first_message_is_hidden_is_named_by_the_next_and_a_wordless_one_by_none(memory: Memory) -> None:
    talk(memory, 4)
    memory.append(titled("s", "first", "s0"), hide("s0"))
    assert name(memory) == "s2"
    memory.append(hide("s2"))
    assert name(memory) is None
    memory.append(unhide("s0"))
    assert name(memory) == "first"
    talk(memory, 2, "i")
    memory.append(titled("i", "imported"), move("i", None))
    assert name(memory, "i") == "imported", "a title of nothing said stays"


STEP = st.tuples(st.just(15) | st.integers(0, 18), st.integers(0, 999), st.integers(0, 999))  # 15 is a title


@examples(60)
@given(st.lists(STEP, min_size=5, max_size=40))
def test_a_glance_says_what_a_walk_says(steps: list[tuple[int, int, int]]) -> None:
    conversation = history(steps)
    with fresh() as memory:
        memory.append(*conversation.events)
        with memory.readings.snapshot() as db:
            for session, world in conversation.world.items():
                assert name(memory, session) == _expected(db, session, world)


def _expected(db: Any, session: str, world: str) -> str | None:
    query = """
    SELECT text, structure ->> '$.sources[0]', kind FROM events
    WHERE structure ->> '$.session' = ? AND kind IN ('session.titled', 'session.renamed') ORDER BY seq DESC
    """
    words = """
    SELECT text, structure ->> '$.turn' FROM events
    WHERE structure ->> '$.session' = ? AND kind = 'turn.said' AND structure ->> '$.role' = 'user' ORDER BY seq
    """
    paths = Paths(db)
    made = db.execute(query, (session,)).fetchall()
    by_hand = [text for text, _, kind in made if kind == "session.renamed"]
    if by_hand and by_hand[0] is not None:
        return str(by_hand[0])
    titles = [(text, turn) for text, turn, kind in made if kind == "session.titled"]
    found = [text for text, turn in titles if paths.sees(turn, world)][:1]  # no other takes the place of an erased one
    if titles:
        found += [text for text, turn in db.execute(words, (session,)) if paths.sees(turn, world)]
    return next((text for text in found if text is not None), None)
