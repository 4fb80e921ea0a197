"""What a client may say of a message it sends, and who hears of it: watchers, ids made elsewhere, errors as values."""

import asyncio

import pytest

from agent.errors import AgentError, EmptyMessage
from agent.events import ErrorValue, Failed, ReplyEnded, TokensArrived, TurnAccepted
from graph.errors import LogUnwritable, MemoryFailure, NotFound
from graph.ids import new_id
from models.errors import DecodeFailed, ModelError
from tests.agent.conftest import MakeAgent, collect
from tests.agent.test_recall import only
from tests.fakes import FakeGenerator
from tui.exit_codes import ExitCode, exit_code_of


async def test_whoever_watches_a_chat_hears_the_same_as_who_said_it(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("a reply"))
    session = only(await collect(agent.send(None, "one")), TurnAccepted).session
    other = only(await collect(agent.send(None, "elsewhere")), TurnAccepted).session
    watching = asyncio.create_task(collect(agent.watch(session)))
    said = await collect(agent.send(session, "two"))
    await collect(agent.send(other, "still elsewhere"))
    said += await collect(agent.regenerate(session))
    await agent.idle()
    await agent.close()
    assert await watching == said
    assert sum(isinstance(event, ReplyEnded) for event in said) == 2


async def test_who_stops_watching_hears_no_more_and_the_reply_goes_on(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("a reply"))
    session = only(await collect(agent.send(None, "one")), TurnAccepted).session
    events = agent.watch(session)
    sending = asyncio.create_task(collect(agent.send(session, "two")))
    assert isinstance(await anext(events), TurnAccepted)
    await events.aclose()
    assert only(await sending, ReplyEnded).text == "a reply"


async def test_a_message_under_an_id_of_the_clients_own_is_taken_once(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("a reply"))
    turn = new_id()
    first = await collect(agent.send(None, "book the ferry", turn=turn))
    accepted = only(first, TurnAccepted)
    assert accepted.turn == turn
    assert only(first, ReplyEnded).turn == turn
    again = await collect(agent.send(None, "book the ferry", turn=turn))
    assert [(type(event), event.session, event.turn) for event in again if isinstance(event, TurnAccepted)] == [
        (TurnAccepted, accepted.session, turn)
    ]
    assert len(again) == 1
    assert [said.text for said in await agent.chats.thread(accepted.session)] == ["book the ferry", "a reply"]
    assert len(await agent.chats.all()) == 1


async def test_a_message_that_waits_is_not_answered_twice_because_it_is_sent_again(make_agent: MakeAgent) -> None:
    model = FakeGenerator("a reply")
    agent = await make_agent(model)
    session = only(await collect(agent.send(None, "one")), TurnAccepted).session
    model.gate.clear()
    running = asyncio.create_task(collect(agent.send(session, "two")))
    turn = new_id()
    waiting = agent.send(session, "three", turn=turn)
    assert only([await anext(waiting)], TurnAccepted).turn == turn
    assert only(await collect(agent.send(session, "three", turn=turn)), TurnAccepted).turn == turn
    model.gate.set()
    await running
    await collect(waiting)
    assert [said.text for said in await agent.chats.thread(session)] == [
        *("one", "a reply", "two", "a reply", "three", "a reply")
    ]


@pytest.mark.parametrize("turn", ["", "no id", "x" * 300, "01ARZ3NDEKTSV4RRFFQ69G5FA\u00df"])
async def test_what_is_no_id_is_refused_and_nothing_is_stored(make_agent: MakeAgent, turn: str) -> None:
    agent = await make_agent(FakeGenerator("a reply"))
    (failed,) = await collect(agent.send(None, "hello", turn=turn))
    assert isinstance(failed, Failed)
    assert await agent.chats.all() == []


async def test_a_message_says_which_client_said_it(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("a reply"))
    session = only(await collect(agent.send(None, "one", client="phone")), TurnAccepted).session
    await collect(agent.send(session, "two"))
    assert [said.client for said in await agent.chats.thread(session)] == ["phone", "phone", "test", "test"]


async def test_a_bug_while_answering_reaches_the_sender(make_agent: MakeAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = await make_agent(FakeGenerator("a reply"))

    def broken(*given: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("agent.loop.pack_of", broken)
    with pytest.raises(ZeroDivisionError):
        await collect(agent.send(None, "hello"))
    monkeypatch.undo()
    (session,) = await agent.chats.all()
    assert only(await collect(agent.retry(session.id)), ReplyEnded).text == "a reply"


async def test_words_are_told_in_order_however_late_they_are_read(make_agent: MakeAgent) -> None:
    words = " ".join(f"w{number}" for number in range(400))
    agent = await make_agent(FakeGenerator(words))
    events = agent.send(None, "go on")
    session = only([await anext(events)], TurnAccepted).session
    async for event in agent.watch(session):
        if isinstance(event, ReplyEnded):
            break
    late = [event async for event in events]
    assert "".join(event.text for event in late if isinstance(event, TokensArrived)) == words
    assert only(late, ReplyEnded).text == words


def _subclasses(of: type[Exception]) -> list[type[Exception]]:
    return [of, *(each for below in of.__subclasses__() for each in _subclasses(below))]


ERRORS = [each for base in (AgentError, MemoryFailure, ModelError) for each in _subclasses(base)]


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_an_error_is_the_same_again_once_it_was_a_value(kind: type[Exception]) -> None:
    again = ErrorValue(kind.__name__, "What happened. What is safe.").exception()
    assert type(again) is kind
    assert str(again) == "What happened. What is safe."
    assert isinstance(exit_code_of(again), ExitCode)


@pytest.mark.parametrize("error", [PermissionError(13, "denied"), FileNotFoundError("gone"), OSError("full")])
def test_an_error_of_the_system_is_one_again(error: OSError) -> None:
    again = ErrorValue.of(error).exception()
    assert type(again) is type(error)
    assert exit_code_of(again) is ExitCode.IO_ERROR


def test_no_two_errors_that_faces_are_told_of_have_one_name() -> None:
    names = [each.__name__ for each in ERRORS]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("error", [EmptyMessage("Nothing."), NotFound("No."), DecodeFailed(-3), LogUnwritable("Full.")])
def test_a_value_keeps_what_an_error_says(error: Exception) -> None:
    value = ErrorValue.of(error)
    assert (value.type, str(value.exception())) == (type(error).__name__, str(error))


def test_an_error_of_a_newer_clew_is_an_error_of_this_one() -> None:
    again = ErrorValue("FerryMissed", "The ferry left.").exception()
    assert type(again) is AgentError
    assert str(again) == "The ferry left."
