"""How relationships are shown: "Ada —works with→ Bob, since 2024"."""

from typing import TYPE_CHECKING

from tui.text import one_line

if TYPE_CHECKING:
    from graph.values import Relationship


def related(told: "Relationship") -> str:
    """How one stands to another: "Ada —works with→ Bob", with what is known of when; an end that is erased is "…"."""
    from graph.relations import kinds

    kind = kinds()[told.kind]
    label = kind.denied if not told.polarity else kind.ended if told.until is not None else kind.label
    times = [f"{word} {date}" for word, date in (("since", told.since), ("until", told.until)) if date is not None]
    arrow = f"{one_line(told.subject.name) or '…'} —{label}→ {one_line(told.object.name) or '…'}"
    return ", ".join([arrow, *times])
