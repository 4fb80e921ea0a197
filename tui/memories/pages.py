"""The pages of core blocks, of documents, and of what matters: each a list, and what can be done with it."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from graph.values import CoreBlock, Document, Turn
from tui.keymaps import BARS, BLOCKS, DOCUMENTS, TURNS, UNDO, Sign, bindings, signs
from tui.memories.host import LEFT, NO_BLOCKS, NO_DOCUMENTS, NOTHING_RATED
from tui.reasons import who
from tui.text import MUTED, cut, one_line, plain, size_of, when
from tui.widgets.long_list import LongList

if TYPE_CHECKING:
    from tui.memories.host import Host


TOLD = "Included in every prompt from the next message on. Leave it empty to remove the block."
OF_PROJECT = "Included in every prompt of the project {} from the next message on. Leave it empty to remove the block."


class Blocks(Vertical):
    """The names at the left, the text of the chosen one at the right."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(BLOCKS)
    signs = signs((*BLOCKS, UNDO))

    def __init__(self, host: "Host") -> None:
        super().__init__(id="blocks", classes="memories-page")
        self._host = host

    def compose(self) -> ComposeResult:
        with Horizontal(classes="memories-body"):
            yield LongList[CoreBlock](_blocks_row, lambda block: block.name, classes="memories-list")
            with VerticalScroll(classes="memories-detail", can_focus=False):
                yield Static("", markup=False)

    @property
    def rows(self) -> LongList[CoreBlock]:
        return self.query_one(LongList)

    @property
    def count(self) -> str:
        return f"{len(self.rows.items)}"

    async def refresh_page(self, *, choose: str | None = None) -> None:
        """Read them again."""
        blocks = await self._host.view.blocks()
        follow = self._host.doing.follow
        self.rows.fill(blocks, choose=choose or next((each.name for each in blocks if each.name == follow), None))
        self.rows.set_class(not blocks, "-empty")  # its keys stay
        self._moved()

    @on(LongList.Moved)
    def _moved(self) -> None:
        block = self.rows.chosen
        words = plain(NO_BLOCKS, MUTED)
        if block is not None:
            by = "written by you" if block.by == "user" else "written by clew, with your permission"
            by += f" · project {one_line(block.project)}" if block.project is not None else ""
            words = Content.assemble(
                plain(one_line(block.name), "bold $secondary"), plain(f"  {by}\n\n", MUTED), plain(block.text)
            )
        self.query_one(".memories-detail Static", Static).update(words)

    @on(LongList.Chosen)
    def _open(self) -> None:
        self.action_do("edit")

    def action_do(self, what: str) -> None:
        block = self.rows.chosen
        if what == "new":
            self._host.do(self.write(""))
        elif block is not None:
            self._host.do(self.write(block.name) if what == "edit" else self._remove(block))

    async def write(self, name: str) -> str | None:
        """Write a block anew, or another one whose name is asked for."""
        if not name:
            asked = await self._host.ask_line(
                "Name of the new block", placeholder="persona, human, scratchpad …", yes="next"
            )
            if asked is None:
                return None
            name = asked
        before = next((block for block in self.rows.items if block.name == name), None)
        project = self._host.view.project
        told = TOLD if project is None else OF_PROJECT.format(one_line(project)[:40])
        text = await self._host.ask_text(
            f"Core block: {one_line(name)[:40]}", before.text if before else "", words=told
        )
        if text is None or text.strip() == (before.text if before else "").strip():
            return None if text is None else "Nothing was changed."
        if not await self._host.keeps():
            return LEFT
        told = await self._host.doing.write_block(name, text, before)
        await self.refresh_page(choose=name)
        return told

    async def _remove(self, block: CoreBlock) -> str | None:
        words = f"{one_line(block.text)[:300]}\n\nIt is no longer included from the next message on. Press u to undo."
        if not await self._host.confirm(f"Remove the block “{one_line(block.name)}”?", words, yes="remove"):
            return None
        return await self._host.doing.write_block(block.name, "", block)


def _blocks_row(block: CoreBlock, width: int) -> Sequence[Content]:
    return [plain(one_line(block.name), "bold"), plain(one_line(block.text[: 4 * width]), MUTED)]


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
            yield LongList[Document](_documents_row, lambda document: document.id, classes="memories-list")
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


def _documents_row(document: Document, width: int) -> Sequence[Content]:
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


NAMES = ("routine", "notable", "significant", "pivotal")
EIGHTHS = " ▏▎▍▌▋▊▉█"
MOST = 500  # turns of a bar
HEAD = 14  # cells before a bar, and behind it for its count
Bar = tuple[int, int]  # significance, turns


class RatingBars(LongList[Bar]):
    """The four bars; Enter or → leads to their turns."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(BARS)


class Turns(LongList[Turn]):
    """The turns of a bar. Here the digits rate, so they choose no page."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(TURNS)

    class Asked(Message):
        """`significance` for the marked turns; None: back to the bars."""

        def __init__(self, significance: int | None) -> None:
            super().__init__()
            self.significance = significance

    def action_rate(self, significance: int) -> None:
        self.post_message(self.Asked(significance).set_sender(self))

    def action_back(self) -> None:
        self.post_message(self.Asked(None).set_sender(self))

    def action_mark(self) -> None:
        self.toggle_mark()

    def action_mark_all(self) -> None:
        self.mark_all()


class Ratings(Vertical):
    """Bars above, turns below; what has the keys is told by its mark."""

    def __init__(self, host: "Host") -> None:
        super().__init__(id="ratings", classes="memories-page")
        self._host = host
        self._most = 1

    def compose(self) -> ComposeResult:
        yield RatingBars(self._bar, lambda bar: f"{bar[0]}", height=1, id="bars")
        yield Static("", classes="memories-note", markup=False)
        yield Turns(_turn_row, lambda turn: turn.id, id="bar-turns", ticks=True)

    @property
    def rows(self) -> RatingBars:
        return self.query_one(RatingBars)

    @property
    def turns(self) -> Turns:
        return self.query_one(Turns)

    @property
    def count(self) -> str:
        return ""

    @property
    def signs(self) -> tuple[Sign, ...]:
        return signs((*(TURNS if self.turns.has_focus else BARS), UNDO))

    def _bar(self, bar: Bar, width: int) -> Sequence[Content]:
        significance, count = bar
        room = max(1, width - HEAD - 9)
        eighths = max(1, round(8 * room * count / self._most)) if count else 0
        drawn = EIGHTHS[8] * (eighths // 8) + EIGHTHS[eighths % 8].strip()
        style = ("$foreground 40%", "$secondary", "$accent", "$primary")[significance]
        name = plain(f"{NAMES[significance]:<12}")
        return [Content.assemble(f"{significance} ", name, plain(drawn, style), plain(f" {count:,}", MUTED))]

    async def refresh_page(self, *, choose: str | None = None) -> None:
        """Read the numbers and the turns of the chosen bar again."""
        counts = await self._host.view.significance()
        self._most = max(1, *(counts.get(each, 0) for each in range(4)))
        self.rows.fill([(each, counts.get(each, 0)) for each in range(4)], choose=choose)
        await self._fill_turns()
        if not sum(counts.values()):
            self._tell(NOTHING_RATED)

    async def _fill_turns(self) -> None:
        bar = self.rows.chosen
        if bar is None:
            return
        turns = await self._host.view.rated(bar[0], limit=MOST)
        self.turns.fill(turns)
        more = f", the newest {MOST} of them" if bar[1] > len(turns) >= MOST else ""
        pins = " The newest 8 of each speaker are pinned automatically." if bar[0] == 3 else ""
        self._tell(f"Rated {bar[0]}, {NAMES[bar[0]]}: {bar[1]:,}{more}.{pins}")
        if not turns and self.turns.has_focus:
            self.rows.focus()

    def _tell(self, words: str) -> None:
        self.query_one(".memories-note", Static).update(plain(words, MUTED))

    @on(LongList.Moved, "#bars")
    def _moved(self) -> None:
        self.turns.marks.clear()
        self.turns.choose(0)
        self._host.refresh_soon()

    @on(LongList.Chosen, "#bars")
    def _to_turns(self) -> None:
        if self.turns.items:
            self.turns.focus()
        else:
            self._host.say("No messages have this rating.")

    @on(LongList.Chosen, "#bar-turns")
    def _open(self) -> None:
        turn = self.turns.chosen
        if turn is not None:
            self._host.go_to(turn.session, turn.id)

    @on(Turns.Asked)
    def _asked(self, event: Turns.Asked) -> None:
        if event.significance is None:
            self.rows.focus()
        else:
            self.rate(event.significance)

    def rate(self, significance: int) -> None:
        """Rate the marked turns, or the chosen one."""
        bar, turns = self.rows.chosen, self.turns.marked
        if bar is None or not turns:
            return
        if significance == bar[0]:
            self._host.say("They already have this rating." if len(turns) > 1 else "It already has this rating.")
            return
        self._host.do(self._host.doing.rate(turns, significance, bar[0]))


def _turn_row(turn: Turn, width: int) -> Sequence[Content]:
    now = datetime.now().astimezone()
    text = "erased" if turn.text is None else one_line(turn.text[: 4 * width])
    pin = "◆ " if turn.pinned else ""
    return [
        Content.assemble(plain(pin, "$primary"), plain(text)),
        plain(f"{when(turn.at, now)} · {who(turn.role, turn.speaker)}", MUTED),
    ]
