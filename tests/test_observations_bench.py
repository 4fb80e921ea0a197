"""The benchmark of what is learned: its file is sound, its figures can be bad, and it runs end to end."""

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from agent.model_host import LoadedEmbedder
from bench.expected import Conversation, occurs, plain, read
from bench.observations import FILE, Run, figures, some
from bench.scoring import Seen, Tally, score
from bench.scripted import Hostile, Perfect, RecallPath
from graph.values import Status
from tests.conversations import MOVED
from tests.fakes import FakeEmbedder
from tests.tables import each

CLASSES = ["new_fact", "repeat", "state_change", "correction", "contradiction", "chit_chat"]
CLASSES += ["hypothetical", "quote", "joke", "question", "injected", "other_language"]


@pytest.fixture(scope="module")
def conversations() -> list[Conversation]:
    """Those of our own file."""
    return read(FILE)


def saw(
    text: str | None,
    *sources: int,
    status: Status = "active",
    series: str = "a",
    current: bool = True,
    foreign: bool = False,
) -> Seen:
    """An observation as a memory might hold it."""
    return Seen("id", series, text, status, current and status in ("active", "candidate"), frozenset(sources), foreign)


LYON = saw("I live in Lyon.", 0, status="superseded")
PORTO = saw("I moved to Porto!", 0, 2)


# -- the file ---------------------------------------------------------------------------------------------------------


def test_the_file_has_enough_of_every_class_and_no_field_that_nobody_reads(conversations: list[Conversation]) -> None:
    counts = Counter(conversation.category for conversation in conversations)
    assert set(counts) == set(CLASSES)
    assert len(conversations) >= 120
    assert min(counts.values()) >= 8
    entries = json.loads(FILE.read_text(encoding="utf-8"))
    assert {key for entry in entries for key in entry} <= {"id", "class", "turns", "known", "accept"}
    items = [item for entry in entries for item in (*entry["known"], *entry.get("accept", ()))]
    assert {key for item in items for key in item} <= {"terms", "status", "sources", "text", "revises", "by"}


def test_what_should_be_known_is_in_its_sources_and_revises_without_hints(conversations: list[Conversation]) -> None:
    for conversation in conversations:
        for item in conversation.known:
            assert item.said_in(conversation.sentence(item)), (conversation.id, item)
            assert all(item.said_in(conversation.turns[place].text) for place in item.sources), (conversation.id, item)
        bare = tuple(item.model_copy(update={"revises": None, "text": None, "by": None}) for item in conversation.known)
        assert conversation.model_copy(update={"known": bare}).followed() == conversation.followed(), conversation.id


def test_a_file_that_makes_no_sense_is_refused(tmp_path: Path) -> None:
    turns = [{"role": "user", "text": "x"}, {"role": "assistant", "text": "y"}]
    entry = {"id": "a", "class": "joke", "turns": turns, "known": []}
    path = tmp_path / "other.json"
    wrongs: tuple[dict[str, Any], ...] = (
        {"known": [{"terms": ["x"], "sources": [1]}]},  # a reply's words are no evidence
        {"known": [{"terms": ["x"], "sources": [9]}]},
        {"known": [{"terms": [], "sources": [0]}]},
        {"known": [{"terms": ["x"], "sources": []}]},
        {"known": [{"terms": ["x"], "sources": [0], "status": "gone"}]},
        {"known": [{"terms": ["x"], "sources": [0], "revises": 0}]},
        {"turns": []},
    )
    for wrong in wrongs:
        path.write_text(json.dumps([entry | wrong]))
        with pytest.raises(ValueError):
            read(path)
    path.write_text(json.dumps({"conversations": [entry, entry]}))
    with pytest.raises(ValueError, match="twice"):
        read(path)


def test_terms_are_found_in_any_case_and_numbers_only_whole() -> None:
    assert occurs(plain("ÅSE"), plain("my aunt åse"))
    assert occurs(plain("don’t"), plain("I don't"))
    assert occurs("30", "i'm 30 now")
    assert not occurs("30", "i have 130 books")
    assert not occurs("30", "in 2030")


def test_exchanges_hold_messages_and_their_replies(conversations: list[Conversation]) -> None:
    assert MOVED.exchanges() == [range(0, 2), range(2, 4)]
    for conversation in conversations:
        assert [*chain.from_iterable(conversation.exchanges())] == [*range(len(conversation.turns))]


# -- the figures ------------------------------------------------------------------------------------------------------


def test_a_memory_that_is_right_has_nothing_amiss_and_an_empty_one_no_recall_and_no_junk() -> None:
    tally = score(MOVED, [LYON, PORTO])
    assert tally.figures() | {"precision": 1.0, "recall": 1.0, "history_kept": 1.0} == tally.figures()
    assert (tally.junk, tally.retired, tally.amiss) == (0, 0, [])
    tally = score(MOVED, [])
    assert (tally.found, tally.kept, tally.junk, tally.counted) == (0, 0, 0, 0)
    assert tally.figures()["precision"] == 1.0


def test_what_is_amiss_shows_in_the_figures() -> None:
    def shows(row: tuple[list[Seen], float, float, int]) -> None:
        seen, precision, recall, junk = row
        tally = score(MOVED, seen)
        found = tally.figures()
        assert (found["precision"], found["recall"], tally.junk) == (precision, recall, junk)

    yacht = saw("I own a yacht.", 2, series="b")
    each(
        (
            ([LYON, saw("I moved to Oporto!", 0, 2)], 1.0, 1.0, 0),  # an alternative
            ([LYON, saw("I moved to Porto!", 0)], 0.5, 0.5, 1),  # proved by another message
            ([LYON, saw("I moved to Porto!", 2, foreign=True)], 0.5, 0.5, 1),
            ([LYON, PORTO, yacht], 0.6667, 1.0, 1),
            ([LYON, PORTO, saw("", 0, series="b")], 0.6667, 1.0, 1),
            ([LYON, PORTO, saw(None, 0, series="b"), saw("...", 0, series="c")], 0.5, 1.0, 1),  # two of one exchange
            ([saw("I live in Lyon.", 0), saw("I moved to Porto!", 2, series="b")], 0.5, 0.5, 1),  # still believed
            ([LYON, PORTO, saw("I am glad.", 2, series="b")], 1.0, 1.0, 0),  # true besides
            ([LYON, PORTO, replace(yacht, status="candidate", current=True)], 1.0, 1.0, 0),  # under review
            ([LYON, PORTO, replace(yacht, status="invalid", current=False)], 1.0, 1.0, 0),  # retired in time
            ([LYON, saw("I moved to Porto!", 2, status="invalid")], 0.5, 0.5, 0),
            ([LYON, saw("I moved to Porto!", 2, status="candidate")], 1.0, 0.5, 0),
            ([LYON, saw("I moved to Porto!", 2, current=False)], 1.0, 0.5, 0),
        ),
        shows,
    )


def test_history_is_kept_only_in_the_series_of_what_followed_and_what_is_not_in_use_is_wrongly_retired() -> None:
    assert score(MOVED, [LYON, PORTO]).kept == 1
    assert score(MOVED, [LYON, saw("I moved to Porto!", 2, series="b")]).kept == 0
    assert score(MOVED, [saw(None, 0, status="superseded"), PORTO]).kept == 0
    retired = saw("I moved to Porto!", 2, status="invalid")
    assert score(MOVED, [retired]).figures()["wrongly_retired"] == 1.0
    assert score(MOVED, [retired, PORTO]).retired == 0
    assert score(MOVED, []).retired == 0
    assert score(MOVED, [], held=[1]).figures()["lost"] == 1
    assert score(MOVED, [PORTO], held=[1]).retired == 0
    told, moved = MOVED.known
    either = MOVED.model_copy(update={"known": (told, moved.model_copy(update={"status": ("active", "invalid")}))})
    assert score(either, [retired]).retired == 0, "the file says that it may be either"


def test_figures_of_several_runs_are_of_all_their_conversations() -> None:
    runs = [Run("good", Perfect()), Run("bad", Perfect()), Run("beside", Perfect(), counted=False)]
    for run, junk in zip(runs, (0, 1, 1), strict=True):
        run.tallies["joke"] = Tally(exchanges=1, junk=junk)
    found = figures(runs)
    assert found["by_class"]["joke"]["junk_rate"] == 0.5
    assert found["runs"]["beside"]["overall"]["junk_rate"] == 1.0


def test_a_limit_takes_the_first_of_each_class(conversations: list[Conversation]) -> None:
    assert Counter(each.category for each in some(conversations, 2)) == dict.fromkeys(CLASSES, 2)
    assert some(conversations, None) == conversations


# -- the whole --------------------------------------------------------------------------------------------------------


def run_with(run: Run, conversations: Sequence[Conversation]) -> dict[str, Any]:
    """A run with the fake embedder."""
    asyncio.run(run.over(conversations, lambda name: LoadedEmbedder(FakeEmbedder(), "fake@1")))
    return figures([run])


def chosen(conversations: Sequence[Conversation], *ids: str) -> list[Conversation]:
    """Conversations by their ids."""
    return [conversation for conversation in conversations if conversation.id in ids]


@pytest.mark.restarts
def test_a_perfect_model_leaves_what_the_file_says(conversations: list[Conversation]) -> None:
    few = chosen(conversations, "new_fact-03", "state_change-01", "joke-01")
    found = run_with(Run("perfect", Perfect()), few)["overall"]
    assert (found["precision"], found["recall"], found["history_kept"]) == (1.0, 1.0, 1.0)
    assert found["junk"] == found["lost"] == 0
    assert found["known"] == 3


@pytest.mark.parametrize("way", [RecallPath.INVALID, RecallPath.HALLUCINATING, RecallPath.DELETING])
@pytest.mark.restarts
def test_a_hostile_model_leaves_no_junk_and_takes_nothing(way: RecallPath, conversations: list[Conversation]) -> None:
    few = chosen(conversations, "state_change-01", "question-01")
    hostile = Hostile(way)
    found = run_with(Run("hostile", hostile, seeded=True), few)["overall"]
    assert hostile.asked > 0
    assert (found["junk"], found["lost"]) == (0, 0)
