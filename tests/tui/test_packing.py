"""What the memory panel says, without an app: its items, and why there is nothing."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from agent.events import EmbeddingProgress, GraphProgress, RecallDone
from graph.values import Hit, Reason, Turn
from tests.tui.test_state import folded
from tui import panel_controller
from tui.fold import fold
from tui.panel_controller import PanelRequest, pack_of
from tui.state import Pack, State

AT = datetime(2025, 6, 3, 14, 2, tzinfo=UTC)
NOW = datetime(2025, 6, 4, 9, 0, tzinfo=UTC)
HIT = Hit(
    "turn", "T1", "S1", "Crete", "user", "you", "Tide\npools " + "at dawn " * 200, AT, 1.0, (Reason("lexical", 1, 1.0),)
)
READY = fold(State(), GraphProgress("ready"))
ASKED = PanelRequest(None, "Q", "what about the tide pools?")


def pinned(number: int) -> Turn:
    return Turn(f"P{number}", "S1", None, 0, "user", "you", f"pin {number}", AT, "chat", pinned=True)


def made(wanted: PanelRequest, *hits: Hit, state: State = READY, on: bool = True, **more: Any) -> Pack:
    pins = more.pop("pins", [])
    return pack_of(wanted, hits, pins, state=state, recall_on=on, now=NOW, names={"S1": "Crete"}, **more)


def recalled(note: str = "", *hits: Hit) -> State:
    return fold(READY, RecallDone("S", "Q", "recall", hits, 1.0, note))


def test_an_item_says_when_who_where_what_and_why_and_is_marked_where_recall_leaves_it_out() -> None:
    item = made(ASKED, HIT).recalled[0]
    assert item.head == "yesterday · you · Crete"
    assert item.words.startswith("Tide pools at dawn")
    assert len(item.words) <= panel_controller.LONGEST
    assert item.why == "by its words (rank 1)"
    assert made(ASKED, HIT, hidden=frozenset({"T1"})).recalled[0].hidden
    same = replace(HIT, session_name="Tide pools at…", text="Tide pools at dawn")
    assert made(ASKED, same).recalled[0].head == "yesterday · you", "a chat named by the very words"


def test_an_item_shows_the_stretch_that_answers_and_pins_stand_on_top_bounded() -> None:
    rows = [f"Row {number} of the export." for number in range(9000)]
    rows[4000] = "The ferry to Naxos leaves at dawn."
    long = Hit("turn", "T1", "S1", "Crete", "user", "you", "\n".join(rows), AT, 1.0)
    item = made(PanelRequest("R", "Q", "when does the ferry to Naxos leave?"), long).recalled[0]
    assert "ferry to Naxos leaves at dawn" in item.words
    assert item.words.startswith("…")
    assert len(item.words) <= panel_controller.LONGEST
    assert made(PanelRequest(query="ferry Naxos"), long).recalled[0].words == item.words
    many = made(ASKED, HIT, pins=[*(pinned(number) for number in range(20))])
    assert len(many.pinned) == panel_controller.MOST_PINNED
    assert many.more_pinned == 20 - panel_controller.MOST_PINNED
    own = Turn("T1", "S1", None, 0, "user", "you", "Tide pools", AT, "chat", pinned=True)
    assert made(ASKED, HIT, pins=[own]).recalled[0].pinned


def test_where_there_is_nothing_it_says_why() -> None:
    old, recall_off = PanelRequest("R", "T", "old"), panel_controller.RECALL_OFF
    for wanted, state, on, words in (
        (PanelRequest(), READY, True, panel_controller.NO_REPLY),
        (PanelRequest(), READY, False, recall_off),
        (ASKED, READY, False, recall_off),
        (ASKED, READY, True, panel_controller.LOOKING),
        (ASKED, recalled(), True, panel_controller.NOTHING_FITS),
        (ASKED, recalled("Nothing is older than this chat."), True, "Nothing is older than this chat."),
        (old, READY, True, panel_controller.NOTHING_FITS),
        (replace(old, newest=False), READY, True, panel_controller.NOTHING_THEN),
        (replace(old, recalled=2), READY, True, panel_controller.GONE),
        (PanelRequest(query="tide"), READY, False, panel_controller.NOTHING_FITS),
    ):
        assert made(wanted, state=state, on=on).note == words


def test_what_recall_cannot_use_now_is_said_with_what_was_found_too() -> None:
    ready = GraphProgress("ready")
    notices: list[Any]
    for notices, words in (
        ([], "still opening"),
        ([GraphProgress("rebuilding", 43, 100)], "being rebuilt (43%)"),
        ([GraphProgress("failed", message="x")], "clew doctor"),
        ([ready, EmbeddingProgress("loading", "m")], "embedder is still loading"),
        ([ready, EmbeddingProgress("failed", "m", message="x")], "No embedder"),
        ([ready, EmbeddingProgress("embedding", "m", 1200, 10000)], "1,200 of 10,000 messages"),
    ):
        state = folded(*notices)
        assert words in made(PanelRequest(query="tide"), HIT, state=state).note
        assert words in made(PanelRequest(query="tide"), state=state).note
        assert made(PanelRequest("R", "T", "old", 1, newest=False), HIT, state=state).note == ""
    state = fold(READY, RecallDone("S", "Q", "recent", (HIT,), 1.0))
    assert made(ASKED, HIT, state=state).note == panel_controller.ROUTES["recent"], "another way of looking"


def test_words_of_the_memory_can_do_nothing_to_the_screen() -> None:
    bad = Hit("turn", "T1", "S1", "[red]a\x1b]0;x\x07", "user", "\u202eyou", "\x1b[2J[bold]", AT, 1.0)
    item = made(PanelRequest(query="\x1b[31m"), bad).recalled[0]
    title = made(PanelRequest(query="\x1b[31m"), bad).title
    assert not any(mark in item.head + item.words + title for mark in "\x1b\x07\u202e")
