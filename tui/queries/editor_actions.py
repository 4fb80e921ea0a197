"""How a query comes into the editor and out of it: in words, from the choosers, run with its values, saved by name."""

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from tui.queries.choosers import Taken
from tui.queries.runner import QueryRunner
from tui.text import cut, one_line
from tui.widgets.dialogs import AskLine, Confirm

if TYPE_CHECKING:
    from tui.queries.view import QueryView

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
        from graph.querying.lexing import parameters_of

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
