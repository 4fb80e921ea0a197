"""Whatever is played, every chat of a story is what comes of its path; kept, rebuilt, or taken elsewhere."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.doctor import compare
from graph.events import TurnSaid
from graph.kuzu import rebuild
from graph.last_chat import last_chat
from graph.memory import Memory
from tests.examples import histories
from tests.graph.conftest import change, fresh, ignore
from tests.graph.projection.test_rebuild_equals_live import edges, folded
from tests.graph.stories.deeds import faults
from tests.graph.stories.histories import PLAYS, Plays, played
from tests.graph.stories.played import stands, view
from tests.graph.transfer.test_merging import bring, exported
from tests.reference import Reference

Steps = list[tuple[int, int, int, bool]]


def caught_up(memory: Memory) -> Reference:
    """The reference of a log, with the erasures that it added itself."""
    reference = Reference()
    for stored in memory._reader.events(limit=10_000):
        reference.apply(stored.event)
    return reference


def stages(memory: Memory, reference: Reference) -> dict[str, Any]:
    """By chat of a story what memory and reference say of it, where they differ."""
    differing: dict[str, Any] = {}
    for session in reference.head:
        if reference.world[session] not in reference.story:
            continue
        found = (
            [(each.id, each.name, each.seat, each.since) for each in memory.readings.cast(session)],
            stands(memory, session),
            {member: view(memory, member, session) for member in reference.members},
        )
        views = {member: reference.view(session, member) for member in reference.members}
        expected = reference.cast(session), reference.stage(session), views
        if found != expected:
            differing[session] = found, expected
    return differing


@histories(60)
@given(PLAYS)
def test_cast_stage_views_and_worlds_are_a_replay_of_each_path_with_tables_and_without(steps: Steps) -> None:
    plays = played(steps)
    with fresh() as memory:
        for number, event in enumerate(plays.events):
            memory.append(event)
            if number % 5 == 0 or number + 1 == len(plays.events):
                assert stages(memory, caught_up(memory)) == {}
        every_world_sees_its_own_turns_alone(memory, plays.reference)
        last = memory.readings.last_session()
        expected = memory.readings.thread(last) if last is not None else []
        memory.close()
        change(memory._folder, "DELETE FROM projected", "DELETE FROM turns")
        assert last_chat(memory._folder, 1_000) == expected


def every_world_sees_its_own_turns_alone(memory: Memory, known: Reference) -> None:
    for world in known.worlds:
        assert memory.readings.sees(world, known.home) == known.sees(world)
        assert {turn.id for turn in memory.readings.recent("turn", 999, world=world)} == known.standing(world)
        stories = {known.story.get(known.world[known.home[turn]]) for turn in known.sees(world)}
        assert stories <= {known.story.get(world)}


@histories(12)
@given(PLAYS)
def test_what_was_played_is_the_same_kept_followed_and_rebuilt(steps: Steps) -> None:
    plays = played(steps)
    with fresh(graph=True) as memory:
        for event in plays.events:
            assert not memory.append(event)[0].graph_behind
        assert memory._graph.inspect(lambda store, at: list(compare(folded(memory), store))) == []
        assert faults(memory) == []
        saw = {(member, turn) for turn, members in plays.reference.saw.items() for member in members}
        assert edges(memory, "WITNESSED") == saw
        for few in (0, len(plays.events)):  # loaded, and followed
            with pytest.MonkeyPatch.context() as monkeypatch:
                monkeypatch.setattr(rebuild, "FEW", few)
                memory.rebuild(ignore)
            assert faults(memory) == []
            assert stages(memory, caught_up(memory)) == {}


@histories(60)
@given(PLAYS, st.integers(3, 50), st.integers(0, 1_000_000))
def test_an_export_brings_all_of_it_or_the_story_of_a_chat_also_shuffled_and_in_two_goes(
    steps: Steps, at_once: int, seed: int
) -> None:
    plays, rng = played(steps), random.Random(seed)
    chats = [each for each in plays.reference.head if plays.story(each) is not None]
    with fresh() as here:
        here.append(*plays.events)
        whole = exported(here)
        shuffled = rng.sample(whole, len(whole))
        with fresh() as all:
            bring(all, shuffled, at_once=at_once, batches=seed % 5)
            assert bring(all, shuffled, at_once=at_once).refused == {}
            assert told(all, plays) == told(here, plays)
            assert bring(all, shuffled, at_once=at_once).new == 0
        for chat in rng.sample(chats, min(len(chats), 2)):
            with fresh() as one:
                assert bring(one, exported(here, chat), at_once=at_once).refused == {}
                assert told(one, plays, chat) == told(here, plays, chat), "but for names that were given in what-ifs"
                assert bring(one, whole, at_once=at_once).refused == {}
                assert faults(one, "graph") == []


def told(memory: Memory, plays: Plays, *only: str) -> dict[str, Any]:
    """What the chats of stories come to, apart from the numbers of events."""
    members = {event.speaker for event in plays.events if isinstance(event, TurnSaid)} | set(plays.reference.members)
    found: dict[str, Any] = {}
    for chat in only or [each for each in plays.reference.head if plays.story(each) is not None]:
        seats = [(each.id, each.seat, each.name if not only else "") for each in memory.readings.cast(chat)]
        views = {member: view(memory, member, chat) for member in sorted(members)}
        found[chat] = seats, stands(memory, chat), views
    return found
