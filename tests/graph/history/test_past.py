"""The memory as it was: what was known then, nothing that came later, and nothing that was erased since."""

import dataclasses
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from graph.errors import GraphFailure, NotFound, NothingYet
from graph.events import Event
from graph.history.past import FOLDER, Past
from graph.memory import Memory
from graph.values import Filters, Progress, Recorded, Wanted
from graph.visibility import EVERYONE
from tests.graph.conftest import Open, ignore
from tests.graph.deeds import begin, delete, hide, move, pin, rate, rename, what_if, write
from tests.graph.talk import reply, said, talk
from tests.graph.teach import observed

LATER = "xylophone"


def store(memory: Memory, *events: Event) -> datetime:
    """Append, and say when."""
    return memory.append(*events)[-1].at


def asked(memory: Memory | Past, query: str) -> list[str]:
    return [hit.id for hit in memory.recall.search(query, now=datetime.now(UTC), timezone=UTC)]


def learned(memory: Memory | Past) -> list[str | None]:
    return [each.text for each in memory.readings.memories(now=datetime.now(UTC))]


def live(memory: Memory) -> datetime:
    """Tell a memory that it changed its mind after the moment returned, in every way there is."""
    first = observed("m1", "q1", text="The boat is called Wren")
    memory.append(
        begin("s", project="trip"),
        said("q1", text="My boat is called Wren"),
        reply("a1", parent="q1", text="A fine name for a boat"),
        said("q2", parent="a1", text="The harbour is at Whitby"),
        first,
        pin("q2"),
        write("about you", "Sails the Wren", "q1"),
    )
    moment = store(memory, rename("s", "Boats"))
    memory.append(
        begin(LATER, project=LATER),
        said("z1", LATER, text=f"The boat {LATER} is at Whitby", speaker=LATER),
        reply("z2", LATER, parent="z1", text=f"Another boat {LATER}"),
        observed("m2", "z1", after=first, text=f"The boat is called {LATER}"),
        observed("m3", "z1", text=f"There is a {LATER}"),
        pin("z1"),
        pin(observation="m3"),
        rate("z1", 3, by="model"),
        hide("q2"),
        write("about you", f"Plays the {LATER}", "z1"),
        write(LATER, f"Plays the {LATER}", "z1"),
        rename("s", LATER),
        move("s", "q1"),
    )
    return moment


@pytest.fixture
def then(memory: Memory) -> datetime:
    return live(memory)


@pytest.fixture(scope="module")
def now_and_then(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Memory, Past]]:
    """A memory and its past, for tests that only ask."""
    with closing(Memory.open(tmp_path_factory.mktemp("memory"), command="test")) as memory:
        memory.open_graph(ignore)
        with memory.past(live(memory)) as past:
            yield memory, past


def test_what_was_known_then_is_known_and_nothing_else(now_and_then: tuple[Memory, Past]) -> None:
    memory, past = now_and_then
    assert learned(memory) == [f"There is a {LATER}", f"The boat is called {LATER}"]
    assert past.seq == 8
    assert learned(past) == ["The boat is called Wren"]
    assert past.readings.memories(now=past.at)[0].current
    assert [turn.id for turn in past.readings.thread("s")] == ["q1", "a1", "q2"]
    assert [turn.id for turn in past.readings.pinned()] == ["q2"]
    assert not past.readings.turn("q2").hidden
    assert [block.text for block in past.readings.blocks()] == ["Sails the Wren"]
    assert past.readings.session("s").name == "Boats"
    living = past.query("MATCH (t:Turn) WHERE t.live RETURN t.id AS id ORDER BY id")
    assert [row["id"] for row in living] == ["a1", "q1", "q2"]
    assert "q2" not in asked(memory, "the harbour of Whitby"), "recall too finds what was hidden and left since"
    assert asked(past, "the harbour of Whitby")[0] == "q2"
    assert asked(past, "what is the boat called")[0] == "m1"
    assert asked(past, LATER) == []


def shapes(value: Any) -> Any:
    """A value with all that is in it, for looking through."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [shapes(getattr(value, field.name)) for field in dataclasses.fields(value)]
    if isinstance(value, (list, tuple, set, frozenset, Iterator)):
        return [shapes(each) for each in value]
    if isinstance(value, dict):
        return [shapes(each) for pair in value.items() for each in pair]
    return value


def test_no_question_leads_to_a_word_that_was_said_later(now_and_then: tuple[Memory, Past]) -> None:
    memory, past = now_and_then
    now = datetime.now(UTC)
    questions: dict[str, Callable[[Memory | Past], Any]] = {
        "sessions": lambda m: m.readings.sessions(archived=True),
        "recent turns": lambda m: m.readings.recent("turn", 50),
        "recent exchanges": lambda m: m.readings.recent("exchange", 50),
        "recent sessions": lambda m: m.readings.recent("session", 50),
        "exchanges": lambda m: m.readings.exchanges(),
        "pinned": lambda m: m.readings.pinned(),
        "pinned observations": lambda m: m.readings.pinned_observations(),
        "memories": lambda m: m.readings.memories(Wanted(everything=True, dead=True), now=now),
        "memories with a word": lambda m: m.readings.memories(Wanted(text=LATER, everything=True, dead=True), now=now),
        "story": lambda m: m.readings.memory("m1"),
        "blocks": lambda m: m.readings.blocks(),
        "projects": lambda m: m.readings.projects(),
        "speakers": lambda m: m.readings.speakers(),
        "said": lambda m: m.readings.said(50),
        "search": lambda m: m.readings.search(f"{LATER} boat"),
        "search words": lambda m: m.readings.search_words(LATER),
        "about": lambda m: dataclasses.replace(m.readings.about(LATER), name=""),
        "recall": lambda m: m.recall.search(f"{LATER} boat", now=now, timezone=UTC),
        "near": lambda m: m.near(f"{LATER} boat", vector=None, world="main", project=EVERYONE),
        "entities": lambda m: m.readings.entities([LATER]),
        "significance": lambda m: m.readings.significance()[3] and LATER,
        "quotable": lambda m: m.readings.quotable(["z1", "z2", "q1"]),
        "events": lambda m: m._reader.events(after=0, limit=100),
        "turns in the graph": lambda m: m.query("MATCH (n:Turn) RETURN n.text, n.speaker, n.session"),
        "observations in the graph": lambda m: m.query("MATCH (n:Observation) RETURN n.text"),
    }
    leaks = {name for name, ask in questions.items() if LATER in str(shapes(ask(memory)))}
    assert leaks >= {"recall", "search", "memories", "memories with a word", "events", "near", "blocks"}
    for name, ask in questions.items():
        there = str(shapes(ask(past)))
        assert LATER not in there.replace(f"name='{LATER}'", ""), name
    counts = past.readings.counts()
    assert (counts["events"], counts["turns"], counts["sessions"]) == (8, 3, 1)
    assert past.readings.unreflected(10) == []
    assert past.readings.unreflected_count() == 0


def test_every_query_of_the_past_uses_the_indexes_that_today_uses(now_and_then: tuple[Memory, Past]) -> None:
    def plans(memory: Memory | Past) -> dict[str, list[str]]:
        queries: list[str] = []
        with memory.readings.snapshot() as db:
            db.set_trace_callback(queries.append)
        now = datetime.now(UTC)
        memory.readings.sessions()
        memory.readings.thread("s")
        memory.readings.recent("exchange", 5)
        memory.readings.pinned()
        memory.readings.blocks()
        memory.readings.memories(now=now)
        memory.readings.memory("m1")
        memory.readings.search("boat")
        memory.readings.about("you")
        memory.readings.exchanges()
        found: dict[str, list[str]] = {}
        with memory.readings.snapshot() as db:
            db.set_trace_callback(None)
            for query in queries:
                if query.lstrip().startswith(("SELECT", "WITH")):
                    shape = re.sub(r"'[^']*'|\b\d+\b", "?", query)
                    plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {query}")]
                    found[shape] = [re.sub(r"SCAN \S+", "SCAN", step) for step in plan if step.startswith("SCAN")]
        return found

    today, before = (plans(each) for each in now_and_then)
    assert len(today.keys() & before.keys()) > 15
    for shape in today.keys() & before.keys():
        assert set(before[shape]) <= set(today[shape]), shape


@pytest.mark.restarts
def test_an_erasure_ends_open_pasts_removes_their_files_and_stays(memory: Memory, folder: Path, then: datetime) -> None:
    with memory.past(then) as past:
        assert list((folder / FOLDER).rglob("graph.kuzu*"))
        memory.append(delete("q1"))
        assert not list((folder / FOLDER).rglob("*"))
        with pytest.raises(GraphFailure, match="Open it again"):
            learned(past)
        with pytest.raises(GraphFailure, match="Open it again"):
            asked(past, "boat")
    with memory.past(then) as past:
        assert past.readings.turn("q1").text is None
        assert [turn.id for turn in past.readings.thread("s")] == ["q1", "a1", "q2"]
        assert "Wren" not in str(shapes(past.readings.memories(Wanted(everything=True, dead=True), now=then)))
        assert "q1" not in asked(past, "boat Wren")


@pytest.mark.restarts
def test_an_erasure_while_the_past_is_being_made_begins_it_again(memory: Memory, folder: Path, then: datetime) -> None:
    erased: list[Progress] = []

    def erase(progress: Progress) -> None:
        if not erased:
            erased.append(progress)
            store(memory, delete("q1"))

    with memory.past(then, erase) as past:
        assert erased
        assert "Wren" not in str(past.query("MATCH (t:Turn) RETURN t.text"))
        there = b"".join(path.read_bytes() for path in (folder / FOLDER).rglob("*") if path.is_file())
        assert b"called Wren" not in there
        assert b"harbour" in there


def test_before_the_first_event_there_is_nothing_and_the_first_is_named(memory: Memory) -> None:
    with pytest.raises(NothingYet, match="There are no messages yet"):
        memory.past(datetime.now(UTC)).__enter__()
    talk(memory, 2)
    with pytest.raises(NothingYet, match=r"There was nothing at .* yet. The first event is from "):
        memory.past(datetime(1999, 1, 1, tzinfo=UTC)).__enter__()
    with pytest.raises(NothingYet, match="nothing at event 0"):
        memory.past(0).__enter__()
    with pytest.raises(NotFound, match="no event 99"):
        memory.past(99).__enter__()


@pytest.mark.restarts
def test_that_there_was_nothing_is_said_on_the_wall_clock(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    talk(memory, 2)
    with monkeypatch.context() as there:
        there.setenv("TZ", "XYZ-05:30")
        time.tzset()
        with pytest.raises(NothingYet) as raised:
            memory.past(datetime(2020, 1, 1, tzinfo=UTC)).__enter__()
    time.tzset()
    assert "There was nothing at 2020-01-01 05:30 yet. " in str(raised.value)
    asked = re.search(r"Ask for ([0-9: -]{16}) or later", str(raised.value))
    assert asked is not None
    zone = timezone(timedelta(hours=5, minutes=30))
    with memory.past(datetime.strptime(asked[1], "%Y-%m-%d %H:%M").replace(tzinfo=zone)) as past:
        assert past.seq >= 1


@pytest.mark.restarts
def test_a_time_to_come_is_now_a_number_is_after_that_event_and_an_append_is_in_whole_or_not(memory: Memory) -> None:
    talk(memory, 2)
    at = store(memory, said("x", parent="s1"), reply("y", parent="x"), said("z", parent="y"))
    for when, last in (
        (datetime.now(UTC) + timedelta(days=9), "z"),
        (2, "s0"),
        (at, "z"),
        (at - timedelta(milliseconds=1), "s1"),
    ):
        with memory.past(when) as past:
            assert past.readings.thread("s")[-1].id == last


@pytest.mark.restarts
def test_the_memory_is_written_to_while_a_past_is_made_and_read(whole: Memory) -> None:
    talk(whole, 8)
    go, one, stop = threading.Event(), threading.Event(), threading.Event()
    stored: list[Recorded] = []

    def chat() -> None:
        go.wait()
        number, parent = 0, "s7"
        while not stop.is_set():
            stored.extend(whole.append(said(f"n{number}", parent=parent)))
            one.set()
            number, parent = number + 1, f"n{number}"

    def start(progress: Progress) -> None:
        go.set()

    writer = threading.Thread(target=chat)
    writer.start()
    try:
        with whole.past(6, start) as past:
            assert one.wait(60)
            assert [turn.id for turn in past.readings.thread("s")][-1] == "s4"
    finally:
        stop.set()
        go.set()
        writer.join()
    assert not any(each.graph_behind for each in stored)
    assert whole.graph_ready


@pytest.mark.restarts
def test_files_are_private_and_gone_at_its_end_the_memorys_and_the_next_opening(opening: Open, folder: Path) -> None:
    memory = opening()
    talk(memory, 2)
    with memory.past(3) as past:
        inside = list((folder / FOLDER).rglob("*"))
        assert inside
        assert all(path.stat().st_mode & 0o077 == 0 for path in [folder / FOLDER, *inside])
        memory.close()
        assert not list((folder / FOLDER).rglob("*"))
        with pytest.raises(GraphFailure):
            learned(past)
    left = folder / FOLDER / "01J" / "graph.kuzu.new"  # by a process that was killed
    left.parent.mkdir(parents=True)
    left.write_bytes(b"secret")
    opening()
    assert not (folder / FOLDER).exists()


@pytest.mark.restarts
def test_a_what_if_is_seen_as_it_was_then(memory: Memory) -> None:
    talk(memory, 4)
    store(memory, what_if("w", "s", "s1"), said("w0", "w", parent="s1", text="the dragon sleeps"))
    moment = store(memory, said("s4", parent="s3", text="the harbour is quiet"))
    store(memory, said("w1", "w", parent="w0", text="the dragon wakes"), hide("s0"))

    def found(asked: Memory | Past, world: str) -> set[str]:
        hits = asked.recall.search("dragon harbour", filters=Filters(world=world), now=moment, timezone=UTC)
        return {hit.id for hit in hits}

    assert {"w0", "w1"} <= found(memory, "w")
    with memory.past(moment) as past:
        assert [world.id for world in past.readings.worlds()] == ["main", "w"]
        assert "w0" in found(past, "w")
        assert not found(past, "w") & {"w1", "s4"}
        assert not found(past, "main") & {"w0", "w1"}
        assert past.readings.sees("w", ["s0", "s1", "s2", "w0", "w1"]) == {"s0", "s1", "w0"}
