"""Running what stands in the editor: its values asked, its first rows shown, its end told, and all of it remembered.

Invariants: one query runs at a time. Whatever stops it (Esc, closing the screen) ends it in the engine too. What was
shown before it began stays until its first rows are there.
"""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from tui.drafts import ExecutedQuery
from tui.keymaps import PARAMETERS, bindings, signs
from tui.queries.view import QueryView, state_in_words
from tui.text import MUTED, clean, in_chat, one_line, plain, shown
from tui.widgets.foot import Foot

if TYPE_CHECKING:
    from agent.asking.shelf import Ran
    from graph.console.console import Answer


HOW = 'A number, true, null, ["a", "b"] are what they look like; all else is text. "12" in quotes is text too.'


def value_of(said: str) -> Any:
    """What a line stands for: what JSON reads in it, else the words themselves."""
    text = clean(said).strip()
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return text


def _no_constant(name: str) -> Any:
    raise ValueError(name)  # NaN and its kin are words here


def line_of(value: Any) -> str:
    """A value as the line that stands for it; a text that would be read as something else is in quotes."""
    if isinstance(value, str) and value_of(value) == value and value == value.strip() and "\n" not in value:
        return value
    return json.dumps(value, ensure_ascii=False)


class AskParameters(ModalScreen[dict[str, Any] | None]):
    """The values by name; None if left. Enter goes on to the next empty line, and runs from the last."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(PARAMETERS)

    def __init__(self, names: Sequence[str], known: Mapping[str, Any]) -> None:
        super().__init__()
        self._names = tuple(names)
        self._known = known

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog parameters"):
            yield Static(plain("What the query asks for"), classes="dialog-title", markup=False)
            with VerticalScroll(can_focus=False):
                for name in self._names:
                    value = self._known.get(name, "")
                    yield Static(plain(f"${name}", "$secondary"), classes="parameter-name", markup=False)
                    yield Input(shown("" if value == "" else line_of(value)).replace("\n", " "), compact=True)
            yield Static(plain(HOW, MUTED), classes="dialog-words", markup=False)
            yield Foot(signs(PARAMETERS), classes="dialog-keys")

    def on_mount(self) -> None:
        lines = list(self.query(Input))
        next((each for each in lines if not each.value), lines[0]).focus()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        lines = list(self.query(Input))
        place = lines.index(event.input)
        if place + 1 < len(lines):
            lines[place + 1].focus()
        else:
            self.action_done()

    def action_done(self) -> None:
        values = (value_of(each.value) for each in self.query(Input))
        self.dismiss(dict(zip(self._names, values, strict=True)))


TICK_S = 0.1
STEP = 10  # how many times more rows "more" asks for
PATIENCE_S = 60.0  # for an export, and for more rows
MORE = ("rows", "time")  # what kept rows out that can be had, with that patience
RUNNING = "A query is running; Esc stops it."


def is_question(text: str) -> bool:
    """Whether a text is a question in words and no query."""
    return text.lstrip().startswith("?")


class QueryRunner:
    """The runs of one screen."""

    def __init__(self, screen: QueryView) -> None:
        self._screen = screen
        self._task: asyncio.Task[None] | None = None
        self._began = 0.0
        self._doing = "running"

    @property
    def running(self) -> bool:
        return self._task is not None and not self._task.done()

    def stop(self) -> bool:
        """End what runs; False where nothing does."""
        if self._task is None or self._task.done():
            return False
        self._task.cancel()
        return True

    async def run(self, cypher: str) -> None:
        """Ask for the values that a query needs, then run it, and show its rows as they come. Raises Refused."""
        desk = self._screen.desk
        values = await values_for(self._screen, cypher, desk.given)
        if values is None:
            self._screen.go_to_rows = False
        else:
            desk.given.update(values)
            self._begin(self._run(ExecutedQuery(cypher, values), keep=True), "running")

    def sample(self, asked: ExecutedQuery) -> None:
        """Run a query for some rows of a table, of which nothing is kept."""
        self._begin(self._run(asked, keep=False), "running")

    def more(self) -> None:
        """Ask for more rows of the answer that is shown."""
        desk = self._screen.desk
        answer, asked = desk.answer, desk.asked
        if answer is None or asked is None:
            return
        if asked.sample or answer.cut not in MORE:
            self._screen.say("All available rows are here.")
            return
        from graph.console.console import MOST_ROWS

        if len(answer.rows) >= MOST_ROWS:
            self._screen.say("No more rows can be shown at once. Use SKIP and LIMIT in the query for the others.")
            return
        limit = min(MOST_ROWS, max(asked.limit, len(answer.rows)) * STEP)
        self._begin(
            self._run(ExecutedQuery(asked.cypher, asked.parameters, limit), keep=False, patience_s=PATIENCE_S), "asking"
        )

    async def everything(self) -> "Answer | None":
        """All rows of the query whose answer is shown, as many as can be had; None if it was stopped or failed."""
        desk = self._screen.desk
        answer, asked = desk.answer, desk.asked
        if answer is None or asked is None or answer.cut not in MORE or asked.sample:
            return answer
        from graph.console.console import MOST_ROWS

        found: list[Answer] = []

        async def fetch() -> None:
            found.append(
                await self._screen.service.graph.console(
                    asked.cypher,
                    parameters=asked.parameters,
                    limit=MOST_ROWS,
                    world=self._screen.world,
                    timeout_s=PATIENCE_S,
                )
            )

        self._begin(self._guarded(fetch(), answer, asked), "fetching all rows")
        assert self._task is not None
        await asyncio.wait([self._task])
        return found[0] if found else None

    async def _guarded(self, fetch: Any, answer: "Answer", asked: ExecutedQuery) -> None:
        results = self._screen.results
        try:
            await fetch
        except asyncio.CancelledError:
            self._screen.say("Stopped; nothing was written.")
            raise
        except self._screen.failures as error:
            self._screen.say(in_chat(str(error)), error=True)
        finally:
            if self._screen.is_mounted:
                results.counted(answer, asked)

    # One run

    def _begin(self, run: Any, doing: str) -> None:
        if self.running:
            run.close()
            self._screen.say(RUNNING)
            return
        self._screen.unsay()
        self._began, self._doing = time.monotonic(), doing
        self._task = asyncio.create_task(run)
        self._screen.run_worker(self._watch(self._task), group="watch", exclusive=True)

    async def _watch(self, task: "asyncio.Task[None]") -> None:
        """Tell how long it takes; closing the screen ends this worker, and the query with it."""
        self._screen.ran(running=self.running)
        try:
            while not task.done():
                self._screen.results.running(time.monotonic() - self._began, self._doing)
                await asyncio.wait([task], timeout=TICK_S)
        finally:
            task.cancel()
        self._screen.ran(running=self.running)
        if not task.cancelled() and (error := task.exception()) is not None:
            raise error

    async def _run(self, asked: ExecutedQuery, *, keep: bool, patience_s: float | None = None) -> None:
        screen = self._screen
        if trouble := state_in_words(screen.state):
            self._failed(asked, trouble)
            return
        shown: list[Answer] = []

        def first(answer: "Answer") -> None:
            if screen.is_mounted and not shown:
                shown.append(answer)
                self._doing = "counting the rows"
                screen.show(answer, asked)

        from graph.console.console import TIMEOUT_S

        patience: float = TIMEOUT_S if patience_s is None else patience_s
        asking = screen.service.graph.console(
            asked.cypher, parameters=asked.parameters, limit=asked.limit, world=screen.world, timeout_s=patience
        )
        try:
            async for rows in asking:
                first(rows)
            answer = await asking
        except asyncio.CancelledError:
            self._stopped(asked, shown)
            raise
        except screen.failures as error:
            self._failed(asked, in_chat(str(error)), error)
            if keep:
                self._keep(asked, error=one_line(str(error)))
            return
        if shown and len(shown[0].rows) == len(answer.rows):
            screen.settle(answer, asked)
        else:
            screen.show(answer, asked)
        if keep:
            self._keep(asked, rows=answer.total, took_ms=answer.took_ms)

    def _stopped(self, asked: ExecutedQuery, shown: "list[Answer]") -> None:
        if not self._screen.is_mounted:
            return
        seconds = time.monotonic() - self._began
        if shown:
            self._screen.settle(shown[0], asked)
            self._screen.say(f"Stopped after {seconds:.1f} s; the rows that came are here.")
        else:
            self._screen.failed(f"Stopped after {seconds:.1f} s. Nothing was changed.", error=False)

    def _failed(self, asked: ExecutedQuery, words: str, error: Exception | None = None) -> None:
        if self._screen.is_mounted:
            place = (getattr(error, "line", 0), getattr(error, "column", 0))
            self._screen.failed(words, place=place if asked.cypher == self._screen.editor.text else (0, 0))

    def _keep(
        self, asked: ExecutedQuery, *, rows: int | None = None, took_ms: float | None = None, error: str = ""
    ) -> None:
        """Write it into the history: the app does, so that closing the screen at once loses nothing."""
        from agent.asking.shelf import Ran

        ran = Ran(asked.cypher, datetime.now(UTC), asked.parameters, rows, took_ms, error)
        screen = self._screen
        screen.chat_view.ui.begin(_kept(screen, ran))


async def _kept(screen: QueryView, ran: "Ran") -> None:
    if not await screen.service.queries.keep(ran, private=screen.private):
        screen.chat_view.ui.say("This query could not be added to the history; its rows are here.")


async def values_for(screen: QueryView, cypher: str, known: Mapping[str, Any]) -> dict[str, Any] | None:
    """The values a query asks for, asked of the person; None if they left. Raises Refused for what is no query."""
    from graph.console.grammar import checked
    from graph.console.lexing import parameters_of

    checked(cypher)  # nobody fills in values for what will not run
    names = parameters_of(cypher)
    if not names:
        return {}
    return await screen.app.push_screen_wait(AskParameters(names, known))
