"""Files that go along with a message."""

from pathlib import Path

import pytest

from tests.tui.conftest import Running, screen_text, wait_until
from tests.tui.fake_agent import FakeAgent
from tui.attaching import LARGEST, CannotAttach, attach


def test_a_named_file_goes_along_in_a_fence_longer_than_its_own(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one\n```\ncode\n```\n", encoding="utf-8")
    assert attach("read @a.md twice: @a.md", tmp_path) == (
        "read @a.md twice: @a.md\n\na.md:\n````\none\n```\ncode\n```\n````"
    )
    assert attach(f"@{tmp_path}/a.md", Path("/")).endswith("\n````")


@pytest.mark.parametrize(
    "text", ["ask @someone", "me@home.example", "@", "@" + "x" * 5000, "@~nobody-here/x", "@\0", "@."]
)
def test_what_is_no_file_is_left_as_it_is(text: str, tmp_path: Path) -> None:
    assert attach(text, tmp_path) == text


@pytest.mark.parametrize(
    ("data", "says"), [(b"x" * (LARGEST + 1), "larger than"), (b"\xff\xfe", "no UTF-8"), (b"a\0b", "no text")]
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
    agent = FakeAgent()
    async with chat(agent) as (app, pilot):
        app.composer.put("see @bad.bin")
        await pilot.press("enter")
        await wait_until(pilot, lambda: "no UTF-8 text" in screen_text(app))
        assert app.composer.text == "see @bad.bin"
        assert agent.turns == {}
        app.composer.put("see @good.txt")
        await pilot.press("enter")
        await wait_until(pilot, lambda: "the words of the file" in screen_text(app))
