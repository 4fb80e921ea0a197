"""Imports into a real log: each message once, whatever was imported, broken off, deleted or gone on with before."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from agent import importer
from agent.agent import Agent
from agent.errors import ExportUnreadable
from agent.events import SessionsChanged
from agent.importer import Importer, ImportProgress, ImportReport
from agent.importing.locomo import sources_of
from agent.settings import Settings
from graph.errors import LogUnwritable
from graph.events import HeadMoved, SessionDeleted, SessionUnarchived, TurnDeleted, TurnReleased, TurnWithheld
from graph.ids import new_id
from graph.memory import Memory
from graph.values import Turn
from tests.agent.conftest import opened
from tests.agent.test_importing_formats import locomo_value, node, said, tree
from tests.graph.talk import said as said_here

NOW = 1_800_000_000_000
Import = Callable[..., ImportReport]


@pytest.fixture
def bring_in(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Import:
    """Import values as a JSON document, or as lines; of so many messages at once, lines in pieces of so many."""

    def call(
        *values: Any, lines: bool = False, at_once: int | None = None, pieces: int | None = None, **options: Any
    ) -> ImportReport:
        if at_once is not None:
            monkeypatch.setattr(importer, "AT_ONCE", at_once)
        if pieces is not None:
            monkeypatch.setattr("agent.importing.lines.MOST_MESSAGES", pieces)
        path = tmp_path / "export.json"
        path.write_text("\n".join(map(json.dumps, values)) if lines else json.dumps(values))
        return Importer(memory, now=lambda: NOW, **options).run(path)

    return call


def stopping_after(asked: int) -> Callable[[], bool]:
    """An import goes on so many times that it asks."""
    left = iter(range(asked))
    return lambda: next(left, None) is None


def texts(memory: Memory, session: int = 0) -> list[str | None]:
    """The path of a session, the newest activity first."""
    return [turn.text for turn in memory.readings.thread(memory.readings.sessions()[session].id)]


def paths(memory: Memory) -> list[list[str | None]]:
    """The paths of all sessions, in the order of their words."""
    found = [[turn.text for turn in memory.readings.thread(session.id)] for session in memory.readings.sessions()]
    return sorted(found, key=str)


def delete(memory: Memory, text: str) -> None:
    """Delete the message that says this."""
    memory.append(TurnDeleted(turn=next(turn.id for turn in everything(memory) if turn.text == text)))


def everything(memory: Memory) -> list[Turn]:
    return [turn for session in memory.readings.sessions() for turn in memory.readings.thread(session.id)]


def counted(report: ImportReport) -> tuple[int, int, int, int, int]:
    return report.chats_new, report.chats_grown, report.chats_known, report.new, report.known


def claude_chat(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"uuid": "c1", "name": "Tides", "created_at": "2024-03-01T09:00:00Z", "chat_messages": messages, **more}


Q, A = said("q", "human", "Why tides?"), said("a", "assistant", "The moon.")
MORE = said("q2", "human", "And the sun?", created_at="2024-03-02T10:00:00Z")


def test_a_chat_comes_with_all_it_has_and_grows_by_what_is_new(memory: Memory, bring_in: Import) -> None:
    assert counted(bring_in(claude_chat(Q, A))) == (1, 0, 0, 2, 0)
    [session] = memory.readings.sessions()
    assert (session.name, session.named_by_user) == ("Tides", False)
    assert session.started_at.isoformat() == "2024-03-01T10:00:00+00:00"
    question, answer = memory.readings.thread(session.id)
    assert (question.role, question.speaker, question.client) == ("user", "you", "import")
    assert (answer.role, answer.speaker, answer.parent) == ("assistant", "assistant", question.id)
    assert question.at.isoformat() == "2024-03-01T10:00:00+00:00"
    head = memory.head()
    assert counted(bring_in(claude_chat(Q, A))) == (0, 0, 1, 0, 2)
    assert memory.head() == head
    assert counted(bring_in(claude_chat(Q, A, MORE))) == (0, 1, 0, 1, 2)
    assert texts(memory) == ["Why tides?", "The moon.", "And the sun?"]


def test_alternatives_come_along_and_the_head_is_where_it_was(memory: Memory, bring_in: Import) -> None:
    value = tree(
        node("q", None, "user", "Why?"),
        node("a1", "q", "assistant", "One."),
        node("a2", "q", "assistant", "Two."),
        current_node="a1",
    )
    assert bring_in(value).new == 3
    assert texts(memory) == ["Why?", "One."]
    assert memory.readings.counts()["turns"] == 3
    value["current_node"] = "a2"
    bring_in(value)
    assert texts(memory) == ["Why?", "One."]  # nothing is new, so nothing moves


def off_the_path() -> dict[str, Any]:
    """A chat whose first answers were made anew: what the tree holds first is not what the chat shows."""
    return tree(
        node("q", None, "user", "Why tides?"),
        node("a1", "q", "assistant", "One."),
        node("q1", "a1", "user", "What?"),
        node("a2", "q", "assistant", "Two."),
        node("q2", "a2", "user", "And the sun?"),
        current_node="q2",
    )


def test_a_chat_that_an_earlier_clew_left_without_a_title_gets_it_when_it_is_imported_again(
    memory: Memory, bring_in: Import, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(importer, "_path", lambda chat: frozenset(each.key for each in chat.messages))
        bring_in(off_the_path())
    assert memory.readings.sessions()[0].name == "Why tides?"  # its first words stand for a title
    assert counted(bring_in(off_the_path())) == (0, 0, 1, 0, 5)
    assert memory.readings.sessions()[0].name == "Tides"
    head = memory.head()
    question = memory.readings.thread(memory.readings.sessions()[0].id)[0].id
    bring_in(off_the_path())
    assert memory.head() == head
    memory.append(TurnWithheld(turn=question))
    assert memory.readings.sessions()[0].name == "And the sun?"  # which stands for one
    bring_in(off_the_path())
    assert memory.head() == head + 1  # a title would not be shown


def test_a_title_does_not_come_back_that_may_tell_of_what_was_deleted(memory: Memory, bring_in: Import) -> None:
    bring_in(claude_chat(Q, A))
    delete(memory, "Why tides?")
    assert memory.readings.sessions()[0].name is None
    bring_in(claude_chat(Q, A, MORE))
    assert memory.readings.sessions()[0].name == "The moon."


def test_a_chat_is_titled_by_what_it_shows_and_archived_once_where_it_was(memory: Memory, bring_in: Import) -> None:
    assert bring_in({**off_the_path(), "is_archived": True}).archived == 1
    [session] = memory.readings.sessions(archived=True)
    assert [turn.text for turn in memory.readings.thread(session.id)] == ["Why tides?", "Two.", "And the sun?"]
    assert (session.archived, session.name, memory.history.changes.standing(1)) == (True, "Tides", [])
    memory.append(SessionUnarchived(session=session.id))
    assert bring_in({**off_the_path(), "is_archived": True}).archived == 0
    assert [each.archived for each in memory.readings.sessions()] == [False]


def test_marks_for_chatgpts_screen_stay_out_and_what_was_imported_with_them_is_known(
    memory: Memory, bring_in: Import, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = tree(node("q", None, "user", "Why?"), node("a", "q", "assistant", "The moon. \ue200cite\ue202turn0\ue201"))
    with monkeypatch.context() as patch:
        patch.setattr("agent.importer.unmarked", lambda text: text)
        bring_in(value)
    assert counted(bring_in(value)) == (0, 0, 1, 0, 2)
    bring_in({**value, "conversation_id": "c2"})
    found = sorted(str(turn.text) for turn in everything(memory))[:2]
    assert found == ["The moon.", "The moon. \ue200cite\ue202turn0\ue201"]


def test_on_a_full_disk_it_says_what_is_stored_and_the_next_import_goes_on(memory: Memory, bring_in: Import) -> None:
    chat = claude_chat(*(said(f"m{m}", "human", f"message {m} " + "tide " * 200) for m in range(200)))
    pages: int = memory._log._db.execute("PRAGMA page_count").fetchone()[0]
    memory._log._db.execute(f"PRAGMA max_page_count = {pages + 40}")
    with pytest.raises(LogUnwritable) as caught:
        bring_in(chat, at_once=20)
    stored = memory.readings.counts()["turns"]
    assert 0 < stored < 200
    assert str(caught.value).startswith("The disk is full: ")
    assert str(caught.value).endswith(
        f"try again. {stored} messages were imported before that and are kept. Run the same command to continue."
    )
    memory._log._db.execute(f"PRAGMA max_page_count = {pages + 10_000}")
    assert counted(bring_in(chat)) == (0, 1, 0, 200 - stored, stored)


def test_what_was_said_here_since_stays_the_head_when_the_export_has_grown(memory: Memory, bring_in: Import) -> None:
    bring_in(claude_chat(Q, A))
    session, mine = memory.readings.sessions()[0].id, new_id()
    last = memory.readings.thread(session)[-1].id
    memory.append(said_here(mine, session, parent=last, text="Said here."))
    assert bring_in(claude_chat(Q, A, MORE)).new == 1
    assert texts(memory) == ["Why tides?", "The moon.", "Said here."]
    rewound = memory.readings.thread(session)[0].id
    memory.append(HeadMoved(session=session, turn=rewound))
    bring_in(claude_chat(Q, A, MORE, said("a2", "assistant", "It too.")))
    assert texts(memory) == ["Why tides?", "The moon.", "And the sun?", "It too."]


def test_what_was_deleted_or_erased_is_never_said_again(memory: Memory, bring_in: Import) -> None:
    bring_in(claude_chat(Q, A), {**claude_chat(MORE), "uuid": "c2"})
    delete(memory, "The moon.")
    memory.append(SessionDeleted(session=next(t.session for t in everything(memory) if t.text == "And the sun?")))
    report = bring_in(claude_chat(Q, A), {**claude_chat(MORE, said("m", "human", "New.")), "uuid": "c2"})
    assert (report.new, report.known) == (0, 2)
    assert report.skipped == {"in a chat that was deleted here": 2}
    assert "The moon." not in [turn.text for turn in everything(memory)]


def test_an_import_that_ended_anywhere_goes_on_with_the_next(memory: Memory, bring_in: Import) -> None:
    chats = [
        {**claude_chat(*(said(f"{c}{m}", "human", f"chat {c} message {m}") for m in range(5))), "uuid": str(c)}
        for c in range(4)
    ]
    for transactions in range(1, 6):
        if not bring_in(*chats, at_once=3, stopping=stopping_after(transactions)).stopped:
            break
    assert bring_in(*chats).known == 20
    assert paths(memory) == [[f"chat {c} message {m}" for m in range(5)] for c in range(4)]
    assert [session.name for session in memory.readings.sessions()] == ["Tides"] * 4


def test_a_failing_transaction_leaves_whole_messages_and_a_broken_document_none(
    memory: Memory, bring_in: Import, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps([claude_chat(Q, A)])[:-1] + ', {"uuid": }]')
    with pytest.raises(ExportUnreadable, match="line 1, column"):
        Importer(memory).run(path)
    assert memory.head() == 0
    append, stopped = memory.append, stopping_after(2)

    def fail(*events: Any, **options: Any) -> Any:
        if stopped():
            raise MemoryError("the machine stopped here")
        return append(*events, **options)

    chat = claude_chat(*(said(f"m{m}", "human", f"message {m}") for m in range(9)))
    with monkeypatch.context() as patch:
        patch.setattr(memory, "append", fail)
        with pytest.raises(MemoryError):
            bring_in(chat, at_once=2)
    assert 0 < bring_in(chat).known < 9
    assert texts(memory) == [f"message {m}" for m in range(9)]


def test_times_that_are_missing_or_in_the_future_are_those_before_them(memory: Memory, bring_in: Import) -> None:
    later = "2999-01-01T00:00:00Z"
    report = bring_in(
        claude_chat(
            said("1", "human", "no time", created_at=None),
            said("2", "human", "a time"),
            said("3", "human", "the future", created_at=later),
            said("4", "human", "nonsense", created_at="soon"),
        )
    )
    hours = [turn.at.isoformat()[:13] for turn in everything(memory)]
    assert hours == ["2024-03-01T09", "2024-03-01T10", "2024-03-01T10", "2024-03-01T10"]
    assert report.future == 1


def test_locomo_is_imported_with_its_evidence_findable(memory: Memory, bring_in: Import) -> None:
    value = locomo_value()
    report = bring_in(value)
    assert (report.chats_new, report.naive) == (3, 3)
    sources = sources_of(value)
    found = memory.readings.imported(list(sources.values()))
    turns = {dia: memory.readings.turn(found[source]) for dia, source in sources.items()}
    told = {dia: turn.text for dia, turn in turns.items()}
    assert told == {"D1:1": "Look!\n[photo: a dog on a beach]", "D1:2": "Nice.", "D2:1": "Back again.", "0": "No id."}
    assert turns["D2:1"].speaker == "Ben"
    assert {session.name for session in memory.readings.sessions()} == {"Ana and Ben"}
    assert counted(bring_in(value))[:4] == (0, 0, 3, 0)


# -- without ids ------------------------------------------------------------------------------------------------------


def line(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "text": text, **more}


def test_lines_without_ids_are_known_again_and_may_grow(memory: Memory, bring_in: Import) -> None:
    assert counted(bring_in(line("one"), line("two"), lines=True)) == (1, 0, 0, 2, 0)
    assert counted(bring_in(line("one"), line("two"), line("three"), lines=True)) == (0, 1, 0, 1, 2)
    assert memory.readings.sessions()[0].name == "one"
    assert counted(bring_in(line("apples"), line("pears"), lines=True)) == (1, 0, 0, 2, 0)
    assert counted(bring_in(line("apples"), line("pears"), lines=True)) == (0, 0, 1, 0, 2)
    assert paths(memory) == [["apples", "pears"], ["one", "two", "three"]]


def test_files_without_ids_that_begin_alike_are_two_chats(memory: Memory, bring_in: Import) -> None:
    begins = [line("Hello"), line("Hi! How can I help?", role="assistant")]
    a = [*begins, line("How do I make jam?"), line("Boil it.", role="assistant")]
    b = [*begins, line("What is marmalade?"), line("Oranges.", role="assistant"), line("Thanks.")]
    roles = [*begins, line("Are you there?", role="assistant")]
    for number, file in enumerate((a, b, roles)):
        assert counted(bring_in(*file, lines=True)) == (1, 0, 0, len(file), 0), number
    assert paths(memory) == sorted(([each["text"] for each in file] for file in (a, b, roles)), key=str)
    for file in (a, b, roles):
        assert counted(bring_in(*file, lines=True)) == (0, 0, 1, 0, len(file))
    assert counted(bring_in(*b, line("Bye."), lines=True)) == (0, 1, 0, 1, 5)
    assert counted(bring_in(*b[:3], lines=True)) == (0, 0, 1, 0, 3)  # a shortened export


def test_files_that_differ_only_far_on_and_sessions_in_turns_are_two_chats(memory: Memory, bring_in: Import) -> None:
    apart = line("elsewhere", session="s", id="e")
    a = [*(line(f"m{at}") for at in range(5)), apart, line("one end")]
    b = [*a[:-1], line("another end")]
    assert bring_in(*a, lines=True, pieces=2).new == 7
    assert counted(bring_in(*b, lines=True)) == (1, 0, 1, 6, 1)
    assert counted(bring_in(*b, lines=True)) == (0, 0, 2, 0, 7)
    assert sorted(texts(memory, at)[-1] or "" for at in range(3)) == ["another end", "elsewhere", "one end"]

    values = [line(f"{chat}{at}", session=chat, id=f"{chat}{at}") for at in range(5) for chat in "xy"]
    bring_in(*values, line("twice", session="x", id="x0"), lines=True)
    assert [path for path in paths(memory) if len(path) == 5] == [[f"{chat}{at}" for at in range(5)] for chat in "xy"]
    assert counted(bring_in(*values, lines=True)) == (0, 0, 2, 0, 10)


def test_an_erased_text_leaves_no_hash_and_is_not_said_again(memory: Memory, bring_in: Import) -> None:
    bring_in(line("secret"), line("two"), line("three"), lines=True)
    turn = next(turn.id for turn in everything(memory) if turn.text == "secret")
    delete(memory, "secret")
    with memory.readings.snapshot() as db:
        kept = " ".join(map(str, db.execute("SELECT structure FROM events").fetchall()))
    assert turn in kept
    assert hashlib.sha256(b"secret").hexdigest() not in kept
    for file in (["secret"], ["secret", "two"], ["secret", "two", "three", "four"]):
        assert bring_in(*map(line, file), lines=True).gone == 1
    changed = bring_in(*map(line, ["secret", "changed", "three"]), lines=True)
    assert (changed.new, list(changed.skipped.values())) == (2, [1])
    again = bring_in(*map(line, ["secret", "changed", "three"]), lines=True)
    assert (again.new, again.known, list(again.skipped.values())) == (0, 2, [1])
    assert "secret" not in [turn.text for turn in everything(memory)]

    bring_in(line("secret", session="1", id="1"), line("two", session="1", id="2"), lines=True)
    delete(memory, "secret")
    report = bring_in(line("secret", session="1", id="1"), line("changed", session="1", id="2"), lines=True)
    assert (report.new, report.differing, report.skipped) == (1, 1, {importer.ID_ERASED: 1})
    assert "secret" not in [turn.text for turn in everything(memory)]


def test_a_chat_is_told_from_a_deleted_one_where_it_can_be(memory: Memory, bring_in: Import) -> None:
    bring_in(line("one"), lines=True)
    bring_in(line("apples"), lines=True)
    memory.append(SessionDeleted(session=next(t.session for t in everything(memory) if t.text == "one")))
    assert counted(bring_in(line("apples"), line("pears"), lines=True)) == (0, 1, 0, 1, 1)
    assert list(bring_in(line("one"), lines=True).skipped) == [importer.LIKE_DELETED]
    assert texts(memory) == ["apples", "pears"]


def test_messages_with_known_ids_and_other_words_are_kept_and_told(memory: Memory, bring_in: Import) -> None:
    def differing(*words: str) -> tuple[tuple[int, ...], int]:
        report = bring_in(*(line(text, session="1", id=str(at)) for at, text in enumerate(words)), lines=True)
        return counted(report), report.differing

    differing("apples", "pears", "plums")
    assert differing("trams", "trains", "ships") == ((1, 0, 0, 3, 0), 3)
    assert differing("trams", "trains", "ships", "planes") == ((0, 1, 0, 1, 3), 0)
    assert differing("apples", "pears", "prunes") == ((0, 1, 0, 1, 2), 1)
    for again in ("prunes", "plums"):
        assert differing("apples", "pears", again)[0][3] == 0
    assert paths(memory) == [["apples", "pears", "prunes"], ["trams", "trains", "ships", "planes"]]


@pytest.mark.parametrize("ids", [True, False])
def test_a_killed_import_that_goes_on_is_titled_by_its_beginning(memory: Memory, bring_in: Import, ids: bool) -> None:
    values = [line(f"message {at}", **({"session": "s", "id": at} if ids else {})) for at in range(20)]
    assert bring_in(*values, lines=True, at_once=5, stopping=stopping_after(1)).stopped
    assert bring_in(*values, lines=True).known > 4
    assert [session.name for session in memory.readings.sessions()] == ["message 0"]


def test_a_message_without_a_usable_time_has_the_nearest_of_its_chat(memory: Memory, bring_in: Import) -> None:
    later, then = "2999-01-01T00:00:00Z", "2024-03-01T10:00:00Z"
    bring_in(
        line("the future", session="a", time=later),
        line("nonsense", session="b", time="soon"),
        line("known", session="a", time=then),
        line("known", session="b", time=then),
        lines=True,
        pieces=1,
    )
    bring_in(claude_chat(said("1", "human", "none", created_at="soon"), Q, created_at=later))
    bring_in(locomo_value())
    times = {turn.text: turn.at.isoformat()[:13] for turn in everything(memory)}
    for text in ("the future", "nonsense", "none"):
        assert times[text] == "2024-03-01T10", text
    assert times["No id."] == "2023-09-13T00"  # of the session before it


# -- the agent --------------------------------------------------------------------------------------------------------


@pytest.fixture
async def agent() -> AsyncIterator[Agent]:
    async with opened(Settings(), load_model=False, load_embedder=False, open_graph=False) as made:
        yield made


async def test_an_agent_tells_progress_on_its_loop_and_that_the_list_changed(agent: Agent, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps([claude_chat(Q, A)]))
    notices = agent.notices()
    importing = agent.documents.import_chats(path)
    steps = [step async for step in importing]
    report = await importing
    await asyncio.sleep(0)
    assert (steps[0], steps[-1]) == (ImportProgress(0, 0), ImportProgress(2, 2))
    assert report.last_session is not None
    assert await anext(notices) == SessionsChanged(report.last_session)


async def test_a_cancelled_import_is_resumed(agent: Agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importer, "AT_ONCE", 5)
    chat = claude_chat(*(said(f"m{m}", "human", f"message {m}") for m in range(500)))
    path = tmp_path / "x.json"
    path.write_text(json.dumps([chat]))
    importing = agent.documents.import_chats(path)
    async with aclosing(aiter(importing)) as steps:
        async for step in steps:
            if step.done:
                break
    with pytest.raises(asyncio.CancelledError):
        await importing
    kept = (await agent.status()).counts["turns"]
    report = await agent.documents.import_chats(path)
    assert (report.known, report.new) == (kept, 500 - kept)
    [session] = await agent.chats.all()
    assert [turn.text for turn in await agent.chats.thread(session.id)] == [f"message {m}" for m in range(500)]


def test_a_chat_that_is_to_be_remembered_nowhere_is_there_and_kept_out_of_memory(
    memory: Memory, bring_in: Import
) -> None:
    assert bring_in({**off_the_path(), "is_do_not_remember": True}).new > 0
    [session] = memory.readings.sessions()
    thread = memory.readings.thread(session.id)
    assert all(turn.withheld for turn in thread)
    memory.append(TurnReleased(turn=thread[0].id))
    assert bring_in({**off_the_path(), "is_do_not_remember": True}).new == 0
    assert not memory.readings.thread(session.id)[0].withheld, "who lets it be remembered here is not asked again"
