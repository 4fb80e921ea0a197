"""The pages of what was learned and of what waits for review: a filtered list, and beside it one with its proof."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, TypeVar, get_args

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from graph.events import ObservationKind
from graph.relations import kinds as relation_kinds
from graph.values import Observation, Trend, Wanted
from tui import keymaps
from tui.keymaps import Sign, bindings, signs
from tui.latest import Latest, is_there
from tui.memories import words
from tui.memories.host import LEFT, NOTHING_FITS, NOTHING_LEARNED, NOTHING_THEN, NOTHING_WAITS
from tui.text import MUTED, cut, one_line, plain
from tui.widgets.long_list import LongList
from tui.worlds import MAIN

if TYPE_CHECKING:
    from graph.values import Proof, Story
    from tui.memories.host import Host


Value = TypeVar("Value")
MOST_PEOPLE = 12
STATUSES = ("", "active", "candidate", "superseded", "invalid", "every")
STATUS_WORDS = {
    "": "current",
    "active": "in use",
    "candidate": "to review",
    "superseded": "superseded",
    "invalid": "not true",
    "every": "every status",
}


@dataclass(frozen=True, slots=True)
class There:
    """What there is to filter by: a key leads only to these."""

    people: Sequence[str] = ()
    projects: Sequence[str] = ()
    kinds: Sequence[ObservationKind] = ()
    relations: Sequence[str] = ()


def cycled(wanted: Wanted, key: str, there: There) -> Wanted:
    """What is wanted after one press of a filter's key."""
    match key:
        case "S":
            return _with_status(wanted, _next(STATUSES, status_of(wanted)))
        case "K":
            return replace(wanted, kind=_next((None, *there.kinds), wanted.kind))
        case "R":
            return replace(wanted, relation=_next((None, *there.relations), wanted.relation))
        case "W":
            return replace(wanted, about=_next((None, *there.people), wanted.about))
        case "J":
            return replace(wanted, project=_next((None, *there.projects), wanted.project))
        case "T":
            return replace(wanted, trend=_next((None, *get_args(Trend)), wanted.trend))
        case "P":
            return replace(wanted, pinned=_next((None, True, False), wanted.pinned))
        case _:
            return wanted


def _next(values: Sequence[Value], now: Value) -> Value:
    return values[(values.index(now) + 1) % len(values)] if now in values else values[0]


def status_of(wanted: Wanted) -> str:
    """The status that is wanted: empty for those in use or under review, `every` for all."""
    return "every" if wanted.everything else wanted.status or ""


def _with_status(wanted: Wanted, status: str) -> Wanted:
    known = {"active": "active", "candidate": "candidate", "superseded": "superseded", "invalid": "invalid"}
    return replace(wanted, status=known.get(status), everything=status == "every")  # type: ignore[arg-type]


def narrowed(wanted: Wanted) -> bool:
    """Some filter is set."""
    return wanted != Wanted(world=wanted.world)


def people_of(observations: "Sequence[Observation]") -> list[str]:
    """The names that the most of these are about, the most frequent first."""
    counts: dict[str, int] = {}
    for observation in observations:
        for name in observation.about:
            counts[name] = counts.get(name, 0) + 1
    return sorted(counts, key=lambda name: (-counts[name], name))[:MOST_PEOPLE]


def kinds_of(observations: "Sequence[Observation]") -> list[ObservationKind]:
    """The kinds that some of these are of, in the order of the kinds."""
    found = {observation.kind for observation in observations}
    return [kind for kind in ObservationKind if kind in found]


def relations_of(observations: "Sequence[Observation]") -> list[str]:
    """The kinds of relationships that some of these say, in the order of their table."""
    found = {each.relationship.kind for each in observations if each.relationship is not None}
    return [kind for kind in relation_kinds() if kind in found]


def described(wanted: Wanted, width: int) -> Content:
    """The filters on one line, in words as far as they fit, those chosen first; the rest by their keys."""
    status, pinned = status_of(wanted), "pinned" if wanted.pinned else "not pinned"
    about, project = one_line(wanted.about or "")[:16], one_line(wanted.project or "")[:16]
    parts: list[tuple[str, str, bool]] = [
        ("S", STATUS_WORDS[status], bool(status)),
        ("K", wanted.kind or "kind", wanted.kind is not None),
        ("R", relation_kinds()[wanted.relation].label if wanted.relation else "relation", wanted.relation is not None),
        ("W", about or "who", wanted.about is not None),
        ("J", project or "project", wanted.project is not None),
        ("T", wanted.trend or "trend", wanted.trend is not None),
        ("P", "pins" if wanted.pinned is None else pinned, wanted.pinned is not None),
        ("/", f"“{one_line(wanted.text)[:24]}”" if wanted.text else "words", bool(wanted.text)),
    ]
    told = {key for key, _, chosen in parts if chosen}
    if _joined(parts, told).cell_length > width:
        return _joined(parts, set()).truncate(width, ellipsis=True)
    for key, _, _ in parts:
        if _joined(parts, told | {key}).cell_length <= width:
            told.add(key)
    return _joined(parts, told)


def _joined(parts: Sequence[tuple[str, str, bool]], told: Collection[str]) -> Content:
    shown = [
        Content.assemble(plain(key, "bold"), plain(f" {words}", "$primary" if chosen else MUTED))
        if key in told
        else plain(key, "bold $primary" if chosen else f"bold {MUTED}")
        for key, words, chosen in parts
    ]
    return Content("  ").join(shown)


class Detail(VerticalScroll, can_focus=False):
    """Shows a story with one of its sources chosen, or words about there being none."""

    def __init__(self) -> None:
        super().__init__(classes="memories-detail")
        self.story: Story | None = None
        self._place = 0

    def compose(self) -> ComposeResult:
        yield Static("", markup=False)

    def show(self, story: "Story") -> None:
        """Show this one; of the same observation the chosen source stays chosen."""
        same = self.story is not None and self.story.observation.series == story.observation.series
        self.story = story
        if not same:
            self._place = 0
            self.scroll_home(animate=False, immediate=True)
        self._place = max(0, min(self._place, len(words.proofs(story)) - 1))
        self._paint()

    def tell(self, text: str) -> None:
        """Words in place of an observation."""
        self.story = None
        self.query_one(Static).update(plain(text, MUTED))

    @property
    def proof(self) -> "Proof | None":
        """The source that is chosen."""
        found = words.proofs(self.story) if self.story is not None else []
        return found[self._place] if self._place < len(found) else None

    def choose(self, step: int) -> None:
        """Another of its sources."""
        if self.story is not None and (count := len(words.proofs(self.story))):
            self._place = (self._place + step) % count
            line = self._paint()
            self.scroll_to(y=max(0, line - self.size.height // 2), animate=False)

    def scroll_pages(self, pages: int) -> None:
        self.scroll_relative(y=pages * max(1, self.size.height - 2), animate=False)

    def _paint(self) -> int:
        if self.story is None:
            return 0
        width = max(1, self.scrollable_content_region.width)
        content, line = words.detail(self.story, self._place, datetime.now().astimezone(), width)
        self.query_one(Static).update(content)
        return line

    def on_resize(self) -> None:
        self._paint()


KEPT_BEHIND = "The earlier version is kept."
HERE_ONLY = "Applies only in this what-if."
PAGE, MOST = 300, 20_000  # observations read at a time, and at most
FORGET_WORDS = "All its versions are deleted. It will not be learned from the same words again."


class Observations(Vertical):
    """The list of observations with its filters; in `review` only the candidates, with the keys to judge them."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(
        keymaps.LEARNED, keymaps.OBSERVATIONS, keymaps.REVIEW, keymaps.FILTERS
    )

    def __init__(self, host: "Host", *, review: bool = False, wanted: Wanted | None = None) -> None:
        super().__init__(id="review" if review else "observations", classes="memories-page")
        self._host = host
        self.review = review
        self.wanted = wanted or Wanted()
        self._limit = PAGE
        self._there = There(kinds=tuple(ObservationKind))
        self._stands: Sequence[Observation] = ()  # what says how two stand, listed only if it is asked for
        self._choose: str | None = None
        self._marked: Observation | None = None  # of which a memory is to be made with another one
        self._latest: Latest[tuple[Wanted, int], list[Observation] | str] = Latest(self._find, self._show)
        self._story: Latest[str, Story | str] = Latest(self._read_story, self._show_story)

    def compose(self) -> ComposeResult:
        if not self.review:
            yield Static("", classes="memories-filters", markup=False)
        with Horizontal(classes="memories-body"):
            yield LongList[Observation](self._row, lambda each: each.id, classes="memories-list")
            yield Detail()

    @property
    def rows(self) -> LongList[Observation]:
        return self.query_one(LongList)

    @property
    def chosen(self) -> Observation | None:
        return self.rows.chosen

    def _row(self, observation: Observation, width: int) -> Sequence[Content]:
        return words.row(observation, width, datetime.now().astimezone())

    @property
    def signs(self) -> tuple[Sign, ...]:
        return signs((*(keymaps.REVIEW if self.review else keymaps.OBSERVATIONS), keymaps.UNDO, *keymaps.LEARNED))

    # Reading

    async def refresh_page(self, *, choose: str | None = None) -> None:
        """Read the list again; what is chosen stays chosen."""
        if choose is not None:
            self._choose = choose
        self._paint_filters()
        await self._latest.ask((self.wanted, self._limit))

    async def _find(self, asked: tuple[Wanted, int]) -> "list[Observation] | str":
        wanted, limit = asked
        view = self._host.view
        try:
            if self.review:
                return await view.review()
            self._there = replace(self._there, projects=[project.name for project in await view.projects()])
            self._stands = await view.memories(Wanted(related=True), limit=PAGE)
            return await view.memories(wanted, limit=limit)
        except self._host.failures as error:
            return words.trouble_of(self._host.state) or str(error)

    def _show(self, asked: tuple[Wanted, int], answer: "list[Observation] | str") -> None:
        if not is_there(self):
            return
        found = [] if isinstance(answer, str) else answer
        self._note_what_is_there(asked, found)
        rows = self.rows
        rows.fill(found, choose=self._choose or self._followed(found))
        self._choose = None
        self._host.counted()
        rows.set_class(not found, "-empty")  # its keys stay
        if not found:
            self.query_one(Detail).tell(answer if isinstance(answer, str) else self._nothing())
        else:
            self._moved()

    def _note_what_is_there(self, asked: tuple[Wanted, int], found: list[Observation]) -> None:
        wanted, limit = asked
        self._there = replace(self._there, relations=relations_of(self._stands))
        if found and wanted.about is None:
            alone = {each.id: each for each in (*found, *(() if narrowed(wanted) else self._stands))}
            self._there = replace(self._there, people=people_of(list(alone.values())))
        if found and wanted.kind is None:
            kinds = kinds_of(found) if len(found) < limit else [*ObservationKind]  # there are more than these
            self._there = replace(self._there, kinds=kinds)

    def _followed(self, found: list[Observation]) -> str | None:
        """The row the mark goes to: a new revision of what a work was about, or of the chosen one, now gone."""
        doing, chosen = self._host.doing, self.chosen
        series = doing.follow
        if series is None and chosen is not None and all(each.id != chosen.id for each in found):
            series = chosen.series
        alike = [each for each in found if each.series == series]
        if not alike:
            return None
        doing.follow = None
        return next((each for each in alike if each.current), alike[0]).id

    def _nothing(self) -> str:
        if trouble := words.trouble_of(self._host.state):
            return trouble
        if self.review:
            return NOTHING_WAITS if self._host.view.at is None else NOTHING_THEN
        if narrowed(self.wanted):
            return NOTHING_FITS
        return NOTHING_LEARNED if self._host.view.at is None else NOTHING_THEN

    @property
    def count(self) -> str:
        """How many there are, for the tab."""
        more = "+" if not self.review and len(self.rows.items) >= self._limit else ""
        return f"{len(self.rows.items):,}{more}"

    @on(LongList.Moved)
    def _moved(self) -> None:
        chosen = self.chosen
        if chosen is None:
            return
        if len(self.rows.items) >= self._limit < MOST and self.rows.place >= self._limit - PAGE // 4:
            self._limit = min(MOST, 2 * self._limit)
            self.run_worker(self.refresh_page())
        self.run_worker(self._story.ask(chosen.id))

    async def _read_story(self, identity: str) -> "Story | str":
        try:
            return await self._host.view.memory(identity)
        except self._host.failures as error:
            return str(error)

    def _show_story(self, identity: str, answer: "Story | str") -> None:
        if is_there(self) and self.chosen is not None and self.chosen.id == identity:
            detail = self.query_one(Detail)
            if isinstance(answer, str):
                detail.tell(answer)
            else:
                detail.show(answer)

    # Filters

    def _paint_filters(self) -> None:
        if not self.review:
            line = self.query_one(".memories-filters", Static)
            line.update(described(self.wanted, max(1, line.size.width or self.app.size.width - 2)))

    def on_resize(self) -> None:
        self._paint_filters()

    def narrow(self, wanted: Wanted) -> None:
        """Show these from now on, from the top."""
        self.wanted, self._limit = wanted, PAGE
        self.rows.choose(0)
        self._host.refresh_soon()

    def action_filter(self, key: str) -> None:
        if not self.review:
            self.narrow(cycled(self.wanted, key, self._there))

    def action_words(self) -> None:
        if not self.review:
            self._host.do(self._ask_words(), reads=True)

    async def _ask_words(self) -> None:
        text = await self._host.ask_line("Search memories", self.wanted.text or "", placeholder="Words", yes="search")
        if text is not None:
            self.narrow(replace(self.wanted, text=text))

    def action_clear(self) -> None:
        if not self.review and narrowed(self.wanted):
            self.narrow(Wanted(world=self.wanted.world))

    # What is done to one

    def action_source(self, step: int) -> None:
        self.query_one(Detail).choose(step)

    def action_scroll(self, pages: int) -> None:
        self.query_one(Detail).scroll_pages(pages)

    @on(LongList.Chosen)
    def _open(self) -> None:
        proof = self.query_one(Detail).proof
        if proof is None:
            self._host.say("Its proof can no longer be shown.")
        elif proof.kind == "chunk":
            self._host.read(f"From {cut(proof.speaker, 60)}", proof.text or words.ERASED)
        else:
            self._host.go_to(proof.session, proof.id)

    def action_ego(self) -> None:
        if self.chosen is not None:
            self._host.walk_from("Observation", self.chosen.id)

    def action_do(self, what: str) -> None:
        chosen = self.chosen
        if chosen is not None:
            self._host.do(self._do(what, chosen))

    async def _do(self, what: str, chosen: Observation) -> str | None:
        doing = self._host.doing
        match what:
            case "pin":
                return await doing.pin(chosen)
            case "forget":
                return await self._forget(chosen)
            case "synthesize":
                return await self._synthesize(chosen)
            case "promote" | "reject" | "edit" if chosen.status != "candidate":
                if what == "edit":
                    return await self._reword(chosen)
                return "This memory is not under review. Press c to correct it or d to forget it."
            case "promote":
                return await doing.promote(chosen)
            case "reject":
                return await doing.reject(chosen)
            case _:
                return await self._reword(chosen)

    async def _reword(self, chosen: Observation) -> str | None:
        told = KEPT_BEHIND if self._host.view.world == MAIN else f"{KEPT_BEHIND} {HERE_ONLY}"
        before = self._host.proposed or chosen.text or ""
        text = await self._host.ask_text("What is true instead?", before, words=told)
        if text is None or not text.strip() or text.strip() == (chosen.text or "").strip():
            return "Nothing was changed." if text is not None else None
        if not await self._host.keeps():
            return LEFT
        self._host.proposed = ""
        if chosen.status == "candidate":
            return await self._host.doing.edit(chosen, text.strip())
        return await self._host.doing.correct(chosen, text.strip())

    async def _synthesize(self, chosen: Observation) -> str | None:
        """Mark the first of two; of the second, ask what both say together."""
        one, self._marked = self._marked, None
        if one is None:
            self._marked = chosen
            return f"Marked “{cut(chosen.text or words.ERASED, 40)}”. Press m on another memory to make one from both."
        if one.id == chosen.id:
            return "No longer marked."
        proposed = await self._host.service.syntheses.propose(one.id, chosen.id, world=self._host.view.world)
        text = await self._host.ask_text(words.BOTH, proposed.text, words=words.proposed_by(proposed))
        if text is None or not text.strip():
            return LEFT
        if not await self._host.keeps():
            return LEFT
        return await self._host.doing.synthesize(one, chosen, text.strip())

    async def _forget(self, chosen: Observation) -> str | None:
        service = self._host.service
        plan = lambda: service.plans.forget(chosen.id)  # noqa: E731
        if not await self._host.agree("Forget this permanently?", plan, yes="forget permanently", words=FORGET_WORDS):
            return None
        return "Forgotten permanently."
