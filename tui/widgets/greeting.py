"""What an empty chat shows: the name, the promise, and the three keys one needs."""

from textual.content import Content
from textual.widgets import Static

from tui.text import MUTED

NAME = "┌─┐ ┬   ┌─┐ ┬ ┬\n│   │   ├┤  │││\n└─┘ ┴─┘ └─┘ └┴┘"


class Greeting(Static):
    """Leaves when the first message comes."""

    def __init__(self) -> None:
        words = Content.assemble(
            (NAME, "$primary"),
            "\n\n",
            ("A chat that remembers. Everything stays on this computer.", "$foreground"),
            "\n\n",
            ("Enter", "bold"),
            (" sends    ", MUTED),
            ("/", "bold"),
            (" commands    ", MUTED),
            ("F1", "bold"),
            (" help", MUTED),
        )
        super().__init__(words, classes="greeting", markup=False)
