"""Which files are documents, and what is said of those that cannot be read."""

import io
from pathlib import Path

import pytest
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from agent.errors import DocumentMissing, DocumentUnreadable
from agent.ingesting.files import find, locate, read


def pdf(text: str | None, *, password: str | None = None, about: dict[str, str] | None = None) -> bytes:
    """A PDF of one page."""
    writer = PdfWriter()
    page = writer.add_blank_page(200, 200)
    if text is not None:
        font = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
        fonts = DictionaryObject(
            {NameObject("/F1"): DictionaryObject({NameObject(k): NameObject(v) for k, v in font.items()})}
        )
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 10 100 Td ({text}) Tj ET".encode())
        page[NameObject("/Contents")] = writer._add_object(stream)
    writer.add_metadata(about or {})
    if password is not None:
        writer.encrypt(password, algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


READ = {
    "a title from the heading": (
        "notes.md",
        b"# Tides\n\nTwice a day.\n",
        {"kind": "markdown", "title": "Tides"},
    ),
    "the words of a PDF under their page": ("tides.pdf", pdf("Twice a day"), {"kind": "pdf"}),
    "the ligatures of a PDF as letters": ("office.pdf", pdf(r"o\256ce, \257ow"), {"kind": "pdf"}),
    "UTF-16 and the line ends of Windows": ("notes.txt", "one\r\n\r\ntwo".encode("utf-16"), {}),
    "the western code pages": ("latin.txt", "Größe: 3 €\r\n".encode("cp1252"), {"guessed": True}),
    "one bad byte of UTF-8": ("faulty.txt", "größe, süß".encode() + b"\xff", {"guessed": True}),
    "UTF-8 with its mark": ("marked.txt", b"\xef\xbb\xbf" + "größe".encode(), {"guessed": False}),
}
WORDS = (
    "Tides\nTwice a day.",
    "page 1\nTwice a day",
    "page 1\nofice, flow",
    "one\n\ntwo",
    "Größe: 3 €",
    "größe, süß\ufffd",
    "größe",
)


@pytest.mark.process
@pytest.mark.parametrize(("file", "words"), zip(READ.values(), WORDS, strict=True), ids=READ)
def test_what_a_file_says_is_read(tmp_path: Path, file: tuple[str, bytes, dict[str, object]], words: str) -> None:
    name, data, about = file
    (tmp_path / name).write_bytes(data)
    reading = read(tmp_path / name)
    assert reading.pieces[0].text == words
    assert {key: getattr(reading, key) for key in about} == about


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        pytest.param("scan.pdf", pdf(None), "only images of text", marks=pytest.mark.process),
        pytest.param("locked.pdf", pdf("secret", password="x"), "encrypted", marks=pytest.mark.process),
        pytest.param("broken.pdf", b"%PDF-1.7 and then nothing", "damaged or not a PDF", marks=pytest.mark.process),
        ("picture.pdf", b"\x89PNG....", "damaged or not a PDF"),
        ("binary.md", b"\x7fELF\x02\x00\x00\xff", "a binary file, not text"),
        ("zeros.md", b"abc\0def", "a binary file, not text"),
        ("control.txt", b"gr\xf6\xdfe\x02", "is not a text file"),
        ("empty.md", b"", "contains no text"),
        ("blank.md", b" \n\n\t\n", "contains no text"),
    ],
)
def test_what_is_no_document_is_refused_with_why(tmp_path: Path, name: str, data: bytes, why: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(DocumentUnreadable) as refused:
        read(path)
    assert why in str(refused.value)
    assert "It was not added" in str(refused.value)


def test_a_file_that_is_not_there_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(DocumentMissing):
        read(tmp_path / "nowhere.md")


def test_a_file_of_100_mb_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "huge.log"
    with path.open("wb") as file:
        file.truncate(100 << 20)
    with pytest.raises(DocumentUnreadable, match="100 MB, more than the 32 MB"):
        read(path)


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "growing.txt"
    path.write_text("one\n")
    opened = Path.open

    def open_and_grow(self: Path, mode: str = "r") -> object:
        with opened(self, "ab") as file:
            file.write(b"more\n")
        return opened(self, mode)

    monkeypatch.setattr(Path, "open", open_and_grow)
    with pytest.raises(DocumentUnreadable, match="changing while it is being read"):
        read(path)


def test_a_folder_gives_its_documents_once_and_no_loop_is_walked(tmp_path: Path) -> None:
    (tmp_path / "a" / "node_modules").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    for name in [
        "a/notes.md",
        "a/main.py",
        "a/photo.png",
        "a/data.json",
        "a/node_modules/x.js",
        ".git/y.md",
        "a/.hidden.md",
    ]:
        (tmp_path / name).write_text("words")
    (tmp_path / "a" / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "again.md").symlink_to(tmp_path / "a" / "notes.md")
    (tmp_path / "dead.md").symlink_to(tmp_path / "nowhere")
    found = find(tmp_path)
    names = [[path.relative_to(tmp_path.resolve()).as_posix() for path in each] for each in (found.files, found.others)]
    assert names == [["a/data.json", "a/main.py", "a/notes.md"], ["a/photo.png"]]
    assert found.unreadable == []


def test_no_link_of_a_folder_leads_to_what_is_not_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "of a stranger"
    (folder / ".git").mkdir(parents=True)
    for path in (tmp_path / "id_rsa", folder / ".git" / "token", folder / "notes.md"):
        path.write_text(f"the words of {path.name}")
    (folder / "readme.md").symlink_to("../id_rsa")
    (folder / "whole.md").symlink_to(tmp_path / "id_rsa")
    (folder / "further.md").symlink_to("readme.md")
    (folder / "hidden.md").symlink_to(".git/token")
    found = find(folder)
    assert [path.name for path in found.files] == ["notes.md"]
    assert [path.name for path, _ in found.unreadable] == ["further.md", "readme.md", "whole.md"]
    assert all("leads out of the folder" in why and "id_rsa" in why for _, why in found.unreadable)


@pytest.mark.parametrize("path", ["~nobody-of-this-name/a.md", "a\0b.md", "loop.md", "x" * 5000, "notes.md/a.md"])
def test_a_path_that_is_none_is_refused_with_why(tmp_path: Path, path: str) -> None:
    (tmp_path / "loop.md").symlink_to(tmp_path / "loop.md")
    (tmp_path / "notes.md").write_text("words")
    with pytest.raises(DocumentUnreadable, match=r"Nothing was changed|It was not added"):
        locate(Path(path) if path.startswith("~") else tmp_path / path)
