"""Files that go along with a message."""

import os
import tomllib
from collections.abc import AsyncIterator
from pathlib import Path
from threading import Event

import pytest
from textual.events import Paste
from textual.pilot import Pilot

from tests.agent.references.web import Web, serving
from tests.agent.test_recall import spelled
from tests.fakes import FakeGenerator
from tests.tui.acting import enter, press
from tests.tui.conftest import Running, here, screen_text, wait_until
from tests.tui.scripted import ScriptedAgent
from tests.tui.seeing import sees, sees_no_more
from tui import composer_controller
from tui.app import ClewApp
from tui.attachments import LARGEST, CannotAttach, FileName, NoFile, attached, being_typed, file_names
from tui.text import as_sent

PHRASES = tomllib.loads(Path(__file__).with_name("attaching.toml").read_text(encoding="utf-8"))


def test_a_named_file_is_attached_by_its_whole_path_once_and_an_address_bare_of_marks(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one", encoding="utf-8")
    assert attached("read @a.md twice: @a.md", tmp_path) == (str(tmp_path / "a.md"),)
    assert attached(f"@{tmp_path}/a.md", Path("/")) == (str(tmp_path / "a.md"),)
    assert attached("read @a.md and @./a.md", tmp_path) == (str(tmp_path / "a.md"),)
    assert attached("read @a.md now", tmp_path, before="read @a.md") == (str(tmp_path / "a.md"),)
    assert attached("read @gone.md now", tmp_path, before="read @gone.md") == ()
    said = "sum up @https://example.org/a, @at://ada.example/app.bsky.feed.post/3k and @HTTP://localhost:8000/."
    found = attached(said, tmp_path)
    assert found == ("https://example.org/a", "at://ada.example/app.bsky.feed.post/3k", "HTTP://localhost:8000/")
    assert attached("see https://example.org/a", tmp_path) == (), "it is only mentioned"


@pytest.mark.parametrize("text", [*PHRASES["only_words"], "@" + "x" * 5000])
def test_words_that_begin_with_an_at_are_left_as_they_are(text: str, tmp_path: Path) -> None:
    assert attached(text, tmp_path) == ()


@pytest.mark.parametrize(("text", "says"), PHRASES["no_file"])
def test_what_was_meant_for_a_file_and_is_none_is_told_or_words(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NoFile, match=says):
        attached(text, tmp_path)
    assert attached(text, tmp_path, as_words=True) == ()


@pytest.mark.parametrize("text", ["see @a.md.", "(so @a.md)", '"@a.md" @a.md?', "@./a.md, and", '@"my a.md": this'])
def test_a_name_is_found_in_a_sentence_and_in_quotes(text: str, tmp_path: Path) -> None:
    for name in ("a.md", "my a.md"):
        (tmp_path / name).write_text("words")
    assert [Path(each).name for each in attached(text, tmp_path)] in (["a.md"], ["my a.md"])


@pytest.mark.parametrize(
    ("line", "typed"),
    [
        ("", None),
        ("see @", ""),
        ("see @no", "no"),
        ("@~/a b", None),
        ('@"a b', '"a b'),
        ('@"a b" ', None),
        ("me@home", None),
    ],
)
def test_what_is_being_typed_behind_an_at(line: str, typed: str | None) -> None:
    assert being_typed(line) == typed


def test_a_name_becomes_those_it_may_be_the_beginning_of(tmp_path: Path) -> None:
    for name in ("Notes.md", "notes", "my notes.txt", ".hidden", "new\nline"):
        (tmp_path / name).write_text("x")
    (tmp_path / "new folder").mkdir()
    (tmp_path / "new folder" / "in it").write_text("x")

    def offered(typed: str, **more: bool) -> list[str]:
        return [each.mention for each in file_names(typed, tmp_path, **more)]

    assert offered("") == ['@"my notes.txt" ', '@"new folder/', "@notes ", "@Notes.md "]
    assert offered("no") == ["@notes ", "@Notes.md "]
    assert offered("notes") == []  # it is one
    assert offered("notes", whole=True) == ["@notes ", "@Notes.md "]
    assert offered(".h") == ["@.hidden "]
    assert offered('"new folder/') == ['@"new folder/in it" ']
    assert offered(f"{tmp_path}/No") == [f"@{tmp_path}/notes ", f"@{tmp_path}/Notes.md "]
    assert offered("nothing/here") == offered("~nobody-here/x") == offered("\0/") == []


@pytest.mark.parametrize(
    ("data", "says"), [(b"x" * (LARGEST + 1), "larger than 10 MB"), (b"a\0b", "neither a text nor a PDF")]
)
def test_what_cannot_go_along_is_told(data: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(data)
    with pytest.raises(CannotAttach, match=says):
        attached("see @f", tmp_path)


def given(agent: ScriptedAgent) -> str:
    """What the model was given last."""
    assert isinstance(agent.model, FakeGenerator)
    return spelled(agent.model, agent.model.prompts[-1])


async def attached_to(agent: ScriptedAgent, session: str) -> list[str]:
    return [each.reference.address for each in await agent.references.all(session)]


async def answered(app: ClewApp, pilot: Pilot[int], messages: int) -> None:
    """Wait until so many messages are there, replies among them."""
    await wait_until(pilot, lambda: len(app.view.transcript.messages) == messages, f"{messages} messages")


async def test_a_message_with_a_file_is_sent_whole_and_one_that_names_none_is_sent_when_it_is_sent_again(
    chat: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.txt").write_text("the words of the file", encoding="utf-8")
    (tmp_path / "bad.bin").write_bytes(b"\0")
    agent = ScriptedAgent()
    async with chat(agent, size=(120, 30)) as (app, pilot):
        await enter(pilot, "see @bad.bin", "neither a text nor a PDF")
        assert app.view.composer.text == "see @bad.bin"
        await enter(pilot, "read @nosuch.md", "File not found:")
        await pilot.press("ctrl+u", "h", "i")
        assert "File not found:" not in screen_text(app)
        await enter(pilot, "sum up @nosuch.md", "File not found: nosuch.md")
        assert app.view.composer.text == "sum up @nosuch.md"
        await pilot.press("tab")
        assert app.view.composer.text == "sum up @nosuch.md"
        assert await agent.chats.all() == []
        await press(pilot, "enter", until=lambda: app.view.session)
        assert (await agent.chats.thread(here(app)))[0].text == "sum up @nosuch.md"
        await enter(pilot, "thanks @someone")
        await answered(app, pilot, 4)
        assert await agent.chats.said() == ["thanks @someone", "sum up @nosuch.md"]
        assert await attached_to(agent, here(app)) == []
        await enter(pilot, "see @good.txt")
        await answered(app, pilot, 6)
        assert await attached_to(agent, here(app)) == [str(tmp_path / "good.txt")]
        assert (await agent.chats.thread(here(app)))[4].text == "see @good.txt"
        assert "the words of the file" in given(agent)


async def test_an_at_offers_the_files_tab_or_enter_completes_the_name_and_typing_waits_for_no_folder(
    chat: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "first plan.md").write_text("the plan")
    (tmp_path / "novel.txt").write_text("once")
    quick = Event()
    quick.set()

    def slow(typed: str, folder: Path, **more: bool) -> list[FileName]:
        assert quick.wait(60)
        return file_names(typed, folder, **more)

    monkeypatch.setattr(composer_controller, "file_names", slow)
    agent = ScriptedAgent()
    async with chat(agent) as (app, pilot):
        await press(pilot, *"read @no", shows=("novel.txt", "notes/"))
        await press(pilot, "tab", shows="first plan.md")
        await press(pilot, "enter", until=lambda: app.view.composer.text == 'read @"notes/first plan.md" ')
        await wait_until(pilot, lambda: not app.view.composer.choosing)
        await press(pilot, *"or @nov", "left", until=lambda: not app.view.composer.choosing)
        await pilot.press("right", "tab", *"?")
        assert app.view.composer.text == 'read @"notes/first plan.md" or @novel.txt ?'
        await press(pilot, *" @nope", "tab", shows="o file name starts with nope")
        assert app.view.composer.has_focus
        await press(pilot, *["backspace"] * 5, "enter", until=lambda: app.view.session)
        assert len(await agent.references.all(here(app))) == 2

        await answered(app, pilot, 2)
        await press(pilot, *"@n", shows="notes/")
        quick.clear()
        try:
            await pilot.press(*"ov", "enter")
            assert app.view.composer.text == "@novel.txt ", "no file is chosen that the letters rule out"
        finally:
            quick.set()


# -- addresses --------------------------------------------------------------------------------------------------------


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    async with serving() as server:
        for name in ("a", "b"):
            server.put(f"/{name}", f"The {name} is blue, as the words of this page say.", "text/plain; charset=utf-8")
        yield server


@pytest.mark.process
async def test_an_address_is_offered_read_after_a_yes_listed_added_and_dropped_by_ref(chat: Running, web: Web) -> None:
    agent = ScriptedAgent()
    async with chat(agent, size=(120, 30)) as (app, pilot):
        said = f"What colour does {web.url('/a')} say?"
        await enter(pilot, said, "Tab: yes", f"Read {web.url('/a')} for this chat?")
        await sees(pilot, "on this computer or in your network")
        assert app.view.composer.text == said
        assert web.asked == []
        await pilot.press("tab")
        await answered(app, pilot, 2)
        assert "The a is blue" in given(agent)
        assert await attached_to(agent, here(app)) == [web.url("/a")]
        await sees(pilot, "read 1")
        await press(pilot, "f7", shows=f"{web.url('/a')} ·")
        await pilot.press("f7")
        await enter(pilot, f"And @{web.url('/b')}?")
        await answered(app, pilot, 4)  # the host was allowed before
        assert await attached_to(agent, here(app)) == [web.url("/a"), web.url("/b")]

        await app.open_session(None)
        await enter(pilot, f"/ref {web.url('/a')}", "Say something first")
        await enter(pilot, "Hello")
        await answered(app, pilot, 2)
        await enter(pilot, f"/ref add {web.url('/a')}", "Attached:")
        await enter(pilot, "/ref", "What this chat refers to", "The a is blue", "45 characters")
        await press(pilot, "d", shows="Dropped:")
        assert await attached_to(agent, here(app)) == []
        await enter(pilot, "/undo", "dropped")


async def test_a_message_goes_without_what_it_mentions_where_that_is_not_meant(chat: Running, web: Web) -> None:
    agent = ScriptedAgent()
    async with chat(agent, size=(120, 30)) as (app, pilot):
        await enter(pilot, "Read @at://ada.example/nothing", "is no post")
        assert app.view.composer.text == "Read @at://ada.example/nothing"
        await enter(pilot, f"Look: {web.url('/a')}", "Tab: yes")
        await pilot.press("x")
        await sees_no_more(pilot, "Tab: yes")
        await pilot.press("enter")
        await sees(pilot, "Tab: yes")  # another message is not what was asked about
        assert await agent.chats.all() == []
        await pilot.press("enter")
        await answered(app, pilot, 2)
        await enter(pilot, f"Look: {web.url('/b')}", "Tab: yes")  # of one in the own network it is asked each time
        await pilot.press("enter")
        await answered(app, pilot, 4)
        await enter(pilot, " ".join(f"https://example.org/{number}" for number in range(9)))
        await answered(app, pilot, 6)  # a text with many addresses is only a text
        await enter(pilot, f"/ref {web.url('/a')}", f"Read 127.0.0.1:{web.port}?", "in a private network")
        await press(pilot, "escape", shows="Nothing was attached.")
        assert await attached_to(agent, here(app)) == []
        assert (agent.settings.hosts, web.asked) == ("", [])


# -- what others may have written -------------------------------------------------------------------------------------


async def pasted(app: ClewApp, pilot: Pilot[int], text: str) -> None:
    """Paste into the composer, as a terminal does."""
    app.view.composer.post_message(Paste(text))
    await wait_until(pilot, lambda: as_sent(text) in app.view.composer.text)


async def test_what_a_pasted_text_names_is_asked_about_by_its_name_and_nothing_is_opened_or_allowed_before(
    chat: Running, web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("key", "mine.txt"):
        (tmp_path / name).write_text(f"the words of {name}", encoding="utf-8")
    mail = f"Dear all,\nsee @{tmp_path}/key. And @https://tracker.example/p, @{web.url('/a')}\n"
    agent = ScriptedAgent()
    async with chat(agent, size=(160, 40)) as (app, pilot):
        await press(pilot, *"sum up @mine.txt ")
        await pasted(app, pilot, mail)
        said = app.view.composer.text.strip()
        await press(pilot, "enter", shows=("0/key", "tracker.example", "Tab: yes"))
        assert (agent.settings.hosts, await agent.chats.all()) == ("", [])
        await press(pilot, "enter", until=lambda: app.view.session)  # without
        await answered(app, pilot, 2)
        assert await attached_to(agent, here(app)) == [str(tmp_path / "mine.txt")]
        assert (agent.settings.hosts, web.asked) == ("", [])
        assert "the words of key" not in given(agent)

        await press(pilot, "up")  # it is no more the user's own for being sent once
        assert app.view.composer.text.strip() == said
        await press(pilot, "enter", shows=("0/key", "Tab: yes"))
        await press(pilot, "tab")
        await answered(app, pilot, 4)
        assert str(tmp_path / "key") in await attached_to(agent, here(app))
        assert web.url("/a") in await attached_to(agent, here(app))


WAYS = [
    *("draft", "editor", "clipboard", "two pastes", "a dot behind it", "into another paste", "undone", "its end typed"),
    "completed",
]


@pytest.mark.parametrize("way", WAYS)
async def test_only_what_is_typed_names_a_file_by_itself(
    way: str, chat: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "key").write_text("the words of the key", encoding="utf-8")
    agent = ScriptedAgent()
    async with chat(agent, size=(120, 30)) as (app, pilot):
        composer = app.view.composer
        if way == "draft" or way == "editor":
            composer.put("see @key")
        elif way == "clipboard":
            app.copy_to_clipboard("see @key")
            composer.action_paste()
        elif way == "two pastes":
            await pasted(app, pilot, "see @")
            await pasted(app, pilot, "key")
        elif way == "into another paste":
            await pasted(app, pilot, "see @y")
            await press(pilot, "left")
            await pasted(app, pilot, "ke")
        elif way == "undone":
            await pasted(app, pilot, "see @key")
            await press(pilot, "ctrl+a", "delete")
            await pasted(app, pilot, "harmless")
            await press(pilot, "ctrl+z", "ctrl+z", until=lambda: composer.text == "see @key")
        elif way in ("its end typed", "completed"):
            await pasted(app, pilot, "see @ke")
            if way == "completed":
                await press(pilot, "tab")
                assert composer.text == "see @ke", "nothing completes what was pasted"
            await press(pilot, "y")
        else:
            await pasted(app, pilot, "see @key")
            await pilot.press(".")
        await press(pilot, "enter", shows=("/key for this chat? Tab: yes. Enter: send",))
        await press(pilot, "enter", until=lambda: app.view.session)
        assert await attached_to(agent, here(app)) == []
        await press(pilot, *"see @key ", "enter")
        await wait_until(pilot, lambda: attached_to(agent, here(app)), "the file that was typed")
