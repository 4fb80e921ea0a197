"""What each format is parsed into: trees, alternatives, what stays out, photos, times, speakers."""

from datetime import UTC, datetime
from typing import Any

from agent.importing import chatgpt, claude, locomo
from agent.importing.chats import ImportedChat, chat_source, message_source, moment, name, unmarked
from agent.importing.lines import JsonLines
from agent.importing.reading import ExportLine
from graph.events import Role
from tests.agent.test_importing_files import table


def ms(*parts: int) -> int:
    return int(datetime(*parts, tzinfo=UTC).timestamp() * 1000)  # type: ignore[misc,arg-type]


def told(chat: ImportedChat) -> list[tuple[str, str | None, str, str]]:
    return [(each.key, each.parent, each.role.value, each.text) for each in chat.messages]


# -- ChatGPT ----------------------------------------------------------------------------------------------------------


def node(id: str, parent: str | None, role: str | None, *parts: Any, **more: Any) -> dict[str, Any]:
    message = None
    if role is not None:
        content = {"content_type": more.pop("content_type", "text"), "parts": list(parts)}
        message = {"id": id, "author": {"role": role}, "content": content, "create_time": 1700000000.5, **more}
    return {"id": id, "parent": parent, "message": message, "children": []}


def tree(*nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    mapping = {each["id"]: each for each in nodes}
    for each in nodes:
        if each["parent"] in mapping:
            mapping[each["parent"]]["children"].append(each["id"])
    return {"title": "Tides", "conversation_id": "c1", "create_time": 1700000000, "mapping": mapping, **more}


def test_chatgpts_regenerated_answers_are_alternatives_and_the_head_is_the_current_one() -> None:
    value = tree(
        node("root", None, None),
        node("q", "root", "user", "Why tides?"),
        node("a1", "q", "assistant", "The moon."),
        node("a2", "q", "assistant", "Gravity.", metadata={"model_slug": "gpt-4"}),
        node("q2", "a1", "user", "And the sun?"),
        current_node="a2",
    )
    chat = chatgpt.parse(value)
    assert told(chat) == [
        ("q", None, "user", "Why tides?"),
        ("a1", "q", "assistant", "The moon."),
        ("q2", "a1", "user", "And the sun?"),
        ("a2", "q", "assistant", "Gravity."),
    ]
    assert (chat.head, chat.title, chat.id, chat.at) == ("a2", "Tides", "c1", 1700000000000)
    assert [each.at for each in chat.messages] == [1700000000500] * 4
    assert [each.model for each in chat.messages] == [None, None, None, "gpt-4"]


def test_chatgpts_system_tool_hidden_and_empty_messages_stay_out_and_the_rest_stays_connected() -> None:
    value = tree(
        node("s", None, "system", "You are …"),
        node("custom", "s", "user", "about me", content_type="user_editable_context"),
        node("q", "custom", "user", "Plot it"),
        node("thought", "q", "assistant", "hmm", content_type="thoughts"),
        node("call", "thought", "assistant", "plot()", recipient="python"),
        node("result", "call", "tool", "42"),
        node("gone", "result", "assistant", "", "  "),
        node("hid", "gone", "assistant", "x", metadata={"is_visually_hidden_from_conversation": True}),
        node("light", "hid", "assistant", "x", weight=0.0),
        node("odd", "light", "critic", "x"),
        node("a", "odd", "assistant", "Here."),
        current_node="hid",
    )
    chat = chatgpt.parse(value)
    assert told(chat) == [("q", None, "user", "Plot it"), ("a", "q", "assistant", "Here.")]
    assert chat.skipped == {"of the system": 1, "hidden": 4, "of or to a tool": 2, "empty": 1, "of an unknown role": 1}
    assert chat.head == "q"  # the current node stays out; the message before it is the head


def test_chatgpts_pictures_and_files_become_lines() -> None:
    image = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}
    speech = {"content_type": "audio_transcription", "text": "said aloud"}
    more = {"content_type": "multimodal_text", "metadata": {"attachments": [{"name": "notes.pdf"}]}}
    chat = chatgpt.parse(tree(node("q", None, "user", image, speech, "What is it?", {}, 7, **more)))
    assert chat.messages[0].text == "[image]\nsaid aloud\nWhat is it?\n[attachment]\n[file: notes.pdf]"


def test_chatgpts_broken_trees_lose_only_what_cannot_be_placed() -> None:
    twin = node("twin", "q", "assistant", "two")
    twin["message"]["id"] = "q"
    value = tree(
        node("q", "nowhere", "user", "one"),
        node("x", "y", "user", "circle"),
        node("y", "x", "assistant", "circle"),
        twin,
        current_node="gone",
    )
    chat = chatgpt.parse(value)
    assert told(chat) == [("q", None, "user", "one")]
    assert chat.skipped == {"in a circular chain of messages": 2, "a duplicate id": 1}
    assert chat.head == "q"


CITED = "\ue200cite\ue202turn0search3\ue202turn0search8\ue201"


def test_what_chatgpt_marks_for_its_screen_is_told_as_it_is_seen_there() -> None:
    marked = table("marked")
    assert {text: unmarked(text) for text in marked} == marked
    assert unmarked("See \ue200entity\ue202[" + "[" * 5000 + "\ue201.") == "See."
    assert unmarked((" " * 100_000 + "x") * 3 + CITED).endswith("x"), "behind many blanks, at once"


# -- Claude -----------------------------------------------------------------------------------------------------------


def said(uuid: str | None, sender: str, text: str, **more: Any) -> dict[str, Any]:
    return {"uuid": uuid, "sender": sender, "text": text, "created_at": "2024-03-01T10:00:00.000Z", **more}


def claude_chat(*messages: dict[str, Any], **more: Any) -> ImportedChat:
    return claude.parse({"uuid": "c1", "chat_messages": list(messages), **more})


def test_claudes_messages_follow_each_other_and_keep_what_was_said() -> None:
    blocks = [
        {"type": "thinking", "thinking": "hmm"},
        {"type": "text", "text": "First."},
        {"type": "tool_use", "name": "x", "input": {}},
        {"type": "text", "text": "Second."},
    ]
    chat = claude_chat(
        said("m1", "human", "Read this", attachments=[{"file_name": "a.txt", "extracted_content": "…"}]),
        said("m2", "assistant", "flattened", content=blocks),
        said("m2", "assistant", "again"),
        said("m3", "human", " "),
        said("m4", "robot", "beep"),
        said("m5", "human", "Thanks", created_at="2024-03-01T11:00:00"),
        created_at="2024-03-01T09:59:00Z",
    )
    assert told(chat) == [
        ("m1", None, "user", "Read this\na.txt:\n```\n…\n```"),
        ("m2", "m1", "assistant", "First.\nSecond."),
        ("m5", "m2", "user", "Thanks"),
    ]
    assert chat.skipped == dict.fromkeys(
        ("a duplicate id", "empty", "of an unknown role", "thoughts", "of or to a tool"), 1
    )
    assert (chat.head, chat.naive, chat.at) == ("m5", 1, ms(2024, 3, 1, 9, 59))


def called(name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "name": name, "input": given}


def test_what_goes_along_with_claudes_messages_is_quoted_behind_their_words() -> None:
    blocks = [
        called("artifacts", command="create", id="r", title="Recipe", content="Boil ```it```."),
        {"type": "tool_result", "name": "artifacts", "content": [{"type": "text", "text": "OK"}]},
        {"type": "text", "text": "Here it is."},
        called("artifacts", command="update", id="r", old_str="Boil", new_str="Roast"),
        called("create_file", path="/mnt/outputs/jam.md", file_text="# Jam\n"),
        called("artifacts", command="create", id="e", title="Empty", content=7),
    ]
    pasted = [{"file_name": "", "extracted_content": "A long paste."}, {"file_name": "b.pdf", "extracted_content": ""}]
    chat = claude_chat(
        said("m1", "human", "Read this", attachments=pasted, files=[{"file_name": "c.png"}]),
        said("m2", "assistant", "This block is not supported.", content=blocks),
        said("m3", "assistant", "This block is not supported.", content=blocks[:1]),
    )
    assert [each.text for each in chat.messages] == [
        "Read this\npasted text:\n```\nA long paste.\n```\n[file: b.pdf]\n[file: c.png]",
        "Recipe:\n````\nBoil ```it```.\n````\nHere it is.\nRecipe, changed:\n```\nRoast\n```\njam.md:\n```\n# Jam\n```",
        "Recipe:\n````\nBoil ```it```.\n````",
    ]
    assert chat.skipped == {"of or to a tool": 2}


def test_claudes_parents_make_a_tree() -> None:
    root = "00000000-0000-4000-8000-000000000000"
    chat = claude_chat(
        said("q", "human", "Why?", parent_message_uuid=root),
        said("a1", "assistant", "One.", parent_message_uuid="q"),
        said("a2", "assistant", "Two.", parent_message_uuid="q"),
        said("other", "human", "Edited", parent_message_uuid=root),
        current_leaf_message_uuid="a1",
    )
    assert {each.key: each.parent for each in chat.messages} == {"q": None, "a1": "q", "a2": "q", "other": None}
    assert chat.head == "a1"


# -- LoCoMo -----------------------------------------------------------------------------------------------------------


def locomo_value(**more: Any) -> dict[str, Any]:
    return {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Ben",
            "session_2_date_time": "12:09 am on 13 September, 2023",
            "session_2": [{"speaker": "Ben", "dia_id": "D2:1", "text": "Back again."}],
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ana", "dia_id": "D1:1", "text": "Look!", "blip_caption": "a dog on a beach"},
                {"dia_id": "D1:2", "text": "Nice."},
                {"speaker": "Ana", "dia_id": "D1:2", "text": "twice"},
                {"speaker": "Ana", "dia_id": "D1:3", "text": ""},
            ],
            "session_10_date_time": "nonsense",
            "session_10": [{"speaker": "Ana", "text": "No id."}],
        },
        **more,
    }


def test_locomos_sessions_are_chats_of_persons_in_their_order_and_evidence_is_found_by_its_dia_id() -> None:
    value = locomo_value()
    chats = list(locomo.parse(value))
    assert [chat.id for chat in chats] == ["conv-1/session_1", "conv-1/session_2", "conv-1/session_10"]
    found = told(chats[0])
    assert found == [("D1:1", None, "user", "Look!\n[photo: a dog on a beach]"), ("D1:2", "D1:1", "user", "Nice.")]
    assert [each.speaker for each in chats[0].messages] == ["Ana", "you"]
    assert chats[0].skipped == {"a duplicate id": 1, "empty": 1}
    assert [chat.at for chat in chats] == [ms(2023, 5, 8, 13, 56), ms(2023, 9, 13, 0, 9), None]
    assert {chat.title for chat in chats} == {"Ana and Ben"}
    assert chats[2].times == (ms(2023, 9, 13, 0, 9), ms(2023, 5, 8, 13, 56))
    value["conversation"]["session_1"][0]["query"] = "labrador playing"  # a photo has the words it was found by
    assert told(next(iter(locomo.parse(value))))[0][3] == "Look!\n[photo: a dog on a beach (labrador playing)]"
    sources = locomo.sources_of(locomo_value())
    assert sources["D2:1"] == message_source(chats[1], chats[1].messages[0])
    assert set(sources) == {"D1:1", "D1:2", "D2:1", "0"}


# -- lines ------------------------------------------------------------------------------------------------------------


def parsed(*values: Any) -> tuple[list[ImportedChat], JsonLines]:
    reader = JsonLines()
    return list(reader.chats(ExportLine(number, value) for number, value in enumerate(values, 1))), reader


def test_lines_are_chats_by_session_and_go_on_where_the_session_was() -> None:
    chats, _ = parsed(
        {"role": "user", "text": "a1", "session": "a", "time": 1700000000, "title": "First"},
        {"role": "AI", "content": "a2", "session": "a"},
        {"speaker": "Ben", "text": "b1", "session": "b", "time": "2024-01-01 10:00"},
        {"role": "user", "text": "a3", "session": "a"},
    )
    found = [(chat.id, chat.continues, [each.text for each in chat.messages]) for chat in chats]
    assert found == [("a", False, ["a1", "a2"]), ("b", False, ["b1"]), ("a", True, ["a3"])]
    assert chats[2].messages[0].parent == chats[0].messages[1].key
    seen = [(each.role, each.speaker) for chat in chats[:2] for each in chat.messages]
    assert seen == [(Role.USER, "you"), (Role.ASSISTANT, "assistant"), (Role.USER, "Ben")]
    assert (chats[0].title, chats[1].naive) == ("First", 1)


def test_bad_lines_are_named_and_the_others_are_read() -> None:
    values = [{"role": "user"}, "words", {"role": "user", "text": 5}, {"role": "user", "text": {"x": 1}}] + [None] * 4
    chats, reader = parsed(*values, {"role": "tool", "text": "x"}, {"role": "user", "text": "good"})
    assert [each.text for chat in chats for each in chat.messages] == ["5", "good"]
    assert reader.bad_count == 7
    assert [number for number, _ in reader.bad] == [1, 2, 4, 5, 6]
    assert [why for _, why in reader.bad][:4] == [
        "it has no text",
        "not an object with role and text but a text",
        "text is not text but an object",
        "not an object with role and text but null",
    ]
    assert chats[0].skipped == {"of or to a tool": 1}


def test_a_mended_line_does_not_change_the_keys_of_the_others() -> None:
    good = {"role": "user", "text": "two"}
    broken, _ = parsed("broken", good)
    mended, _ = parsed({"role": "user", "text": "one"}, good)
    assert broken[0].messages[0].key == mended[0].messages[1].key


# -- times, names, keys -----------------------------------------------------------------------------------------------


TIMES: list[tuple[object, int, bool]] = [  # as written, in milliseconds, and whether it has no zone
    (1700000000, 1700000000000, False),
    (1700000000.5, 1700000000500, False),
    (1700000000000, 1700000000000, False),
    ("1700000000", 1700000000000, False),
    ("2024-03-01T10:00:00Z", ms(2024, 3, 1, 10), False),
    ("2024-03-01T10:00:00.123456+02:00", ms(2024, 3, 1, 8) + 123, False),
    ("2024-03-01 10:00:00 UTC", ms(2024, 3, 1, 10), False),
    ("2024-03-01", ms(2024, 3, 1), True),
    ("20240301", ms(2024, 3, 1), True),
    ("12:00 pm on 1 March, 2024", ms(2024, 3, 1, 12), True),
]
NO_TIMES: tuple[object, ...] = (
    *(None, True, 0, -5, float("nan"), float("inf"), 1e30, 10**400, "9" * 400, "", "soon", []),
    *("31:99 pm on 8 May, 2023", "9:00 am on 31 June, 2023"),
)


def test_a_time_is_read_however_it_is_written_and_what_is_none_is_none() -> None:
    for value, at, naive in TIMES:
        assert moment(value) == (at, naive), value
    for value in NO_TIMES:
        assert moment(value) is None, value


def test_a_name_is_one_clean_short_line() -> None:
    assert name(" two\n lines\x1b[31m \ud800 ") == "two lines [31m \N{REPLACEMENT CHARACTER}"
    assert (name(""), name(5), name("\n")) == (None, None, None)
    assert len(name("x" * 500) or "") == 120


def test_a_source_key_tells_nothing_of_the_text_and_tells_messages_apart() -> None:
    one, other = (chatgpt.parse(tree(node("q", None, "user", text))) for text in ("secret", "another"))
    assert message_source(one, one.messages[0]) == message_source(other, other.messages[0])
    chats = list(locomo.parse(locomo_value()))
    keys = [message_source(chat, each) for chat in chats for each in chat.messages]
    keys += [message_source(chats[0], chats[0].messages[0], 2), message_source(chats[0], chats[0].messages[0], same=2)]
    keys += [chat_source(chat) for chat in chats] + [chat_source(chats[0], 2)]
    assert len(set(keys)) == len(keys)
