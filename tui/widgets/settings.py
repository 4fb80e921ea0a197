"""The settings: each with its value, and below what it means, what it may be, and where its value comes from."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from agent.settings import Force, written
from tui.keymaps import SETTINGS, bindings, signs
from tui.text import MUTED, cut, plain, shown
from tui.widgets.foot import Foot
from tui.widgets.long_list import Rows, type_into
from tui.widgets.pages import Fold, Pages, PageText
from tui.widgets.search import SearchInput

if TYPE_CHECKING:
    from agent.settings import Setting, SettingState, Value

NAME = 23  # cells; the longest is `sampling.repeat_penalty`
VALUE = 30
SHORT_VALUE = 14  # most are no longer; beside it stands where it comes from
NARROW = 60  # cells of the list that have no room for that
CHANGED = "bold $primary"
NONE = "No matching settings."

Wanted = Callable[["SettingState"], None]


class SettingsScreen(ModalScreen[None]):
    """`change` and `reset` are called with the chosen setting; whoever changed one calls `fill` with all as they are.

    `in_use` tells the value that clew goes by now, `path` how the file is called, `text` is what is searched for at
    first.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(SETTINGS)

    def __init__(
        self,
        states: "Sequence[SettingState]",
        path: str,
        text: str = "",
        *,
        in_use: "Callable[[Setting], Value]",
        change: Wanted,
        reset: Wanted,
    ) -> None:
        super().__init__()
        self._states = tuple(states)
        self._path = path
        self._text = text
        self._in_use = in_use
        self._change = change
        self._reset = reset
        self._found: list[SettingState] = []
        self._said = False
        self._held = Content("")

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog page chooser settings"):
            yield Static(plain("Settings") + plain(f"  {self._path}", f"not bold {MUTED}"), classes="dialog-title")
            yield SearchInput(shown(self._text), placeholder="Search", compact=True)
            with Container(classes="chooser-body"):
                yield Rows(markup=False, compact=True, classes="chooser-list")
                with Vertical(classes="chooser-preview"):
                    yield Pages(Content(""), classes="chooser-words")
                    yield Fold()
            yield Static("", classes="settings-said", markup=False)
            yield Foot(signs(SETTINGS), classes="dialog-keys")

    def on_mount(self) -> None:
        self.say("")
        self.query_one(Input).focus()

    def on_resize(self) -> None:
        self._show()

    def on_key(self, event: events.Key) -> None:
        type_into(self.query_one(Input), event)

    @property
    def chosen(self) -> "SettingState | None":
        place = self.query_one(Rows).highlighted
        return self._found[place] if place is not None and place < len(self._found) else None

    def fill(self, states: "Sequence[SettingState]") -> None:
        """The settings as they are now."""
        self._states = tuple(states)
        self._show()

    def say(self, words: str, *, error: bool = False) -> None:
        """What came of it, until something else is typed or chosen."""
        self._said = bool(words)
        self._tell(plain(words, "$text-error" if error else "") if words else self._held)

    def hold(self, words: Content) -> None:
        """What goes on meanwhile: it stands where nothing else is said."""
        self._held = words
        if not self._said:
            self._tell(words)

    def _tell(self, words: Content) -> None:
        line = self.query_one(".settings-said", Static)
        line.update(words)
        line.display = bool(words.plain)

    @on(Input.Changed)
    def _typed(self) -> None:
        self.say("")
        self._show()

    def _show(self) -> None:
        before = self.chosen.setting.key if self.chosen is not None else None
        words = self.query_one(Input).value.casefold().split()
        found = [each for each in self._states if all(word in _searched(each) for word in words)]
        self._found = sorted(found, key=lambda each: not all(word in _name(each) for word in words))
        rows = self.query_one(Rows)
        rows.clear_options()
        rows.add_options([Option(_row(each, narrow=self.size.width < NARROW)) for each in self._found])
        keys = [each.setting.key for each in self._found]
        rows.highlighted = keys.index(before) if before in keys else 0 if keys else None
        if not keys:
            self.query_one(Pages).tell(PageText(plain(NONE, MUTED)))

    @on(OptionList.OptionHighlighted)
    def _moved(self) -> None:
        if self.chosen is not None:
            self.query_one(Pages).tell(PageText(about(self.chosen, self._in_use(self.chosen.setting))))

    @on(Pages.Turned)
    def _turned(self, event: Pages.Turned) -> None:
        self.query_one(Fold).show(event)

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def _entered(self) -> None:
        if self.chosen is not None:
            self.say("")
            self._change(self.chosen)

    def action_reset(self) -> None:
        if self.chosen is not None:
            self.say("")
            self._reset(self.chosen)

    def action_choose(self, step: int) -> None:
        rows = self.query_one(Rows)
        if self._found:
            self.say("")
            rows.highlighted = max(0, min(len(self._found) - 1, (rows.highlighted or 0) + step))

    def action_page(self, pages: int) -> None:
        """Further in what is said of the setting where it goes on that way, else in the list."""
        words = self.query_one(Pages)
        if words.scroll_y < words.max_scroll_y if pages > 0 else words.scroll_y > 0:
            words.turn(pages)
        else:
            self.action_choose(pages * max(1, self.query_one(Rows).size.height - 1))


def _name(state: "SettingState") -> str:
    return f"{state.setting.key} {state.setting.key.replace('_', ' ')}"


def _searched(state: "SettingState") -> str:
    return f"{_name(state)} {state.setting.meaning}".casefold()


def _row(state: "SettingState", *, narrow: bool) -> Content:
    changed = state.variable is not None or state.line is not None
    value = cut(written(state.value), VALUE) or "(empty)"
    name = plain(f"{state.setting.key:<{NAME}}  ")
    if narrow:
        return name + plain(value, CHANGED if changed else "")
    source = state.variable or ("file" if state.line is not None else "default")
    return Content.assemble(
        name, plain(f"{value:<{SHORT_VALUE}}", CHANGED if changed else ""), plain(f"  {source}", MUTED)
    )


def about(state: "SettingState", in_use: "Value") -> Content:
    """All there is to know about a setting."""
    setting = state.setting
    parts = [plain(setting.meaning), Content("")]
    if setting.choices or setting.allowed:
        parts.append(_fact("Allowed", ", ".join(setting.choices) or setting.allowed))
    parts.append(_fact("Default", written(setting.default)))
    if state.variable is not None:
        parts.append(_fact("Set by", f"the environment variable {state.variable}, which overrides the file"))
    elif state.line is not None:
        parts.append(_fact("Set in", f"config.toml, line {state.line}"))
    parts.append(_fact("Takes effect", setting.force.value))
    if setting.force is Force.LOADED and in_use != state.value:  # by `--model`, or the file was edited since
        parts.append(_fact("In use now", written(in_use)))
    if len(written(state.value)) > VALUE:
        parts += [Content(""), plain(written(state.value))]
    return Content("\n").join(parts)


def _fact(name: str, words: str) -> Content:
    return Content.assemble(plain(f"{name}: ", MUTED), plain(words))
