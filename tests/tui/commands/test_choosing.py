"""Which session an id, the beginning of one, or `last` means: the same one for every command."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from agent.home import Home
from agent.notes import remembering
from agent.settings import Settings
from graph.errors import Ambiguous, NotFound
from graph.events import ObservationKind, SessionArchived, SessionDeleted, SessionStarted, TurnSaid
from graph.ids import now_ms
from graph.reader import LogReader
from tests.fakes import FakeGenerator
from tests.graph import talk
from tests.tui.commands.conftest import Clew, Record, Remember, held
from tui.commands.answering import run_question
from tui.commands.replies import AskRequest, ReplyPrinter

SESSIONS = ("01JAA", "01JAAB", "01JAAAZZZ")


@pytest.fixture
def reader(record: Record, home: Path) -> Iterator[LogReader]:
    record(*(SessionStarted(session=each, client="ask") for each in SESSIONS))
    with closing(LogReader.open(home / "memory")) as reader:
        yield reader


def said(turn: str, session: str, *, client: str = "ask", said_at: int | None = None) -> TurnSaid:
    return talk.said(turn, session, client=client, said_at=said_at)


def test_a_whole_id_beats_longer_ones_and_a_beginning_of_just_one_is_enough(reader: LogReader, record: Record) -> None:
    for wanted in ("01JAA", "01jaab", "01JAAAZZZ", "01JAAA", " 01jaaa "):
        whole = wanted.strip().upper()
        assert reader.session_named(wanted).id == (whole if whole in SESSIONS else "01JAAAZZZ")
    with pytest.raises(Ambiguous, match="3 chats have ids starting with 01J"):
        reader.session_named("01J")
    for wanted in ("02", "", "  ", "01JAAAZZZZ", "\udcff", "%"):
        with pytest.raises(NotFound, match="There is no chat"):
            reader.session_named(wanted)
    record(SessionDeleted(session="01JAAB"))
    with pytest.raises(NotFound):
        reader.session_named("01JAAB")


def test_last_is_where_a_person_spoke_last(reader: LogReader, record: Record, home: Path) -> None:
    with pytest.raises(NotFound, match="There is no chat to continue"):
        reader.session_named("last")
    record(said("t1", "01JAA"), said("t2", "01JAAB"))
    assert reader.last_session() == "01JAAB"
    record(SessionStarted(session="I", client="import"), said("i", "I", client="import", said_at=now_ms() + 60_000))
    with held(home) as memory:
        memory.append(*remembering(memory, "I row.", kind=ObservationKind.FACT, project=None))
    assert reader.last_session() == "01JAAB", "what is imported or noted is not spoken"
    record(said("t3", "I"))
    assert reader.last_session() == "I", "somebody spoke in the imported one since"
    record(SessionArchived(session="I"))
    assert reader.last_session() == "01JAAB"
    record(SessionDeleted(session="01JAAB"))
    assert reader.last_session() == "01JAA"


@pytest.mark.restarts
def test_every_command_means_the_same_last_chat(clew: Clew, remember: Remember, record: Record, home: Path) -> None:
    mine = remember("Where is the boat?", "In the harbour.")
    remember("An older chat", client="import")
    record(SessionStarted(session="I", client="import"), said("i", "I", client="import", said_at=now_ms() + 60_000))
    record(SessionArchived(session=remember("put away").session))
    record(said("m", mine.session).model_copy(update={"parent": mine.reply}))
    assert clew("remember", "I row.").code == 0
    for command, told in (
        (("tree", "--json"), lambda it: it["session"]),
        (("tree", "last", "--json"), lambda it: it["session"]),
        (("show", "last", "--json"), lambda it: it["session"]["id"]),
        (("log", "--session", "last", "--limit", "1", "--json"), lambda it: it[0]["session"]),
        (("recall", "boat", "--session", "last", "--limit", "1", "--json"), lambda it: it[0]["session"]),
        (("rewind", "start", "--dry-run", "--json"), lambda it: it["session"]),
        (("fork", "--json"), lambda it: it["origin"]),
        (("fork", "last", "--json"), lambda it: it["origin"]),
    ):
        ended = clew(*command)
        assert ended.code == 0, (command, ended.err)
        assert told(ended.json) == mine.session, command  # type: ignore[no-untyped-call]
    assert mine.turn in clew("export", "--session", "last").out
    place, printer = Home.resolve(home), ReplyPrinter(as_json=True)
    run_question(place, Settings(reflect=False), AskRequest("Still?", session="last"), printer, loader=_fake)
    assert clew("tree", "--json").json["turns"][-1]["text"] == "Yes."


def _fake(name: str, progress: object) -> FakeGenerator:
    return FakeGenerator("Yes.")
