"""The list of models to choose from: those of the catalogue and of this disk, below them those of model servers.

A server of the settings is asked when the list is open, and this computer's usual ports only when that is chosen.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from tui.backstage import Choice
from tui.keymaps import MODELS, bindings, signs
from tui.servers import place
from tui.text import MUTED, clean, one_line, plain, size_of
from tui.widgets.foot import Foot
from tui.widgets.long_list import Rows, type_into

if TYPE_CHECKING:
    from agent.served import FoundServer, Served, ServedModel

NONE = "No models match."
A_FILE = "Press Enter to use this file."
LOOK = "Look for servers on this computer"
PORTS = "Ollama, LM Studio, llama-server, vLLM and SGLang, at their usual ports"
INDENT = 4
ASKING = "asking the usual ports …"
NOT_FOUND = "No other model server answers at the usual ports of this computer."


class Servers(Protocol):
    """Knows the model servers of the settings; `agent.models.servers`."""

    async def names(self) -> "tuple[str, ...]": ...

    async def models_of(self, name: str) -> "Served": ...

    async def found_here(self) -> "tuple[FoundServer, ...]": ...


@dataclass(frozen=True, slots=True)
class Newcomer:
    """A model of a server on this computer that the settings do not name yet."""

    server: "FoundServer"
    model: str


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the list, found by what is `typed`; choosing it gives a model or looks for servers, if it can be chosen.

    `key` is what it is known by while the list grows.
    """

    key: str
    content: Content
    typed: str
    gives: "str | Newcomer | None" = None
    looks: bool = False

    def drawn(self, width: int) -> Content:
        """The row; what is only to be read is indented also where it takes several lines of `width` cells."""
        if self.usable or width <= 2 * INDENT:
            return self.content
        lines = self.content.wrap(width - INDENT)
        return Content("\n").join(Content.assemble(" " * INDENT, line) for line in lines)

    @property
    def usable(self) -> bool:
        """Whether it can be chosen."""
        return self.gives is not None or self.looks


class ModelPicker(ModalScreen["str | Newcomer | None"]):
    """Typing filters the list; Enter takes the chosen one, or the path that was typed. None if left."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(MODELS)

    def __init__(
        self,
        choices: Sequence[Choice],
        current: str,
        *,
        title: str = "Model",
        servers: Servers | None = None,
        failures: tuple[type[Exception], ...] = (),
    ) -> None:
        """`servers` may fail with one of the `failures`, whose message is shown; None: there are to be none."""
        super().__init__()
        self._title = title
        self._current = current
        self._servers = servers
        self._failures = failures
        self._own = [_own_row(choice, current) for choice in choices]
        self._served: dict[str, list[Row]] = {}  # by their servers
        self._here = [_look_row()] if servers is not None else []
        self._shown: list[Row] = []
        self._put: str | None = None  # the row where the mark is because nobody has put it elsewhere
        self._looking = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog page"):
            yield Static(self._title, classes="dialog-title", markup=False)
            yield Input(placeholder="Search, or enter the path of a GGUF file", compact=True)
            yield Rows(markup=False, compact=True, classes="page-body")
            yield Foot(signs(MODELS), classes="dialog-keys")

    def on_mount(self) -> None:
        self._fill(None)
        self.query_one(Input).focus()
        if self._servers is not None:
            self.run_worker(self._ask(self._servers))

    def on_resize(self) -> None:
        self.call_after_refresh(self._grow)

    def on_key(self, event: events.Key) -> None:
        type_into(self.query_one(Input), event)

    # What servers have

    async def _ask(self, servers: Servers) -> None:
        """Ask every server of the settings at once; each one's models come when it answers."""
        try:
            names = await servers.names()
        except self._failures as error:
            self._served[""] = [_said("settings", str(error), wrong=True)]
            self._grow()
            return
        self._served = {name: [_said(name, f"asking {name} …")] for name in names}
        self._grow()
        await asyncio.gather(*(self._ask_one(servers, name) for name in names))

    async def _ask_one(self, servers: Servers, name: str) -> None:
        try:
            served = await servers.models_of(name)
        except self._failures as error:
            self._served[name] = [_said(name, str(error), wrong=True)]
        else:
            self._served[name] = _served_rows(served, self._current)
        self._grow()

    async def _look(self, servers: Servers) -> None:
        """See what runs on this computer."""
        self._looking = True
        self._here = [_look_row(ASKING)]
        self._grow(choose=LOOK)
        try:
            found = await servers.found_here()
        except self._failures as error:
            self._here = [_said(LOOK, str(error), wrong=True), _look_row()]
        else:
            rows = [row for server in found for row in _found_rows(server)]
            self._here = rows or [_said(LOOK, NOT_FOUND), _look_row()]
        self._looking = False
        self._grow(choose=next((row.key for row in self._here if row.usable), None))

    def _grow(self, *, choose: str | None = None) -> None:
        """Show what came; the mark stays at its row, and what is looked at where it is."""
        if not self.is_mounted:
            return
        rows = self.query_one(OptionList)
        at = rows.highlighted
        marked = self._shown[at].key if at is not None else None
        line = rows.scroll_offset.y
        self._fill(choose or (marked if marked != self._put else None))
        if choose is None:
            rows.scroll_to(y=line, animate=False, immediate=True)

    # The list

    @on(Input.Changed)
    def _typed(self) -> None:
        self._fill(None)

    def _fill(self, choose: str | None) -> None:
        """Show what matches; the mark is put at that row, else at the model in use, else at the first one."""
        typed = self.query_one(Input).value.casefold()
        rows = self.query_one(OptionList)
        models = [*self._own, *(row for each in self._served.values() for row in each)]
        self._shown = [row for row in (*models, *self._here) if typed in row.typed]
        if typed and not any(row.usable for row in self._shown):
            words = A_FILE if typed.endswith(".gguf") else NONE
            self._shown.insert(0, Row("none", plain(words, MUTED), ""))
        rows.clear_options()
        width = rows.scrollable_content_region.width
        rows.add_options([Option(row.drawn(width), disabled=not row.usable) for row in self._shown])
        usable = {row.key: place for place, row in reversed([*enumerate(self._shown)]) if row.usable}
        first = next(reversed(usable.values()), None)
        place = usable.get(choose or "", usable.get(self._current, first))
        rows.highlighted = place
        self._put = self._shown[place].key if place is not None and choose is None else None

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def _selected(self) -> None:
        self.action_take()

    def action_choose(self, step: int) -> None:
        rows = self.query_one(OptionList)
        usable = [place for place, row in enumerate(self._shown) if row.usable]
        if usable:
            at = usable.index(rows.highlighted) if rows.highlighted in usable else -1
            rows.highlighted = usable[(at + step) % len(usable)]

    def action_take(self) -> None:
        typed = clean(self.query_one(Input).value).strip()
        place = self.query_one(OptionList).highlighted
        row = self._shown[place] if place is not None else None
        if typed.endswith(".gguf") or row is None:
            self.dismiss(typed or None)
        elif not row.looks:
            self.dismiss(row.gives)
        elif self._servers is not None and not self._looking:
            self.run_worker(self._look(self._servers))


def _own_row(choice: Choice, current: str) -> Row:
    own = choice.name == current
    mark = "●" if own else "○" if choice.installed else "↓"
    style = "bold $primary" if own else "" if choice.installed else MUTED
    at = "on disk" if choice.installed else "to download"
    content = Content.assemble(
        plain(f"  {mark} {one_line(choice.name):<24}", style),
        plain(f" {size_of(choice.size):>7} {at}\n    ", MUTED),
        plain(one_line(choice.description), MUTED),
    )
    return Row(choice.name, content, f"{choice.name}\n{choice.description}".casefold(), choice.name)


def _served_rows(served: "Served", current: str) -> list[Row]:
    """The models of a server, or why there are none."""
    if served.error:
        return [_said(served.server, served.error, wrong=True)]
    if not served.models:
        return [_said(served.server, f"{served.server} has no model. Load one there.")]
    style = "$warning" if served.away else MUTED
    return [
        _served_row(name, name, each, plain(place(served), style), current=name == current)
        for each in served.models
        for name in (f"{each.name}@{served.server}",)
    ]


def _found_rows(server: "FoundServer") -> list[Row]:
    where = f"{server.product} at {server.host}"
    if not server.models:
        return [_said(server.address, f"{where} has no model. Load one there.")]
    added = plain(f"{where}, to be added as {server.name}", MUTED)
    return [
        _served_row(f"{server.address} {each.name}", f"{each.name}@{server.name}", each, added,
                    gives=Newcomer(server, each.name))
        for each in server.models
    ]  # fmt: skip


def _served_row(
    key: str,
    name: str,
    model: "ServedModel",
    where: Content,
    *,
    current: bool = False,
    gives: Newcomer | None = None,
) -> Row:
    context = f" · context {model.context:,}" if model.context else ""
    content = Content.assemble(
        plain(f"  {'●' if current else '○'} {one_line(name)}", "bold $primary" if current else ""),
        "\n    ",
        where,
        plain(context, MUTED),
    )
    return Row(key, content, name.casefold(), gives or name)


def _said(of: str, words: str, *, wrong: bool = False) -> Row:
    """What is to be read of a server, and cannot be chosen."""
    return Row(f"said {of}", plain(one_line(words), "$text-error" if wrong else MUTED), of.casefold())


def _look_row(words: str = PORTS) -> Row:
    content = Content.assemble(plain(f"  + {LOOK}\n    "), plain(words, MUTED))
    return Row(LOOK, content, LOOK.casefold(), looks=True)
