"""`clew ask` with a scripted model: what is said where, and every way a reply can end."""

import asyncio
import hashlib
import json
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agent import reflections
from agent.agent import Agent
from agent.errors import AgentError
from agent.events import AgentEvent, ModelProgress, PromptRead, TokensArrived
from agent.home import Home
from agent.references.quotes import ReferenceQuotes
from agent.reflection.reflector import Reflector
from agent.reflection.trust import VERSION
from agent.settings import Settings, load_settings
from graph.errors import Ambiguous, LogUnwritable, MemoryHeld, NotFound
from graph.events import StopReason
from graph.memory import Memory
from graph.reader import LogReader
from graph.values import Exchange
from models.errors import DecodeFailed, NotGguf
from models.protocols import Generator
from tests.fakes import FakeGenerator, Reply
from tests.tui.commands.conftest import Clew, Ended, Terminal, held
from tui.commands.answering import run_answer, run_question
from tui.commands.ask import message_of, named_in
from tui.commands.replies import FIGURES, AskRequest, ReplyPrinter
from tui.exit_codes import ExitCode
from tui.output import Narration


class OneModel:
    """A Loader that brings up what the test made, inside the loop of the question."""

    def __init__(self, make: Callable[[], Generator]) -> None:
        self.make = make
        self.asked: list[str] = []

    def __call__(self, name: str, progress: Callable[[ModelProgress], None]) -> Generator:
        progress(ModelProgress("loading", name))
        self.asked.append(name)
        return self.make()


@pytest.fixture
def place(home: Path) -> Home:
    return Home.resolve(home)


@pytest.fixture
def settings(place: Home) -> Settings:
    return load_settings(place.config)


@pytest.fixture
def ask(place: Home, settings: Settings, capsys: pytest.CaptureFixture[str]) -> Clew:
    """Ask the scripted model one question."""

    def call(
        text: str = "Hello?", *replies: Any, as_json: bool = False, loader: OneModel | None = None, **about: Any
    ) -> Ended:
        capsys.readouterr()
        loader = loader or OneModel(lambda: FakeGenerator(*replies))
        code = run_question(place, settings, AskRequest(text, **about), ReplyPrinter(as_json=as_json), loader=loader)
        return Ended(code, *capsys.readouterr())

    return call


def exchanges(place: Home) -> list[Exchange]:
    with closing(LogReader.open(place.memory)) as reader:
        return reader.exchanges(limit=500)


def replied(place: Home) -> tuple[Exchange, Any]:
    """The only exchange, and its reply, which is there."""
    (exchange,) = exchanges(place)
    assert exchange.reply is not None
    return exchange, exchange.reply


def test_the_reply_is_stdout_and_the_accepted_turn_is_stderr_before_the_model_is_even_asked_for(
    ask: Clew, place: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    told: list[str] = []

    def make() -> Generator:
        told.append(capsys.readouterr().err)
        return FakeGenerator("Hello to you.")

    asked = ask("Hello?", loader=OneModel(make))
    exchange, reply = replied(place)
    assert (asked.code, asked.out, [*told, asked.err]) == (0, "Hello to you.\n", [f"accepted {exchange.turn.id}\n", ""])
    assert (exchange.turn.text, exchange.turn.client, reply.text) == ("Hello?", "ask", "Hello to you.")


def test_json_is_one_object_with_exactly_the_promised_keys(ask: Clew, place: Home) -> None:
    answer = ask("What is the sea made of?", "Hello to you.", as_json=True).json
    assert set(answer) == {"reply", *FIGURES}
    exchange, reply = replied(place)
    assert (answer["reply"], answer["truncated"], answer["reply_turn"]) == ("Hello to you.", False, reply.id)
    assert (answer["session"], answer["turn"]) == (exchange.turn.session, exchange.turn.id)
    for name in FIGURES[4:]:
        assert answer[name] == getattr(reply, name)
    with closing(LogReader.open(place.memory)) as reader:
        (session,) = reader.sessions()
    assert session.name == "What is the sea made of?", "it has a title when the process ends"


def test_on_a_terminal_it_is_told_how_far_a_long_prompt_is_read_and_what_takes_long() -> None:
    terminal = Terminal()
    printer = ReplyPrinter(narration=Narration(terminal, clock=iter(range(100)).__next__))
    written = terminal.getvalue
    printer.silent()
    assert "thinking …" in written()
    printer.event(PromptRead("S", "T", 3_100, 8_000))
    assert "reading 3,100 of 8,000 tokens" in written()
    before = written()
    printer.silent()
    assert written() == before
    printer.event(TokensArrived("S", "R", "Yes", 1, 1.0))
    printer.silent()
    assert written().endswith("\r")


def test_a_file_that_is_named_goes_along_and_one_that_is_not_there_ends_with_66_before_anything_is_stored(
    clew: Clew, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.md").write_text("the plan")
    (tmp_path / "b.bin").write_bytes(b"\0")
    for named, code, says in (
        ("@nosuch.md", 66, "File not found: nosuch.md (in"),
        ("@/etc", 66, "/etc is a folder"),
        ("@b.bin", 65, "@b.bin is neither a text nor a PDF."),
    ):
        for command in (("ask", "sum", "up", named), ("edit", "01ARZ3", named)):
            ended = clew(*command)
            assert (ended.code, ended.out) == (code, "")
            assert says in ended.err
            assert "Nothing was sent or stored." in ended.err
    assert not home.exists()
    monkeypatch.setattr("sys.stdin", None)
    assert message_of(["sum", "up", "@a.md"]) == "sum up @a.md"
    assert named_in(["sum", "up", "@a.md"]) == (str(Path("a.md").absolute()),)
    assert named_in(["ask @someone"]) == ()


def test_what_is_named_to_be_read_is_attached_given_to_the_model_and_told_by_show(
    ask: Clew, clew: Clew, place: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ReferenceQuotes.bring, "__kwdefaults__", {"patience_s": 60.0})
    notes = tmp_path / "notes.txt"
    notes.write_text("The xylopomp is blue.")
    model = FakeGenerator("Blue.")
    assert ask("What colour?", loader=OneModel(lambda: model), references=(str(notes),)).code is ExitCode.OK
    assert "> The xylopomp is blue." in model.detokenize(model.prompts[0])
    _, reply = replied(place)
    shown = clew("show", reply.id).out
    assert "recalled for the reply: 1" in shown
    assert str(notes) in shown.replace("\n", "")
    (item,) = clew("show", reply.id, "--json").json["context"]
    assert (item["kind"], item["address"], item["by"]) == ("reference", str(notes), reply.id)
    assert item["hash"] == hashlib.sha256(b"The xylopomp is blue.").hexdigest()
    assert item["read_at"] > 0
    assert "xylopomp" not in shown


def test_what_nobody_allowed_to_be_read_or_is_no_address_stores_nothing(ask: Clew, place: Home) -> None:
    asked = ask("What colour?", references=("http://127.0.0.1:1/a",))
    assert asked.code is ExitCode.FAILED
    assert "127.0.0.1:1 was not asked for anything yet. Nothing was attached." in asked.err
    with pytest.raises(AgentError, match=r"ftp:// is nothing clew can read\. Nothing was attached"):
        ask("What colour?", references=("ftp://example.org/a",))
    assert exchanges(place) == []


def judge(place: Home, score: float) -> None:
    """The scripted model was probed before."""
    place.cache.mkdir(parents=True, exist_ok=True)
    place.trusted.write_text(json.dumps({f"{VERSION}:{FakeGenerator().state_key}": score}))


def known(place: Home) -> tuple[list[str | None], int]:
    """What is known, and how many exchanges wait."""
    with held(place.root) as memory:
        memory.open_graph(lambda _: None)
        found = memory.readings.memories(now=datetime.now(UTC))
        return [each.text for each in found], memory.readings.unreflected_count()


@pytest.mark.restarts
def test_what_a_question_tells_is_known_at_once_where_no_model_has_to_be_asked_or_none_was_probed(
    ask: Clew, place: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reflections, "BRIEF_S", 60.0)
    ask("I live in Oslo.", "Nice!")
    assert known(place) == (["I live in Oslo."], 0), "people's own sentences are kept of any model"
    judge(place, 0.0)
    ask("I was born in Riga.", "Nice!")
    texts, waiting = known(place)
    assert (sorted(filter(None, texts)), waiting) == (["I live in Oslo.", "I was born in Riga."], 0)


@pytest.mark.restarts
def test_a_model_that_is_trusted_learns_later_and_then_only_from_the_first_few_of_what_waits_after_a_question(
    ask: Clew, place: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    cities = ["Oslo", "Delft", "Breda", "Lyon", "Bern", "Riga"]
    judge(place, 1.0)
    for city in cities[:5]:
        ask(f"I was born in {city}.", "Nice!")
    assert known(place) == ([], 5)
    monkeypatch.setattr(reflections, "BRIEF_S", 60.0)
    judge(place, 0.0)
    ask(f"I was born in {cities[5]}.", "Nice!")
    assert known(place)[1] == len(cities) - reflections.BRIEFLY


@pytest.mark.restarts
def test_the_answer_is_out_before_anything_is_learned_and_what_takes_too_long_is_left(
    ask: Clew, place: Home, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out: list[str] = []

    async def stuck(*_: object, **__: object) -> None:
        out.append(capsys.readouterr().out)
        await asyncio.Event().wait()

    judge(place, 0.0)
    monkeypatch.setattr(Reflector, "reflect", stuck)
    monkeypatch.setattr(reflections, "BRIEF_S", 1.0)
    assert ask("I live in Oslo.", "Nice!").code is ExitCode.OK
    assert out == ["Nice!\n"]
    assert known(place) == ([], 1)


@pytest.mark.restarts
def test_without_a_session_one_begins_last_goes_on_and_what_is_not_clear_stores_nothing(ask: Clew, place: Home) -> None:
    for wanted in ("last", "01NOSUCH"):
        with pytest.raises(NotFound):
            ask("Hello?", session=wanted)
    assert exchanges(place) == []
    ask("one", project="garden")
    ask("two")
    ask("three", session="last")
    ask("four", session=exchanges(place)[2].turn.session.lower())
    of = {exchange.turn.text: exchange for exchange in exchanges(place)}
    assert of["three"].turn.session == of["two"].turn.session
    assert of["four"].turn.session == of["one"].turn.session
    assert of["one"].turn.session != of["two"].turn.session
    assert (of["one"].project, of["two"].project) == ("garden", None)
    with pytest.raises(Ambiguous):
        ask("five", session="0")
    assert len(exchanges(place)) == 4


@pytest.mark.restarts
def test_a_system_prompt_of_its_own_is_kept_with_the_session(ask: Clew, place: Home) -> None:
    seen: list[str] = []

    def answer(prompt: str) -> str:
        seen.append(prompt)
        return "Aye."

    ask("one", answer, system="Talk like a pirate.")
    ask("two", answer, session="last")
    assert "Talk like a pirate." in seen[0]
    assert "Talk like a pirate." in seen[-1]
    with closing(LogReader.open(place.memory)) as reader:
        (session,) = reader.sessions()
    assert session.system_prompt == "Talk like a pirate."


def test_a_reply_that_breaks_off_is_kept_and_ends_1_and_one_that_was_cut_is_said_so(ask: Clew, place: Home) -> None:
    asked = ask("Hello?", Reply("This goes on and on and on.", error=DecodeFailed(-3), fail_after=3))
    _, reply = replied(place)
    assert reply.stop_reason == StopReason.FAILED
    assert (asked.code, asked.out) == (ExitCode.FAILED, f"{reply.text}\n")
    assert "The reply failed" in asked.err
    asked = ask("Hello?", Reply("Too long", reason="length"), as_json=True)
    assert (asked.code, asked.json["truncated"]) == (ExitCode.OK, True)
    assert "cut off" in asked.err


def test_a_model_that_cannot_be_loaded_or_a_signal_meanwhile_keeps_the_message(ask: Clew, place: Home) -> None:
    def broken() -> Generator:
        raise NotGguf(Path("x.gguf"), "text")

    def interrupted() -> Generator:
        os.kill(os.getpid(), signal.SIGINT)
        return FakeGenerator("never asked")

    asked = ask("Hello?", loader=OneModel(broken))
    assert (asked.code, asked.out) == (ExitCode.UNAVAILABLE, "")
    assert "is not a GGUF model" in asked.err
    assert "Your message is saved" in asked.err
    asked = ask("Again?", loader=OneModel(interrupted))
    assert (asked.code, asked.out) == (ExitCode.INTERRUPTED, "")
    assert [(each.turn.text, each.reply) for each in exchanges(place)] == [("Again?", None), ("Hello?", None)]


def test_a_log_that_cannot_be_written_is_74_and_one_in_use_names_who_has_it_and_nothing_is_accepted(
    ask: Clew, place: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask("before")

    def full(*_: object, **__: object) -> None:
        raise LogUnwritable("The disk is full. Nothing of this was stored.")

    with held(place.root), pytest.raises(MemoryHeld, match=r"clew \(chat\)"):
        ask("Hello?")
    monkeypatch.setattr(Memory, "append", full)
    asked = ask("Hello?")
    assert (asked.code, asked.out, "accepted" in asked.err) == (ExitCode.IO_ERROR, "", False)
    assert "The disk is full" in asked.err
    assert len(exchanges(place)) == 1


@pytest.mark.parametrize("yes", [False, True])
def test_only_with_yes_a_model_changes_the_memory(place: Home, settings: Settings, yes: bool) -> None:
    remember = {"tool": "remember", "text": "The boat of the user is called Zephyrine."}

    async def begin(agent: Agent) -> AsyncIterator[AgentEvent]:
        await agent.idle()
        return agent.send(None, "My boat is called Zephyrine.")

    loader = OneModel(lambda: FakeGenerator("Done.", structured_replies=[remember, {"tool": "answer"}]))
    with_tools = settings.model_copy(update={"tools": "on", "reflect": False})
    assert run_answer(place, with_tools, begin, ReplyPrinter(), yes=yes, loader=loader) is ExitCode.OK
    assert (remember["text"] in known(place)[0]) is yes


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_stops_the_reply_and_keeps_what_came(ask: Clew, place: Home, number: int, code: int) -> None:
    class Signalled(FakeGenerator):
        """Gets the signal when two words were said, and would wait for ever."""

        async def _pass(self) -> None:
            if self._reply_begun() and self.gate.is_set():
                self.gate.clear()
                asyncio.get_running_loop().call_soon(os.kill, os.getpid(), number)
            await super()._pass()

        def _reply_begun(self) -> bool:
            return len(self.kv) > len(self.prompts[-1]) + 1 if self.prompts else False

    asked = ask("Hello?", loader=OneModel(lambda: Signalled("one two three four five")))
    _, reply = replied(place)
    assert reply.stop_reason == StopReason.STOPPED
    assert reply.text
    assert "one two three four five".startswith(reply.text)
    assert (asked.code, asked.out) == (code, f"{reply.text}\n")


@pytest.mark.restarts
def test_what_the_model_says_is_data_in_a_pipe_and_harmless_else(ask: Clew, monkeypatch: pytest.MonkeyPatch) -> None:
    said = "a \x1b[31mred\x07 [bold]word[/bold]"
    assert ask("Hello?", said).out == f"{said}\n"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert ask("Hello?", said).out == "a ␛[31mred␇ [bold]word[/bold]\n"


def test_a_lost_reader_stops_the_reply_and_keeps_it(ask: Clew, place: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: object, **__: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("tui.commands.replies.put", gone)
    with pytest.raises(BrokenPipeError):
        ask("Hello?", "one two three")
    assert replied(place)


@pytest.mark.restarts
def test_a_session_with_a_model_of_its_own_changes_to_the_one_named(ask: Clew, place: Home, settings: Settings) -> None:
    loader = OneModel(lambda: FakeGenerator("Yes."))
    ask("one", loader=loader)
    with closing(LogReader.open(place.memory)) as reader:
        (session,) = reader.sessions()

    async def configure() -> None:
        agent = Agent(place, settings, client="test", loader=loader)
        await agent.start(load_model=False)
        await agent.chats.configure(session.id, model="its-own")
        await agent.close()

    asyncio.run(configure())
    ask("two", loader=loader, session="last")
    ask("three", loader=loader, session="last", model="another")
    assert loader.asked == ["smollm2-135m", "its-own", "another"]
