"""Files that go along with a message."""

import os
from pathlib import Path
from threading import Event

import pytest

from tests.tui.conftest import Running, here, screen_text, wait_until
from tests.tui.scripted import ScriptedAgent
from tui import composer_controller
from tui.attachments import LARGEST, CannotAttach, FileName, NoFile, attach, being_typed, file_names


def test_a_named_file_goes_along_in_a_fence_longer_than_its_own(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one\n```\ncode\n```\n", encoding="utf-8")
    assert attach("read @a.md twice: @a.md", tmp_path) == (
        "read @a.md twice: @a.md\n\na.md:\n````\none\n```\ncode\n```\n````"
    )
    assert attach(f"@{tmp_path}/a.md", Path("/")).endswith("\n````")


@pytest.mark.parametrize(
    "text",
    [
        "ask @someone",
        "me@home.example",
        "mail me@home.md!",
        "@alice.example.com wrote",
        "@types/node and @angular/core",
        "@app.route('/x.py')\n@pytest.fixture",
        "@@ -1,2 +3,4 @@",
        '@"a string"',
        "@",
        "@" + "x" * 5000,
        "ask @joe.me and @open.ai",
        "@~nobody",
        "@\0",
        "@.",
    ],
)
def test_words_that_begin_with_an_at_are_left_as_they_are(text: str, tmp_path: Path) -> None:
    assert attach(text, tmp_path) == text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("sum up @nosuch.md", r"File not found: nosuch\.md \(in /"),
        ("sum up @nosuch.md, please", r"File not found: nosuch\.md \(in /"),
        ('sum up @"no such.txt"', r"File not found: no such\.txt \(in /"),
        ("@report.docx", "File not found: report.docx"),
        ("@photo.JPG", "File not found: photo.JPG"),
        ("@Makefile", "File not found: Makefile"),
        ("@docs/plan", r"File not found: docs/plan \(in /"),
        ("@docs", "docs is a folder"),
        ("@/etc", "/etc is a folder. Only files"),
        ("@/no/such/place", r"File not found: /no/such/place\.$"),
        ("@~nobody-here/x", "File not found: ~nobody-here/x"),
        ("@./x", "File not found:"),
        ("@pipe", "pipe is not a regular file"),
        ("@a.md and @b.md", "found: a.md .* found: b.md"),
    ],
)
def test_what_was_meant_for_a_file_and_is_none_is_told_and_may_be_words_after_all(
    text: str, says: str, tmp_path: Path
) -> None:
    (tmp_path / "docs").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NoFile, match=says):
        attach(text, tmp_path)
    assert attach(text, tmp_path, as_words=True) == text


@pytest.mark.parametrize("text", ["see @a.md.", "(so @a.md)", '"@a.md" @a.md?', "@./a.md, and", '@"my a.md": this'])
def test_a_name_is_found_in_a_sentence_and_in_quotes(text: str, tmp_path: Path) -> None:
    for name in ("a.md", "my a.md"):
        (tmp_path / name).write_text("words")
    assert attach(text, tmp_path).endswith("a.md:\n```\nwords\n```")


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
    ("data", "says"), [(b"x" * (LARGEST + 1), "larger than"), (b"\xff\xfe", "not UTF-8"), (b"a\0b", "not a text file")]
)
def test_what_cannot_go_along_is_told(data: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(data)
    with pytest.raises(CannotAttach, match=says):
        attach("see @f", tmp_path)


async def test_a_message_with_a_file_is_sent_whole_and_one_that_cannot_go_stays(
    chat: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.txt").write_text("the words of the file", encoding="utf-8")
    (tmp_path / "bad.bin").write_bytes(b"\xff")
    agent = ScriptedAgent()
    async with chat(agent) as (app, pilot):
        app.view.composer.put("see @bad.bin")
        await pilot.press("enter")
        await wait_until(pilot, lambda: "not UTF-8 text" in screen_text(app))
        assert app.view.composer.text == "see @bad.bin"
        assert await agent.chats.all() == []
        app.view.composer.put("see @good.txt")
        await pilot.press("enter")
        await wait_until(pilot, lambda: "the words of the file" in screen_text(app))


async def test_a_name_that_is_no_file_is_told_before_anything_is_sent_and_goes_when_it_is_sent_again(
    chat: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    agent = ScriptedAgent()
    async with chat(agent, size=(120, 30)) as (app, pilot):
        app.view.composer.put("sum up @nosuch.md")
        await pilot.press("enter")
        await wait_until(pilot, lambda: "File not found: nosuch.md" in screen_text(app))
        assert app.view.composer.text == "sum up @nosuch.md"
        await pilot.press("tab")
        assert app.view.composer.text == "sum up @nosuch.md"
        assert await agent.chats.all() == []
        await pilot.press("enter")
        await wait_until(pilot, lambda: app.view.session)
        assert (await agent.chats.thread(here(app)))[0].text == "sum up @nosuch.md"
        await pilot.press(*"thanks @someone", "enter")
        await wait_until(pilot, lambda: len(app.view.transcript.messages) == 4)
        assert await agent.chats.said() == ["thanks @someone", "sum up @nosuch.md"]


async def test_what_was_said_of_a_name_goes_when_another_message_is_written(
    chat: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with chat(ScriptedAgent(), size=(120, 30)) as (app, pilot):
        app.view.composer.put("read @nosuch.md")
        await pilot.press("enter")
        await wait_until(pilot, lambda: "File not found:" in screen_text(app))
        await pilot.press("ctrl+u", "h", "i")
        assert "File not found:" not in screen_text(app)


async def test_typing_a_name_waits_for_no_folder_and_no_file_is_chosen_that_it_rules_out(
    chat: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("notes.md", "novel.txt"):
        (tmp_path / name).write_text("x")
    quick = Event()
    quick.set()

    def slow(typed: str, folder: Path, **more: bool) -> list[FileName]:
        assert quick.wait(60)
        return file_names(typed, folder, **more)

    monkeypatch.setattr(composer_controller, "file_names", slow)
    async with chat(ScriptedAgent()) as (app, pilot):
        await pilot.press(*"@n")
        await wait_until(pilot, lambda: "notes.md" in screen_text(app))
        quick.clear()
        try:
            await pilot.press(*"ov", "enter")
            assert app.view.composer.text == "@novel.txt "
        finally:
            quick.set()


async def test_an_at_offers_the_files_and_tab_or_enter_completes_the_name(
    chat: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "first plan.md").write_text("the plan")
    (tmp_path / "novel.txt").write_text("once")
    agent = ScriptedAgent()
    async with chat(agent) as (app, pilot):
        await pilot.press(*"read @no")
        await wait_until(pilot, lambda: "novel.txt" in screen_text(app))
        await wait_until(pilot, lambda: "notes/" in screen_text(app), "notes/")
        await pilot.press("tab")
        await wait_until(pilot, lambda: "first plan.md" in screen_text(app))
        await pilot.press("enter")
        await wait_until(pilot, lambda: app.view.composer.text == 'read @"notes/first plan.md" ')
        await wait_until(pilot, lambda: not app.view.composer.choosing)
        await pilot.press(*"or @nov", "left")
        await wait_until(pilot, lambda: not app.view.composer.choosing)
        await pilot.press("right", "tab", *"?")
        assert app.view.composer.text == 'read @"notes/first plan.md" or @novel.txt ?'
        await pilot.press(*" @nope", "tab")
        await wait_until(pilot, lambda: "o file name starts with nope" in screen_text(app))
        assert app.view.composer.has_focus
        await pilot.press(*["backspace"] * 5, "enter")
        await wait_until(pilot, lambda: app.view.session)
        assert ((await agent.chats.thread(here(app)))[0].text or "").count("```") == 4
