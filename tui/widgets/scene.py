"""The line below the title of a story's chat: where the story stands, and who is there."""

from textual.content import Content
from textual.widgets import Static

from tui.scene import bar_content
from tui.state import Scene
from tui.widgets.message import BRIEF


class SceneBar(Static):
    """Shown only where the chat plays in a story. What the title above it says already is not said twice."""

    def __init__(self) -> None:
        super().__init__("", id="scene", markup=False)
        self.display = False
        self._scene: Scene | None = None
        self._title: str | None = None

    def show(self, scene: Scene | None, title: str | None) -> None:
        """This is the scene of the chat on the screen, which is called `title`; None: it plays in no story."""
        self._scene, self._title = scene, title
        self.display = scene is not None
        self.refresh()

    def render(self) -> Content:
        if self._scene is None:
            return Content("")
        titled = self._title == self._scene.name and not self.screen.has_class("-short")
        brief = self.app.size.width < BRIEF
        return bar_content(self._scene, max(1, self.content_size.width), named=not titled, brief=brief)
