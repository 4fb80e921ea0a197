"""How a query comes into the editor and out of it: in words, from those run, saved or ready, and saved by name."""

from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from textual.content import Content

from tui.keymaps import REMOVE, RUN, TAKE
from tui.queries.cells import brief, rows_of
from tui.queries.results import took_of
from tui.queries.runner import QueryRunner
from tui.text import MUTED, cut, one_line, plain, when
from tui.widgets.chooser import Chooser, ChooserKey
from tui.widgets.dialogs import AskLine, Confirm

if TYPE_CHECKING:
    from agent.asking.shelf import Ran, Ready, Saved
    from tui.queries.view import QueryView


NO_HISTORY = "No queries yet. The queries you run are listed here, with their row counts."
NOTHING_SAVED = "No saved queries yet. Ctrl+S saves the query in the editor."
MOST = 500
KEYS = (ChooserKey(TAKE, "take"), ChooserKey(RUN, "run"))
REMOVE_KEY = ChooserKey(REMOVE, "remove")


@dataclass(frozen=True, slots=True)
class Taken:
    """A query to put into the editor, with values to begin with; `run` says to run it at once."""

    cypher: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    run: bool = False


async def from_history(screen: "QueryView") -> Taken | None:
    """One that was run; of equal ones the newest."""
    found = await screen.service.queries.history(MOST)
    distinct: dict[tuple[str, str], Ran] = {}
    for ran in found:
        distinct.setdefault((ran.cypher.strip(), brief(dict(ran.parameters))), ran)

    async def preview(ran: "Ran") -> Content:
        words = plain(f"{ran.error}\n\n", "$text-error") if ran.error else Content("")
        return words + _shown(ran.cypher, ran.parameters)

    chosen = await screen.app.push_screen_wait(
        Chooser["Ran"](
            "What was run",
            list(distinct.values()),
            paint=_ran_row,
            identity=lambda ran: f"{ran.at.timestamp()} {ran.cypher}",
            preview=preview,
            keys=KEYS,
            failures=screen.failures,
            empty=NO_HISTORY,
        )
    )
    if chosen is None or chosen.item is None:
        return None
    return Taken(chosen.item.cypher, chosen.item.parameters, chosen.answer == "run")


def _ran_row(ran: "Ran", width: int) -> Sequence[Content]:
    outcome = plain("failed", "$text-error") if ran.error else plain(_outcome(ran), MUTED)
    return [plain(cut(ran.cypher, 4 * width)), plain(f"{_day(ran.at)} · ", MUTED) + outcome]


def _outcome(ran: "Ran") -> str:
    rows = rows_of(ran.rows) if ran.rows is not None else "not counted"
    return rows if ran.took_ms is None else f"{rows}, {took_of(ran.took_ms)}"


def _day(at: datetime) -> str:
    return when(at, datetime.now().astimezone())


async def from_saved(screen: "QueryView") -> Taken | None:
    """One that was saved under a name; those that are not wanted any more go."""
    while True:
        found = await screen.service.queries.saved()

        async def preview(saved: "Saved") -> Content:
            return _shown(saved.cypher, saved.parameters)

        chosen = await screen.app.push_screen_wait(
            Chooser["Saved"](
                "Saved queries",
                found,
                paint=lambda saved, width: [
                    plain(one_line(saved.name), "bold"),
                    plain(cut(saved.cypher, 4 * width), MUTED),
                ],
                identity=lambda saved: saved.name,
                preview=preview,
                keys=(*KEYS, REMOVE_KEY),
                failures=screen.failures,
                empty=NOTHING_SAVED,
            )
        )
        if chosen is None or chosen.item is None:
            return None
        if chosen.answer != "remove":
            return Taken(chosen.item.cypher, chosen.item.parameters, chosen.answer == "run")
        await _remove(screen, chosen.item)


async def _remove(screen: "QueryView", saved: "Saved") -> None:
    title = f"Remove the query “{cut(saved.name, 48)}”?"
    if await screen.app.push_screen_wait(Confirm(title, cut(saved.cypher, 300), yes="remove it")):
        await screen.service.queries.remove(saved.name)


async def from_shelf(screen: "QueryView") -> Taken | None:
    """One of the ready ones."""
    from agent.asking.shelf import shelf

    async def preview(ready: "Ready") -> Content:
        return plain(f"{ready.about}\n\n") + _shown(ready.cypher, ready.parameters)

    chosen = await screen.app.push_screen_wait(
        Chooser["Ready"](
            "Ready queries",
            shelf(),
            paint=lambda ready, width: [plain(one_line(ready.name), "bold"), plain(one_line(ready.about), MUTED)],
            identity=lambda ready: ready.name,
            preview=preview,
            keys=KEYS,
            failures=screen.failures,
        )
    )
    if chosen is None or chosen.item is None:
        return None
    return Taken(chosen.item.cypher, chosen.item.parameters, chosen.answer == "run")


def _shown(cypher: str, parameters: Mapping[str, Any]) -> Content:
    values = "".join(f"\n${name} = {brief(value, 60)}" for name, value in parameters.items() if value != "")
    asked = "".join(f"\n${name} is asked" for name, value in parameters.items() if value == "")
    return plain(cypher) + plain(f"\n{values}{asked}" if values or asked else "", "$secondary")


QUESTION = "Ask in words"
HOW_TO_ASK = "who did I mention most in March?"


class EditorActions:
    """What is done with the text of one screen's editor; what the agent fails with is raised."""

    def __init__(self, screen: "QueryView", asking: QueryRunner) -> None:
        self._screen = screen
        self._asking = asking

    async def ask(self) -> None:
        """Ask for a question in words, and make a query of it."""
        line = AskLine(QUESTION, placeholder=HOW_TO_ASK, yes="make a query of it")
        asked = await self._screen.app.push_screen_wait(line)
        if asked:
            await self.translate(asked)

    async def translate(self, question: str) -> None:
        """Put the query for a question into the editor; whether it runs is for the person to say."""
        screen = self._screen
        if not question:
            screen.say("Type your question after the question mark.")
            return
        screen.say("Looking for a query …")
        found = await screen.service.queries.translate(question)
        self._take(Taken(f"// {one_line(question)}\n{found.cypher}", found.parameters))
        match found.how:
            case "model":
                screen.say(f"{found.words} Written by {found.model}: look at it first. F5 runs it.")
            case "nearest":
                screen.say(f"Not sure; the nearest: {found.words} F5 runs it.")
            case "template":
                screen.say(f"{found.words} F5 runs it.")

    async def choose(self, chosen: Coroutine[Any, Any, Taken | None]) -> None:
        """Take what is chosen, and run it if that was said."""
        taken = await chosen
        if taken is not None:
            self._take(taken)
            if taken.run:
                self._screen.go_to_rows = True
                await self._asking.run(taken.cypher)

    def _take(self, taken: Taken) -> None:
        screen = self._screen
        screen.desk.given.update({name: value for name, value in taken.parameters.items() if value != ""})
        screen.editor.put(taken.cypher)
        screen.set_focus(screen.editor)

    async def save(self, cypher: str) -> None:
        """Save a query under a name; one that has it is replaced after asking."""
        from graph.console.lexing import parameters_of

        screen = self._screen
        if not cypher.strip():
            screen.say("There is no query to save yet.")
            return
        names = parameters_of(cypher)
        name = await screen.app.push_screen_wait(AskLine("Save this query as", placeholder="A name", yes="save it"))
        if name is None:
            return
        there = [each for each in await screen.service.queries.saved() if each.name.casefold() == name.casefold()]
        if there and not await screen.app.push_screen_wait(
            Confirm(f"Replace the query “{cut(there[0].name, 48)}”?", cut(there[0].cypher, 300), yes="replace it")
        ):
            return
        given = {each: screen.desk.given[each] for each in names if each in screen.desk.given}
        await screen.service.queries.save(name, cypher, given)
        screen.say(f"Saved as “{cut(name, 60)}”. Ctrl+O has it.")
