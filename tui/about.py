"""The page of /about: relationships, what is believed and what was, when, and the words, of one name."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.content import Content

from tui.chat_view import NOT_YET, ChatView
from tui.keymaps import ABOUT, READER, KeyRow, bindings
from tui.node_links import walk_from
from tui.parts import Parts
from tui.reasons import who
from tui.relationships import day_of, related
from tui.text import MUTED, counted, cut, one_line, plain, spaced, when
from tui.widgets.dialogs import AskLine, Reader
from tui.widgets.foot import row
from tui.widgets.pages import Pages, PageText

if TYPE_CHECKING:
    from agent.dossier import Dossier, Moment
    from graph.values import Observation, Turn

KEYS = (*ABOUT, *READER)
LONGEST = 200
NAMES, DATES = 14, 18  # cells before what is said
MOST_MOMENTS = 40


class AboutPage(Reader):
    """The page; `g` leads to whom it is about in the graph."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(ABOUT)
    KEYS: ClassVar[tuple[KeyRow, ...]] = KEYS

    def __init__(self, view: ChatView, asked: str, found: "Dossier") -> None:
        super().__init__(f"About {one_line(found.words.name)}", about_content(found, view.page_width))
        self._view, self._asked, self._found = view, asked, found

    def action_ego(self) -> None:
        words = self._found.words
        walk_from(self._view, "Project" if words.kind == "project" else "Entity", words.name)

    def refresh_soon(self) -> None:
        """Something was learned, changed or deleted: it is read again."""
        self.run_worker(self._again(), group="again", exclusive=True)

    async def _again(self) -> None:
        try:
            found = await read(self._view, self._asked)
        except self._view.failures:
            return  # what is shown stays until it can be read again
        if found is not None and found != self._found:
            self._found = found
            self.query_one(Pages).tell(PageText(about_content(found, self._view.page_width)))


def about_content(found: "Dossier", width: int) -> Content:
    """The page, `width` cells wide inside."""
    if found.empty:
        return plain(f"Nothing in the memory mentions {one_line(found.words.name)}.")
    now = datetime.now().astimezone()
    lines: list[Content] = []
    for title, over in (("Relationships", False), ("Over", True)):
        told = [each for each in found.relationships if _is_over(each) is over]
        lines += _section(title, [_related(each, now) for each in told])
    lines += _section("Believed now", [_belief(each, now) for each in found.believed])
    lines += _section("Believed before", [_was(*each, now) for each in found.was])
    lines += _section("Timeline", list(_timeline(found.timeline, width, now)))
    lines += _section("Wrote in", [plain(f"{when(each.at, now)} · {one_line(each.address)}") for each in found.wrote])
    said = [line for turn in found.words.turns for line in _message(turn, now)]
    lines += _section("Messages", [*_counts(found, width, now), *said])
    return Content("\n").join(lines[1:])


def _section(title: str, lines: Sequence[Content]) -> list[Content]:
    return [Content(""), plain(title, "bold $secondary"), *lines] if lines else []


def _counts(found: "Dossier", width: int, now: datetime) -> Iterator[Content]:
    words = found.words
    yield row("said", _messages(words.said), width, NAMES)
    yield row("mentioned", f"mentioned in {_messages(words.mentioned)} by others", width, NAMES)
    yield row("", "the graph (g) counts only the messages linked to the name", width, NAMES)
    if words.first_at is not None and words.last_at is not None:
        yield row("from", f"{when(words.first_at, now)} to {when(words.last_at, now)}", width, NAMES)
    for _, name, count in words.sessions:
        yield row("in", f"{one_line(name or 'New chat')} ({spaced(count)})", width, NAMES)


def _messages(count: int) -> str:
    return f"{spaced(count)} {'message' if count == 1 else 'messages'}"


def _is_over(memory: "Observation") -> bool:
    return memory.relationship is not None and memory.relationship.until is not None


def _related(memory: "Observation", now: datetime) -> Content:
    assert memory.relationship is not None
    told = plain(related(memory.relationship, now), MUTED if _is_over(memory) else "")
    facts = plain(f", {counted(memory.proof_count, 'proof')}, {when(memory.said_at, now)}", MUTED)
    return Content.assemble(told, facts, *_later(memory, now))


def _belief(belief: "Observation", now: datetime) -> Content:
    mark = "? " if belief.status == "candidate" else "· "
    return Content.assemble(
        plain(f"{mark}{cut(belief.text or 'erased', LONGEST)}"),
        plain(f"  {belief.kind}, {when(belief.said_at, now)}", MUTED),
        *_later(belief, now),
    )


def _later(memory: "Observation", now: datetime) -> Iterator[Content]:
    """What was said since on its topic, below it."""
    for each in memory.later[:1]:
        yield plain(f"\n    {when(each.at, now)}, later: {cut(each.text, LONGEST)}", "$warning")


def _was(belief: "Observation", instead: "Observation | None", now: datetime) -> Content:
    """What is believed no more is never told without what came instead."""
    told = plain(f"· {cut(belief.text or 'erased', LONGEST)}  {when(belief.said_at, now)}", MUTED)
    if instead is None or instead.text is None:
        return told + plain("  not true" if belief.status == "invalid" else "  superseded", MUTED)
    return told + Content(" → ") + plain(cut(instead.text, LONGEST))


def _timeline(moments: "Sequence[Moment]", width: int, now: datetime) -> Iterator[Content]:
    if len(moments) > MOST_MOMENTS:
        yield plain(f"… {spaced(len(moments) - MOST_MOMENTS)} earlier", f"italic {MUTED}")
    for each in moments[-MOST_MOMENTS:]:
        what = cut(each.what or "erased", max(20, width - DATES))
        yield plain(f"{day_of(each.when, now):<{DATES}}", MUTED) + plain(what, MUTED if each.over else "")


def _message(turn: "Turn", now: datetime) -> Iterator[Content]:
    yield Content("")
    yield plain(f"{when(turn.at, now)} · {who(turn.role, turn.speaker)}", MUTED)
    yield plain(cut(turn.text or "(erased)", LONGEST))


async def read(view: ChatView, name: str) -> "Dossier | None":
    """The dossier of a name as the chat's world and project have it."""
    if view.chat is None:
        return None
    return await view.chat.service.search.dossier(name, world=view.state.world, project=await view.project())


async def about(parts: Parts, argument: str) -> None:
    if parts.view.chat is None:
        parts.ui.say(NOT_YET)
        return
    name: str | None = argument.strip()
    if not name:
        name = await parts.ui.ask(AskLine("About what?", placeholder="A person, place or project", yes="show"))
    if name and (found := await read(parts.view, name)) is not None:
        parts.ui.show(AboutPage(parts.view, name, found))
