"""Story events and threads: what is planned, what goes on, what is over, and what of it stays.

A plot is some lines of the stage, `plot:ID`. Its props live and die with it: of a plot that is over nothing stays but
what is taken out of it by hand: an object into somebody's inventory, a fact somebody knows, a change of how two stand
to each other.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile, takewhile
from typing import Literal

from agent.errors import AgentError
from agent.story.play import Play
from graph.values import Member
from graph.whole_words import STOP, fold, words_in

PLOT = "plot:"  # before a plot's id, as an owner
Sort = Literal["event", "thread"]
PLANNED, ACTIVE, COMPLETED, CANCELLED, EXPIRED = "planned", "active", "completed", "cancelled", "expired"
STAYS = ("inventory", "fact:")  # what begins the aspects in which something of a plot is kept
OVER = (COMPLETED, CANCELLED, EXPIRED)
TEXTS = ("title", "trigger", "needs", "on_start", "on_complete", "props", "significance", "known")
MOVES = {
    PLANNED: (ACTIVE, CANCELLED, EXPIRED),
    ACTIVE: (COMPLETED, CANCELLED, EXPIRED),
}  # what a plot may become


@dataclass(frozen=True, slots=True)
class Plot:
    """An event or a thread. `props` are things that are there as long as it goes on, parted by commas.

    `known` are the members who know of it, by their ids; nobody named: everybody.
    """

    id: str
    sort: Sort
    title: str
    state: str = PLANNED
    trigger: str = ""
    needs: str = ""
    on_start: str = ""
    on_complete: str = ""
    props: tuple[str, ...] = ()
    significance: int = 0
    known: tuple[str, ...] = ()
    seq: int = 0  # of the last line that changed it

    @property
    def over(self) -> bool:
        return self.state in OVER


def plots_of(play: Play) -> list[Plot]:
    """The plots of a play, in the order in which they were noted."""
    owners = dict.fromkeys(line.owner for line in play.history if line.owner.startswith(PLOT))
    return [_plot(play, owner) for owner in owners if play.text(owner, "title")]


def plot_by(play: Play, id: str) -> Plot:
    """One of them, by its id or the beginning of its title, in any case. Raises AgentError."""
    every = plots_of(play)
    folded = " ".join(id.split()).casefold()
    found = [each for each in every if each.id == id] or [
        each for each in every if folded and each.title.casefold().startswith(folded)
    ]
    if len(found) != 1:
        many = "Several plots are" if found else "No plot is"
        raise AgentError(f"{many} called “{id}”. Nothing was changed. The plan lists them (Ctrl+T, 4).")
    return found[0]


def moved(plot: Plot, state: str) -> str:
    """A state that a plot may come to. Raises AgentError."""
    if state not in MOVES.get(plot.state, ()):
        raise AgentError(f"“{plot.title}” is {plot.state} and cannot become {state}. Nothing was changed.")
    return state


def told_of(play: Play, voice: Member) -> Iterator[tuple[str, int, str]]:
    """What a voice is told of the plots that go on and that it knows of: owner, number and words."""
    for plot in plots_of(play):
        if plot.state == ACTIVE and (not plot.known or voice.id in plot.known):
            props = f" There: {', '.join(plot.props)}." if plot.props else ""
            begun = f" {plot.on_start}" if plot.on_start else ""
            kind = "Going on" if plot.sort == "event" else "Open"
            end = "" if plot.title[-1:] in ".!?…" else "."
            yield f"{PLOT}{plot.id}", plot.seq, f"{kind}: {plot.title}{end}{begun}{props}"


def spent(play: Play, keeper: str | None = None) -> list[tuple[str, ...]]:
    """The words of each prop of plots that are over, folded, with those it is called by last: nothing carries them on.

    Words that say little, and names of the cast, are none of them. What a `keeper` carries or knows is not spent for
    that member.
    """
    own = (line for (owner, aspect), line in play.lines.items() if owner == keeper and aspect.startswith(STAYS))
    kept = fold("\n".join(line.text or "" for line in own))
    silent = STOP.union(*(words_in(each.name) for each in play.cast))
    props = (prop for plot in plots_of(play) if plot.over for prop in plot.props if fold(prop) not in kept)
    return [words for prop in props if (words := _telling(words_in(prop), silent))]


def _telling(words: Sequence[str], silent: Collection[str]) -> tuple[str, ...]:
    """The words that tell, as far as they stand together: of "the letter from Jonas" the letter."""
    begun = list(dropwhile(silent.__contains__, words))
    return tuple(takewhile(lambda word: word not in silent, begun))


def _plot(play: Play, owner: str) -> Plot:
    def text(aspect: str) -> str:
        return play.text(owner, aspect)

    rated = text("significance")
    return Plot(
        owner.removeprefix(PLOT),
        "thread" if text("sort") == "thread" else "event",
        text("title"),
        text("state") or PLANNED,
        text("trigger"),
        text("needs"),
        text("on_start"),
        text("on_complete"),
        tuple(prop.strip() for prop in text("props").split(",") if prop.strip()),
        int(rated) if rated in ("0", "1", "2", "3") else 0,
        tuple(text("known").split()),
        max(line.seq for line in play.history if line.owner == owner),
    )
