"""The way from a memory down to the words that prove it, step by step, on a page over the graph."""

from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from graph.walk.subgraphs import ProofStep, Ref
from tui.keymaps import PROOF
from tui.keys import bindings, signs
from tui.nodes import words
from tui.text import MUTED, one_line, plain
from tui.widgets.dialogs import Reader
from tui.widgets.foot import Foot
from tui.widgets.long_list import LongList

DEEPEST = 12  # columns that steps are set in at most
RecallPath = tuple[Ref, bool]  # a node, and whether to walk to it or to show it where it is at home


class ProofScreen(ModalScreen[RecallPath | None]):
    """Chooses a step: a message is shown in its chat, anything else is walked to."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(PROOF)

    def __init__(self, steps: Sequence[ProofStep], worlds: words.Worlds) -> None:
        super().__init__()
        self._steps = steps
        self._worlds = worlds

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog page"):
            yield Static("Proof", classes="dialog-title", markup=False)
            yield LongList[ProofStep](self._row, lambda step: str(step.node.ref), classes="page-body")
            yield Foot(signs(PROOF), classes="dialog-keys")

    def on_mount(self) -> None:
        rows = self.query_one(LongList)
        rows.fill(self._steps)
        rows.focus()

    def _row(self, step: ProofStep, width: int) -> Sequence[Content]:
        lead = "  " * min(step.depth, DEEPEST)
        relation = words.relation_of(step.relation, outgoing=True) if step.relation else "this memory"
        now = datetime.now().astimezone()
        first, second = words.told(step.node, step.words, width, now, self._worlds)
        return [Content.assemble(lead, plain(relation, "bold $secondary"), "  ", first), Content(lead) + second]

    @property
    def _chosen(self) -> ProofStep | None:
        found: ProofStep | None = self.query_one(LongList).chosen
        return found

    @on(LongList.Chosen)
    def _enter(self) -> None:
        step = self._chosen
        if step is not None:
            self.dismiss((step.node.ref, step.node.ref.table != "Turn"))

    def action_walk(self) -> None:
        step = self._chosen
        if step is not None:
            self.dismiss((step.node.ref, True))

    def action_read(self) -> None:
        step = self._chosen
        if step is None:
            return
        text = step.words or str(step.node.details.get("text") or step.node.title)
        if text:
            self.app.push_screen(Reader(one_line(words.NOUNS.get(step.node.ref.table, ("", ""))[0]).capitalize(), text))
        else:
            self.app.push_screen(Reader("Words", plain("Its proof is hidden or deleted.", MUTED)))
