"""What the beginning of a story says of place, time, weather and who is where, to be confirmed and set on its stage."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.content import Content

from tui.keymaps import KICKOFF, bindings
from tui.scene import WORLD, YOU
from tui.text import MUTED, cut, plain
from tui.widgets.long_list import LongList

if TYPE_CHECKING:
    from agent.face import Face
    from agent.story.kickoff import Activity

LABELS = {"place": "Place", "clock": "Time", "weather": "Weather"}
MET = "met"  # whether host and guest are strangers, as the story begins
LONGEST = 200  # characters of a value that are shown


@dataclass(frozen=True, slots=True)
class Beginning:
    """Where a story starts, in prose, and the names of who plays by their seats."""

    prose: str
    names: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """Something that the beginning says, to be set on the stage: of the world, or of whoever has a seat."""

    owner: str
    aspect: str
    label: str
    value: str

    @property
    def key(self) -> str:
        return f"{self.owner}.{self.aspect}"


class Settings(LongList[Setting]):
    """What was read of where a story starts; what is ticked is set when it begins."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(KICKOFF)

    def __init__(self) -> None:
        super().__init__(_setting_row, lambda each: each.key, height=1, ticks=True, classes="story-settings")
        self._left: set[str] = set()  # that are not to be set

    def offer(self, settings: Sequence[Setting]) -> None:
        """These were read; all are ticked but those that were not to be."""
        self.marks = {each.key for each in settings} - self._left
        self.styles.height = len(settings)
        self.fill(settings)

    @property
    def ticked(self) -> list[Setting]:
        return [each for each in self.items if each.key in self.marks]

    def action_tick(self) -> None:
        if self.chosen is not None:
            self._left ^= {self.chosen.key}
            self.marks ^= {self.chosen.key}
            self.redraw()


def _setting_row(setting: Setting, width: int) -> Sequence[Content]:
    return [plain(f"{setting.label}: ", MUTED) + plain(cut(setting.value, LONGEST))]


async def read_settings(beginning: Beginning) -> list[Setting]:
    """What the prose says, in another thread."""
    return await asyncio.to_thread(settings_in, beginning)


def settings_in(beginning: Beginning) -> list[Setting]:
    """What the prose says of place, time and weather, and of what each does who plays.

    Where in the place somebody is belongs to that: who is there hears the others, also from the window.
    """
    from agent.story.kickoff import parse
    from agent.story.names import Named
    from agent.story.stops import called

    names = dict(beginning.names)
    read = parse(beginning.prose, [Named(seat, tuple(called(name))) for seat, name in names.items()], you=YOU)
    of_world = {"place": read.place, "clock": read.clock or read.daytime, "weather": read.weather}
    found = [
        Setting(WORLD, aspect, LABELS[aspect], each.value) for aspect, each in of_world.items() if each is not None
    ]
    does = {each.id: each.where for each in read.people} | {each.id: _doing(each, names) for each in read.activities}
    found += [Setting(id, "posture", names[id], doing) for id, doing in does.items() if doing]
    if read.met is False and len(names) > 2:
        found.append(Setting(WORLD, MET, "They have not met", f"{names['guest']} is away at first"))
    return found


def _doing(activity: "Activity", names: Mapping[str, str]) -> str:
    """What somebody does in the beginning, without their name; empty where the sentence does not begin with it."""
    from agent.story.stops import called

    said = activity.sentence.strip().rstrip(".!")
    named = (each for each in called(names[activity.id]) if said.casefold().startswith(f"{each.casefold()} "))
    return said[len(name) + 1 :] if (name := next(named, None)) is not None else ""


async def put_on_stage(service: "Face", session: str, settings: Sequence[Setting]) -> None:
    """Set them from the beginning on. Raises AgentError."""
    members: dict[str, str] = {each.seat: each.member for each in await service.stories.cast(session)}
    for each in settings:
        if each.aspect == MET:
            continue  # that was so when it began
        await service.stories.put(session, members.get(each.owner, each.owner), each.aspect, each.value)
