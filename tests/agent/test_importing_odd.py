"""One odd field of an export costs at most its own message, which is named; all others come in, in their order."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from agent.importer import Importer
from agent.importing.chats import ImportedChat
from agent.importing.formats import open_export
from graph.memory import Memory

ODD: list[Any] = [None, 5, "x", [], {}, True, [None], 1.5]
TEXTS = ["the first", "the second", "the third"]


def node(number: int, role: str, text: str) -> dict[str, Any]:
    message = {"id": f"m{number}", "author": {"role": role}, "create_time": 1750000000.0 + number, "recipient": "all"}
    message |= {"content": {"content_type": "text", "parts": [text]}, "weight": 1.0, "metadata": {}}
    parent, children = f"m{number - 1}", [f"m{number + 1}"]
    return {"id": f"m{number}", "parent": parent, "children": children, "message": message}


SAID = list(zip(("user", "assistant", "user"), TEXTS, strict=True))
NODES = {"m0": {"id": "m0", "parent": None, "message": None, "children": ["m1"]}}
NODES |= {f"m{number}": node(number, *said) for number, said in enumerate(SAID, 1)}
CHATGPT = {"title": "Trip", "create_time": 1750000000.5, "mapping": NODES, "current_node": "m3", "id": "c"}
CLAUDE: dict[str, Any] = {"uuid": "c", "name": "Trip", "created_at": "2026-01-01T00:00:00Z"}
CLAUDE["chat_messages"] = [
    {"uuid": text, "text": text, "content": [{"type": "text", "text": text}], "sender": sender, "attachments": []}
    for sender, text in zip(("human", "assistant", "human"), TEXTS, strict=True)
]
WITHIN = ("mapping", "m2")
SPARED = [  # what a message is told without
    (CHATGPT, (*WITHIN, "children")), (CHATGPT, (*WITHIN, "parent")), (CHATGPT, (*WITHIN, "message", "id")),
    (CHATGPT, (*WITHIN, "message", "create_time")), (CHATGPT, (*WITHIN, "message", "metadata")),
    (CHATGPT, (*WITHIN, "message", "weight")), (CHATGPT, ("mapping", "m0")), (CHATGPT, ("mapping", "m0", "children")),
    (CHATGPT, ("title",)), (CHATGPT, ("create_time",)), (CHATGPT, ("current_node",)), (CHATGPT, ("id",)),
    *((CLAUDE, ("chat_messages", 1, key)) for key in ("uuid", "text", "content", "attachments", "created_at")),
    (CLAUDE, ("uuid",)), (CLAUDE, ("name",)), (CLAUDE, ("created_at",)),
]  # fmt: skip
NEEDED = [  # without which it is none
    (CHATGPT, WITHIN), (CHATGPT, (*WITHIN, "message")), (CHATGPT, (*WITHIN, "message", "author")),
    (CHATGPT, (*WITHIN, "message", "author", "role")), (CLAUDE, ("chat_messages", 1)),
    (CLAUDE, ("chat_messages", 1, "sender")),
]  # fmt: skip


def called(each: object) -> str:
    """What a test of a place is called."""
    return "-".join(map(str, each)) if isinstance(each, tuple) else ""


def read(folder: Path, *values: Any) -> list[ImportedChat]:
    file = folder / "conversations.json"
    file.write_text(json.dumps(values))
    return list(open_export(file).chats())


def made_odd(value: dict[str, Any], path: tuple[Any, ...], odd: Any) -> dict[str, Any]:
    """A copy of a conversation, with something else at that place."""
    made = copy.deepcopy(value)
    at: Any = made
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = odd
    return made


def follows(chat: ImportedChat) -> bool:
    """Whether each message but the first follows the one before it."""
    keys = [None, *(each.key for each in chat.messages)]
    return [each.parent for each in chat.messages] == keys[:-1]


@pytest.mark.parametrize(("value", "path"), SPARED, ids=called)
def test_a_message_comes_in_without_what_it_can_be_told_without(
    value: dict[str, Any], path: tuple[Any, ...], tmp_path: Path
) -> None:
    for odd in ODD:
        (chat,) = read(tmp_path, made_odd(value, path, odd))
        shown = [each.text.partition("\n")[0] for each in chat.messages]
        assert shown == [TEXTS[0], "x" if (path[-1], odd) == ("content", "x") else TEXTS[1], TEXTS[2]], odd
        assert follows(chat), odd


@pytest.mark.parametrize(("value", "path"), NEEDED, ids=called)
def test_what_is_no_message_is_named_and_the_others_come_in(
    value: dict[str, Any], path: tuple[Any, ...], tmp_path: Path
) -> None:
    for odd in ODD:
        (chat,) = read(tmp_path, made_odd(value, path, odd))
        assert [each.text for each in chat.messages] == [TEXTS[0], TEXTS[2]], odd
        assert follows(chat), odd
        if odd not in (None, {}):  # a place without a message is usual
            assert [told.partition(":")[0] for told in chat.odd] == ["“Trip”"], odd


@pytest.mark.parametrize("value", [CHATGPT, CLAUDE], ids=["ChatGPT", "Claude"])
def test_the_first_conversation_does_not_decide_and_is_named(value: dict[str, Any], tmp_path: Path) -> None:
    holds = "mapping" if value is CHATGPT else "chat_messages"
    for first in (None, 5, {}, value | {holds: None}):
        odd, chat = read(tmp_path, first, value)
        assert [each.text for each in chat.messages] == TEXTS
        assert len(odd.odd) == 1
        assert not odd.messages
    assert odd.odd[0].startswith("“Trip” (objects with the keys")


def test_a_message_of_parts_is_its_texts_with_what_else_there_is_named(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": "data:x"}}]
    also = [{"type": "image", "source": {}}, {"type": "text", "text": "And this?"}]
    said: list[dict[str, Any]] = [{"role": "user", "content": parts}, {"role": "user", "content": also}]
    (chat,) = read(tmp_path, *said, {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]})
    assert [each.text for each in chat.messages] == ["What is this?\n[image]", "[image]\nAnd this?"]
    assert chat.skipped == {"empty": 1}


@pytest.mark.parametrize(("at", "children"), [("m3", ["m1"]), ("m1", ["m1", "m2"]), ("m2", ["m1", "m3"])])
def test_children_that_lead_back_lose_nothing(at: str, children: list[str], tmp_path: Path) -> None:
    value = copy.deepcopy(CHATGPT)
    mapping: Any = value["mapping"]
    del mapping["m0"]
    mapping["m1"]["parent"] = None if at == "m3" else "m1"
    mapping[at]["children"] = children
    (chat,) = read(tmp_path, value)
    assert [each.text for each in chat.messages] == TEXTS
    assert follows(chat)


@pytest.mark.timeout(60)
def test_a_long_chain_that_only_children_tell_of_is_read_in_time(tmp_path: Path) -> None:
    mapping = {f"m{number}": node(number, "user", f"text {number}") | {"parent": None} for number in range(20_000)}
    (chat,) = read(tmp_path, CHATGPT | {"mapping": mapping})
    assert len(chat.messages) == 20_000
    assert follows(chat)


def test_letters_that_could_not_be_read_are_counted_by_their_chat(memory: Memory, tmp_path: Path) -> None:
    data = json.dumps([CHATGPT]).encode().replace(b"the second", b"the s\xe9cond \xff")
    (tmp_path / "x.json").write_bytes(data)
    report = Importer(memory).run(tmp_path / "x.json")
    assert (report.new, report.odd) == (3, ["“Trip”: 2 letters that could not be read stand there as �"])


def written_to(tmp_path: Path, export: Any) -> Path:
    (tmp_path / "x.json").write_text(json.dumps([export]))
    return tmp_path / "x.json"


def said_of(export: Any, tmp_path: Path) -> list[str]:
    (chat,) = open_export(written_to(tmp_path, export)).chats()
    return [message.text for message in chat.messages]


def test_what_was_written_into_a_canvas_comes_along(tmp_path: Path) -> None:
    export: Any = copy.deepcopy(CHATGPT)
    message = export["mapping"]["m2"]["message"]
    message["recipient"] = "canmore.create_textdoc"
    for written, kept in (
        ({"name": "plan", "type": "document", "content": "Row at dawn."}, ["plan", "Row at dawn."]),
        ({"updates": [{"pattern": ".*", "replacement": "Row at noon."}]}, ["canvas, changed", "Row at noon."]),
    ):
        message["content"] = {"content_type": "code", "language": "json", "text": json.dumps(written)}
        said = said_of(export, tmp_path)[1]
        assert all(each in said for each in kept), said
    message["content"]["text"] = json.dumps({"content": ["Row", 5, "at dusk."]}) + " and more"
    assert "Row\nat dusk." in said_of(export, tmp_path)[1]
    message["content"]["text"] = '{"content": "cut off'
    (chat,) = open_export(written_to(tmp_path, export)).chats()
    assert [message.text for message in chat.messages] == ["the first", "the third"]
    assert chat.odd == ('“Trip”: message 2, a canvas that cannot be read (“{"content": "cut off”)',)


def test_what_claude_changed_in_a_file_comes_along(tmp_path: Path) -> None:
    export = copy.deepcopy(CLAUDE)
    tools: tuple[tuple[str, dict[str, str]], ...] = (
        ("str_replace", {"path": "/tmp/plan.md", "old_str": "dawn", "new_str": "Row at noon."}),
        ("str_replace_based_edit_tool", {"command": "insert", "path": "plan.md", "insert_text": "Row at noon."}),
        ("str_replace_based_edit_tool", {"command": "create", "path": "plan.md", "file_text": "Row at noon."}),
    )
    for tool, given in tools:
        export["chat_messages"][1]["content"] = [{"type": "tool_use", "name": tool, "input": given}]
        said = said_of(export, tmp_path)[1]
        assert "plan.md" in said
        assert "Row at noon." in said
