"""`clew ask` beside a service: the same words and codes as without one, and little is imported for them."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest

from agent.events import ReplyEnded
from agent.home import Home
from agent.settings import Settings
from agent.story.cards import Card
from tests.agent.conftest import collect
from tests.agent.service.behind import Behind, agent_of
from tests.agent.test_changing_tools import ANSWER, REMEMBER
from tests.agent.test_recall import only
from tests.fakes import FakeGenerator
from tests.tui.commands.conftest import Ended
from tui.commands.replies import FIGURES
from tui.exit_codes import ExitCode

pytestmark = pytest.mark.process

AGENT = ("agent.agent", "kuzu", "numpy", "llama_cpp", "agent.settings")
LISTED = (
    "import sys; from tui.entry import main; code = main(sys.argv[1:]);"
    f"print(sorted({set(AGENT)!r} & set(sys.modules)), file=sys.stderr); sys.exit(code)"
)


class Shell:
    """Runs `clew ask` beside a service of this process."""

    def __init__(self, behind: Behind, model: FakeGenerator) -> None:
        self.behind, self.model = behind, model

    async def begin(self, *arguments: str, code: str | None = None) -> asyncio.subprocess.Process:
        command = ["-c", code] if code is not None else ["-m", "tui"]
        streams: dict[str, Any] = {"stdin": asyncio.subprocess.DEVNULL, "stdout": asyncio.subprocess.PIPE}
        return await asyncio.create_subprocess_exec(
            sys.executable, *command, "ask", *arguments, **streams, stderr=asyncio.subprocess.PIPE
        )

    async def ask(self, *arguments: str, code: str | None = None) -> Ended:
        return await self.ended(await self.begin(*arguments, code=code))

    async def ended(self, process: asyncio.subprocess.Process) -> Ended:
        out, err = await process.communicate()
        assert process.returncode is not None
        return Ended(process.returncode, out.decode(), err.decode())


@pytest.fixture
async def shell() -> AsyncIterator[Shell]:
    home, model = Home.resolve(), FakeGenerator("one two three")
    behind = Behind(home, agent_of(home, model, Settings(tools="on", reflect=False, recall=False)))
    await behind.start()
    model.structured_replies = [ANSWER] * 9
    yield Shell(behind, model)
    model.gate.set()
    await behind.end()


async def test_the_reply_is_on_stdout_and_nothing_of_an_agent_is_imported_for_it(shell: Shell) -> None:
    asked = await shell.ask("hello", code=LISTED)
    assert (asked.out, asked.code) == ("one two three\n", 0)
    (session,) = await shell.behind.agent.chats.all()
    said, _ = await shell.behind.agent.chats.thread(session.id)
    assert asked.err.splitlines() == [f"accepted {said.id}", "[]"]
    assert (said.text, said.client) == ("hello", "ask")


async def test_figures_a_chat_a_system_prompt_and_refusals_are_as_without_a_service(shell: Shell) -> None:
    first = (await shell.ask("hello", "--json")).json
    assert set(first) == {"reply", *FIGURES}
    second = (await shell.ask("--session", "last", "--system", "Be brief.", "--json", "and on")).json
    assert second["session"] == first["session"]
    assert (await shell.behind.agent.chats.get(first["session"])).system_prompt == "Be brief."
    assert [each.text for each in await shell.behind.agent.chats.thread(first["session"])][::2] == ["hello", "and on"]

    wrong = (("--session", "nope", "hello"), (" ",))
    served = [await shell.ask(*arguments) for arguments in wrong]
    await shell.behind.end()
    assert served == [await shell.ask(*arguments) for arguments in wrong]
    assert [(each.code, each.out) for each in served] == [(ExitCode.NOT_FOUND, ""), (ExitCode.USAGE, "")]
    assert "There is no chat nope" in served[0].err
    assert "empty" in served[1].err


async def test_leave_is_given_by_yes_alone(shell: Shell) -> None:
    shell.model.structured_replies = [REMEMBER, ANSWER, REMEMBER, ANSWER]
    assert (await shell.ask("My boat is called Zephyrine.")).code == 0
    assert await shell.behind.agent.memories.find() == []
    asked = await shell.ask("--yes", "My boat is called Zephyrine.")
    assert "allowed by --yes: Remember" in asked.err
    (made,) = await shell.behind.agent.memories.find()
    assert made.text == REMEMBER["text"]


async def test_a_whisper_in_a_story_is_heard_by_one_and_a_note_by_nobody(shell: Shell) -> None:
    stories = shell.behind.agent.stories
    session = await stories.begin("The Lighthouse", Card(name="Mara"), guest=Card(name="Jonas"))
    asked = await shell.ask("--session", session, "--whisper", "mara", "--json", "The gold is here.", code=LISTED)
    assert asked.json["speaker"] == "Mara"
    assert asked.err.splitlines()[-2:] == ["Mara:", "[]"]
    assert await stories.seen_by(session, await stories.named(session, "Jonas")) == []
    note = await shell.ask("--session", session, "((make it rain))")
    assert (note.out, note.code) == ("", 0)
    assert "there is no reply" in note.err
    assert "Who plays: You, Mara, Jonas." in (await shell.ask("--session", session, "--whisper", "Zoe", "Hello.")).err


async def test_ctrl_c_stops_this_reply_and_no_other(shell: Shell) -> None:
    client = await shell.behind.client()
    shell.model.gate.clear()
    other = asyncio.create_task(collect(client.send(None, "from the chat")))
    await shell.model.waiting.wait()
    process = await shell.begin("hello")
    assert process.stderr is not None
    assert (await process.stderr.readline()).startswith(b"accepted ")
    process.send_signal(signal.SIGINT)
    assert (await shell.ended(process)).code == ExitCode.INTERRUPTED
    shell.model.gate.set()
    assert only(await other, ReplyEnded).stop_reason == "end", "it was another's"


async def test_a_service_that_goes_away_in_mid_reply_is_told_of(shell: Shell) -> None:
    shell.model.gate.clear()
    process = await shell.begin("hello")
    assert process.stderr is not None
    await process.stderr.readline()
    await shell.model.waiting.wait()
    for connection in list(shell.behind.service._hall.connections):
        connection._writer.transport.abort()
    asked = await shell.ended(process)
    assert "The service ended before the reply was there." in asked.err
    assert asked.code == ExitCode.FAILED
    shell.model.gate.set()
