"""Files as they come: broken, empty, huge, zipped, in another encoding; and what format each is."""

import json
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import ExportMissing, ExportUnreadable
from agent.importing import reading
from agent.importing.formats import clew_export, open_export
from agent.importing.reading import ExportSource, document, lines
from tests.tables import each

CHATGPT = {
    "conversation_id": "c",
    "mapping": {"q": {"message": {"id": "q", "author": {"role": "user"}, "content": {"parts": ["hi"]}}}},
}
CLAUDE = {"uuid": "c", "chat_messages": [{"uuid": "m", "sender": "human", "text": "hi"}]}
LOCOMO = {"sample_id": "s", "conversation": {"session_1": [{"dia_id": "D1:1", "speaker": "Ana", "text": "hi"}]}}
LINE = {"role": "user", "text": "hi"}
LONG_NUMBER = r"line 1, column 2: A number with too many digits\. Nothing"


def table(part: str) -> dict[str, str]:
    """A part of exports.toml."""
    found: dict[str, str] = tomllib.loads(Path(__file__).with_name("exports.toml").read_text(encoding="utf-8"))[part]
    return found


def write(folder: Path, value: Any, name: str = "x.json") -> Path:
    path = folder / name
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def test_the_content_tells_the_format(tmp_path: Path) -> None:
    line = json.dumps(LINE)

    def check(row: tuple[Any, str]) -> None:
        export = open_export(write(tmp_path, row[0]))
        assert export.format == row[1]
        texts = [message.text for chat in export.chats() for message in chat.messages]
        assert set(texts) == {"hi"}
        assert export.total == len(texts)

    each([(content, "ChatGPT's export") for content in ([CHATGPT], CHATGPT)], check)
    each([(content, "Claude's export") for content in ([CLAUDE], "\ufeff" + json.dumps([CLAUDE]))], check)
    of_locomo = ([LOCOMO], json.dumps(LOCOMO, indent=2), LOCOMO["conversation"])
    each([(content, "LoCoMo") for content in of_locomo], check)
    of_lines = (line, f"\n{line}\r\n{{broken\n{line}", f"{{broken\n{line}", f"\ufeff{line}")
    each([(content, "JSON Lines") for content in of_lines], check)
    each([([LINE], "a JSON array of messages")], check)


def test_what_is_no_export_is_named_with_what_would_be(tmp_path: Path) -> None:
    def check(row: tuple[str, str]) -> None:
        with pytest.raises(ExportUnreadable) as caught:
            open_export(write(tmp_path, row[0]))
        assert row[1] in str(caught.value)
        assert "Nothing was imported." in str(caught.value)
        assert row[1] == "is empty" or "clew reads its own exports, ChatGPT" in str(caught.value)

    each(table("no_export").items(), check)


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(ExportMissing, match=r"not found: .*gone\.json"):
        open_export(tmp_path / "gone.json")
    write(tmp_path, [CLAUDE], "conversations.json")
    with pytest.raises(ExportUnreadable, match=r"is a folder.*conversations\.json"):
        open_export(tmp_path)


def test_a_broken_document_says_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def check(row: tuple[str, str]) -> None:
        with pytest.raises(ExportUnreadable, match=row[1]):
            list(document(ExportSource(write(tmp_path, row[0]))))

    each([("[" + "[" * 200_000, "nested too deeply"), ('[{"a": ' + "9" * 5000 + "}]", LONG_NUMBER)], check)
    for piece in (1, 7, reading.PIECE):
        monkeypatch.setattr(reading, "PIECE", piece)
        each(table("broken").items(), check)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=10,
)


@given(values=st.lists(st.dictionaries(st.text(max_size=5), JSON, max_size=4), max_size=8), piece=st.integers(1, 40))
def test_a_document_comes_out_as_it_is_whatever_pieces_it_is_read_in(
    tmp_path_factory: pytest.TempPathFactory, values: list[dict[str, Any]], piece: int
) -> None:
    folder = tmp_path_factory.mktemp("json")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "PIECE", piece)
        for text in (json.dumps(values, indent=1), json.dumps(values, ensure_ascii=False, separators=("\n,\t", ": "))):
            assert list(document(ExportSource(write(folder, text)))) == json.loads(text)


def test_memory_holds_one_value_at_a_time_and_not_the_file(tmp_path: Path) -> None:
    import tracemalloc

    path = tmp_path / "big.json"
    with path.open("w") as file:
        file.write("[" + ",".join(json.dumps({"chat_messages": [], "pad": "x" * 100_000}) for _ in range(300)) + "]")
    tracemalloc.start()
    count = sum(1 for _ in document(ExportSource(path)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (count, path.stat().st_size > 30_000_000) == (300, True)
    assert peak < 12_000_000


@pytest.mark.parametrize("unit", ["0,", "[],"])
def test_a_small_zip_that_unpacks_to_endless_values_is_refused_before_they_are_made(tmp_path: Path, unit: str) -> None:
    import tracemalloc

    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", f'[{{"mapping": [{unit * 1_200_000}0]}}]')
    assert path.stat().st_size < 30_000
    tracemalloc.start()
    with pytest.raises(ExportUnreadable, match=r"More than 1,000,000 values in one\. Nothing was imported"):
        list(document(reading.sources(path)[0]))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150_000_000


def test_lines_are_good_or_bad_each_for_itself(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\n\n{"a"\n\xff\xfe\n[' + b"[" * 100_000 + b"\n7\r\n" + b"9" * 5000)
    found = list(lines(ExportSource(path)))
    assert [(line.number, line.value) for line in found if line.error is None] == [(1, {"a": 1}), (6, 7)]
    told = [(line.number, line.error and line.error[:9]) for line in found if line.error is not None]
    assert told == [(3, "Expecting"), (4, "Expecting"), (5, "Values ne"), (7, "A number ")]


def test_a_byte_that_is_no_utf8_costs_its_letter_and_utf16_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    for data, last in (
        ('[{"a": "ä"}]'.encode("latin-1"), "\ufffd"),
        (b"[" + b'{"a": "x"},' * 200_000 + b'{"a": "\xff"}]', "\ufffd"),
        (b"\xef\xbb\xbf" + '[{"a": "ä"}]'.encode(), "ä"),
    ):
        path.write_bytes(data)
        assert list(document(ExportSource(path)))[-1] == {"a": last}
    path.write_bytes('[{"a": 1}]'.encode("utf-16"))
    with pytest.raises(ExportUnreadable, match="UTF-16"):
        list(document(ExportSource(path)))


def zipped(path: Path, **members: str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), text)
    return path


def test_the_conversations_in_an_exports_zip_are_found_also_in_several_files(tmp_path: Path) -> None:
    one, two = json.dumps([CHATGPT]), json.dumps([{**CHATGPT, "conversation_id": "d"}])
    path = zipped(tmp_path / "x.zip", user_dot_json="{}", export__conversations_dot_json=one)
    assert [chat.id for chat in open_export(path).chats()] == ["c"]
    names = {"conversations-000_dot_json": one, "conversations-001_dot_json": two}
    path = zipped(tmp_path / "y.zip", **names)
    assert [chat.id for chat in open_export(path).chats()] == ["c", "d"]


@pytest.mark.parametrize("packed", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_a_zip_that_is_packed_otherwise_than_exports_are_is_refused(tmp_path: Path, packed: int) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", packed) as archive:
        archive.writestr("conversations.json", "[]")
    with pytest.raises(ExportUnreadable, match=r"Unpack it, and import what is in it"):
        open_export(path)


def test_a_zip_without_conversations_or_a_damaged_one_says_so(tmp_path: Path) -> None:
    with pytest.raises(ExportUnreadable, match=r"no conversations\.json in it, but photo\.png"):
        open_export(zipped(tmp_path / "x.zip", photo_dot_png=""))
    chats = json.dumps([{**CLAUDE, "uuid": n} for n in range(999)])
    path = zipped(tmp_path / "y.zip", conversations_dot_json=chats)
    data = bytearray(path.read_bytes())
    path.write_bytes(data[:90])
    with pytest.raises(ExportUnreadable, match=r"y\.zip"):
        open_export(path)
    data[60:80] = b"\xff" * 20
    path.write_bytes(data)
    with pytest.raises(ExportUnreadable, match=r"y\.zip:conversations\.json is damaged.*Download it again"):
        open_export(path)


def test_a_chat_that_is_not_as_it_should_be_is_counted_and_the_others_are_read(tmp_path: Path) -> None:
    odd = {"uuid": "x", "chat_messages": {"text": "no list of them"}}
    chats = list(open_export(write(tmp_path, [CLAUDE, odd, CLAUDE])).chats())
    assert [len(chat.messages) for chat in chats] == [1, 0, 1]
    assert chats[1].skipped == {"in a chat that was not understood": 1}


def test_a_packed_export_of_clews_that_unpacks_without_an_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.importing.clew.MOST_UNPACKED", 1 << 12)
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "export.jsonl", json.dumps({"clew": "export", "format": 1, "log": "x", "events": 1}) + "\n" * (1 << 16)
        )
    export = clew_export(path)
    assert export is not None
    with pytest.raises(ExportUnreadable, match="Unpack it first"):
        list(export.batches())
