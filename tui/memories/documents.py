"""The page of the documents: what was read in, when and from where; `x` lets one go, after asking."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from graph.beliefs import Document
from tui.dates import when
from tui.keymaps import DOCUMENTS
from tui.keys import bindings, signs
from tui.memories.host import NO_DOCUMENTS
from tui.text import MUTED, cut, one_line, plain, size_of
from tui.widgets.long_list import LongList

if TYPE_CHECKING:
    from tui.memories.host import Host

REMOVE_WORDS = "You can add it again later."
MOST_READ = 400_000  # characters of a document on its page


class DocumentsPage(Vertical):
    """The documents at the left, the chosen one's particulars at the right."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(DOCUMENTS)
    signs = signs(DOCUMENTS)

    def __init__(self, host: "Host") -> None:
        super().__init__(id="documents", classes="memories-page")
        self._host = host

    def compose(self) -> ComposeResult:
        with Horizontal(classes="memories-body"):
            yield LongList[Document](_row, lambda document: document.id, classes="memories-list")
            with VerticalScroll(classes="memories-detail", can_focus=False):
                yield Static("", markup=False)

    @property
    def rows(self) -> LongList[Document]:
        return self.query_one(LongList)

    @property
    def count(self) -> str:
        return f"{len(self.rows.items):,}"

    async def refresh_page(self, *, choose: str | None = None) -> None:
        """Read them again."""
        documents = await self._host.view.documents()
        self.rows.fill(documents, choose=choose)
        self.rows.set_class(not documents, "-empty")  # its keys stay
        self._moved()

    @on(LongList.Moved)
    def _moved(self) -> None:
        document = self.rows.chosen
        words = plain(NO_DOCUMENTS, MUTED) if document is None else _particulars(document)
        self.query_one(".memories-detail Static", Static).update(words)

    @on(LongList.Chosen)
    def _open(self) -> None:
        self.action_do("read")

    def action_ego(self) -> None:
        if self.rows.chosen is not None:
            self._host.walk_from("Document", self.rows.chosen.id)

    def action_do(self, what: str) -> None:
        document = self.rows.chosen
        if what == "ingest":
            self._host.do(self._ingest())
        elif document is not None:
            self._host.do(self._remove(document) if what == "remove" else self._read(document), reads=what == "read")

    async def _ingest(self) -> None:
        path = await self._host.ask_line("Add a file or folder", placeholder="~/notes", yes="add")
        if path is not None and await self._host.keeps():
            self._host.ingest(path)

    async def _read(self, document: Document) -> None:
        chunks = await self._host.view.chunks(document.id)
        whole = "\n\n".join("\n".join((*chunk.headings[-1:], chunk.text)) for chunk in chunks)
        more = "\n\n… see the file for the rest" if len(whole) > MOST_READ else ""
        self._host.read(cut(document.title, 80), whole[:MOST_READ] + more)

    async def _remove(self, document: Document) -> str | None:
        title = f"Delete “{cut(document.title, 60)}” permanently?"
        service = self._host.service
        plan = lambda: service.plans.remove_document(document.id)  # noqa: E731
        if not await self._host.agree(title, plan, yes="delete permanently", words=REMOVE_WORDS):
            return None
        return "Document deleted from the memory."


def _pieces(document: Document) -> str:
    if not document.chunks:
        return "not in use"  # taken out, or not read to its end
    return f"{document.chunks:,} {'passage' if document.chunks == 1 else 'passages'}"


def _row(document: Document, width: int) -> Sequence[Content]:
    read = when(document.at, datetime.now().astimezone())
    return [plain(one_line(document.title)), plain(f"{document.type} · {_pieces(document)} · read {read}", MUTED)]


def _particulars(document: Document) -> Content:
    facts = [
        ("file", one_line(document.path)),
        ("type", f"{document.type}, {size_of(document.size)}, {_pieces(document)}"),
        ("read", f"{document.at.astimezone():%Y-%m-%d %H:%M}"),
        ("project", one_line(document.project or "")),
        ("tags", one_line(", ".join(document.tags))),
    ]
    lines = [Content.assemble(plain(f"{name:<9}", MUTED), plain(value)) for name, value in facts if value]
    return Content("\n").join([plain(one_line(document.title), "bold"), Content(""), *lines])
