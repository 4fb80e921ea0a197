"""What bench.fiction counts: each part finds what is wrong, where something is put in that is."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent import stories
from agent.home import Home
from bench.fiction import beliefs, picnic
from bench.fiction.imports import cards
from bench.fiction.isolation import isolation
from bench.fiction.opened import of_two, opened, say
from bench.fiction.recovery import differing
from graph.memory import Memory
from graph.values import Filters


async def test_who_was_away_goes_by_what_it_saw_and_who_is_given_everything_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = await beliefs.beliefs(tmp_path / "one", 4, 2, 0)
    assert (found["beliefs_right"], found["beliefs_told_new"]) == (4, 2)
    monkeypatch.setattr(stories, "Filters", lambda witness=None, **given: Filters(**given))
    assert (await beliefs.beliefs(tmp_path / "two", 4, 0, 0))["beliefs_right"] == 0


async def test_a_prop_that_a_summary_carries_on_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (await picnic.picnic(tmp_path / "one", 2, 0))["picnic_words_left"] == 0
    monkeypatch.setattr(stories, "spent", lambda play: frozenset())
    left = (await picnic.picnic(tmp_path / "two", 2, 0))["picnic_words_left"]
    assert isinstance(left, int)
    assert left > 0


async def test_a_sentence_of_a_story_is_in_no_memory_outside_it(tmp_path: Path) -> None:
    found = await isolation(tmp_path / "home", 6, 0, real_embedder=False)
    assert found["isolation_memories"] == found["isolation_recalled_in_main"] == 0
    assert found["isolation_learned_outside"] != 0


@pytest.mark.restarts
async def test_a_line_that_the_tables_lost_is_seen(tmp_path: Path) -> None:
    async with opened(tmp_path / "home") as agent:
        session, member = await of_two(agent)
        await say(agent, session, "Mara?")
        await agent.stories.put(session, member["Mara"], "mood", "wary")
        await agent.stories.place(session, member["Jonas"], present=False)
    folder = Home.resolve(tmp_path / "home").memory
    with closing(Memory.open(folder, command="test")) as memory:
        assert differing(memory) == []
    with closing(sqlite3.connect(folder / "log.sqlite", isolation_level=None)) as db:
        db.execute("DELETE FROM stage_lines WHERE seq = (SELECT max(seq) FROM stage_lines)")
    with closing(Memory.open(folder, command="test")) as memory:
        assert [each.split(": ")[1] for each in differing(memory)][-1] == "presence"


def test_cards_are_counted_as_they_come(tmp_path: Path) -> None:
    (tmp_path / "Mara.json").write_text('{"name": "Mara", "description": "A keeper."}')
    (tmp_path / "broken.json").write_text("{")
    found = cards(tmp_path)
    assert (found["cards_files"], found["cards_imported"], found["cards_refused"]) == (2, 1, 1)
    assert found["cards_told_at_length"] == found["cards_changed_by_export"] == 0
