"""What a change does, in words: each kind of item with its number, and the very items below it.

The same for the commands and for the dialogs of the chat. Every line is safe to show.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tui.reasons import who
from tui.text import one_line

if TYPE_CHECKING:
    from graph.values import Impact, Observation, Turn, WorldImpact

MOST = 20  # items of a kind that are shown
LONGEST = 100  # characters of an item
NOTHING = "Nothing else changes."
LEFT = ("will be removed", "will be removed here and kept in other chats")  # as it erases nothing, or something


def lines_of(impact: "Impact", *, most: int = MOST) -> list[str]:
    """A change in words, a line each: what of every kind, then up to `most` of the items, indented."""
    told: list[str] = []
    for head, items in _sections(impact):
        told.append(head)
        told += [f"  {item}" for item in items[:most]]
        if len(items) > most:
            told.append(f"  … and {len(items) - most} more")
    return told or [NOTHING]


def summary_of(impact: "Impact") -> str:
    """All of a change without the items, for where there is no room for them: `2 messages will be removed; …`."""
    heads = "; ".join(head.removesuffix(":") for head, _ in _sections(impact))
    return f"{heads}." if heads else NOTHING


def many(count: int, what: str) -> str:
    """A number of things: `1 memory`, `2 memories`, `3 replies`."""
    if count == 1:
        return f"1 {what}"
    return f"{count} {what[:-1] + 'ies' if what.endswith('y') else what + 's'}"


def as_json(impact: "Impact") -> dict[str, object]:
    """A change for programs: ids and texts."""
    return {
        "erases": impact.erases,
        "gone": [_turn_json(turn) | {"erased": impact.erases and turn.id not in impact.kept} for turn in impact.gone],
        "back": [_turn_json(turn) | {"text": turn.text} for turn in impact.back],
        "lost": [_memory_json(each) for each in impact.lost],
        "fallen_back": [
            {"from": _memory_json(form), "to": _memory_json(earlier)} for form, earlier in impact.fallen_back
        ],
        "returning": [_memory_json(each) for each in impact.returning],
        "weaker": [_memory_json(each) for each in impact.weaker],
        "pins": list(impact.pins),
        "references": [_turn_json(turn) for turn in impact.references],
        "quoting": [_turn_json(turn) for turn in impact.quoting],
        "backups": list(impact.backups),
        "world": impact.world,
        "erased": [_memory_json(each) for each in impact.erased],
        "elsewhere": [
            {
                "world": each.world,
                "name": each.name,
                "lost": [_memory_json(form) for form in each.lost],
                "fallen_back": [
                    {"from": _memory_json(form), "to": _memory_json(earlier)} for form, earlier in each.fallen_back
                ],
                "returning": [_memory_json(form) for form in each.returning],
            }
            for each in impact.elsewhere
        ],
    }


def _sections(impact: "Impact") -> Iterable[tuple[str, Sequence[str]]]:
    """What there is to say, each with its items; kinds of which there is nothing are left out."""
    erased_turns = [turn for turn in impact.gone if impact.erases and turn.id not in impact.kept]
    left = [turn for turn in impact.gone if not impact.erases or turn.id in impact.kept]
    goes, comes, stays = _told(impact)
    erased = {each.id for each in impact.erased}
    in_use = {each.id for each in impact.lost} | {form.id for form, _ in impact.fallen_back}
    beside = [each for each in impact.erased if each.id not in in_use]
    found: list[tuple[str, Sequence[str]]] = [
        (_head(erased_turns, "message", "will be deleted"), [_turn(turn) for turn in erased_turns]),
        (_head(left, "message", LEFT[impact.erases]), [_turn(turn) for turn in left]),
        (
            _head(impact.back, "message", "will be unhidden"),
            [_turn(turn, hidden=True) for turn in impact.back],
        ),
        _memories([each for each in goes if each.id in erased], "will be deleted"),
        _memories([each for each in goes if each.id not in erased], "will no longer be used"),
        _fallen_back(impact),
        _memories(comes, "will be used again"),
        _memories(stays, "will stay, with less proof"),
        _memories(beside, "that no longer applied will be deleted too"),
        *(section for each in impact.elsewhere for section in _elsewhere(each)),
        (_head(impact.pins, "pin", "will be removed"), _pins(impact)),
        (
            _head(impact.references, "reply", "that used this will stay"),
            [_turn(turn) for turn in impact.references],
        ),
        (
            _head(impact.quoting, "later message", "with the same words will stay"),
            [_turn(turn) for turn in impact.quoting],
        ),
        (
            _head(impact.backups, "backup", "elsewhere will still contain it"),
            [one_line(path) for path in impact.backups],
        ),
    ]
    return [(head, items) for head, items in found if items]


def _told(impact: "Impact | WorldImpact") -> "tuple[list[Observation], list[Observation], list[Observation]]":
    """What goes, what comes, and what stays with less proof; the same words never go and come."""
    again = {each.text for each in impact.returning if each.text} & {each.text for each in impact.lost}
    goes = [each for each in impact.lost if each.text not in again]
    comes = [each for each in impact.returning if each.text not in again]
    stays = {each.text: each for each in impact.lost if each.text in again}  # once, however many say it
    return goes, comes, [*getattr(impact, "weaker", ()), *stays.values()]


def _elsewhere(impact: "WorldImpact") -> Iterable[tuple[str, Sequence[str]]]:
    """What changes in another world, each head with its name before it."""
    goes, comes, stays = _told(impact)
    where = "In the main world" if impact.world == "main" else _of_what_if(impact)
    for head, items in (
        _memories(goes, "will no longer be used"),
        _fallen_back(impact),
        _memories(comes, "will be used again"),
        _memories(stays, "will stay, with less proof"),
    ):
        yield f"{where}: {head}", items


def _of_what_if(impact: "WorldImpact") -> str:
    return f"In the what-if “{_cut(impact.name)}”" if impact.name else "In an unnamed what-if"


def _memories(memories: "Sequence[Observation]", becomes: str) -> tuple[str, Sequence[str]]:
    return _head(memories, "memory", becomes), [_memory(each) for each in memories]


def _fallen_back(impact: "Impact | WorldImpact") -> tuple[str, Sequence[str]]:
    return (
        _head(impact.fallen_back, "memory", "will go back to an earlier version"),
        [f"{_memory(form)} → {_memory(earlier)}" for form, earlier in impact.fallen_back],
    )


def _head(items: Sequence[object], what: str, becomes: str) -> str:
    return f"{many(len(items), what)} {becomes}:"


def _turn(turn: "Turn", *, hidden: bool = False) -> str:
    """Who said what; the words of a `hidden` message only where it comes back."""
    speaker = who(turn.role, turn.speaker)
    if turn.text is None:
        return f"{speaker}: (erased)"
    return f"{speaker}: {'(hidden)' if turn.hidden and not hidden else _cut(turn.text)}"


def _memory(memory: "Observation") -> str:
    return f"“{_cut(memory.text)}”" if memory.text is not None else "(erased)"


def _pins(impact: "Impact") -> list[str]:
    """The pinned items by their words."""
    named = {turn.id: _turn(turn) for turn in impact.gone} | {each.id: _memory(each) for each in impact.lost}
    return [named.get(id, one_line(id)) for id in impact.pins]


def _cut(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def _turn_json(turn: "Turn") -> dict[str, object]:
    return {
        "id": turn.id,
        "session": turn.session,
        "role": turn.role,
        "speaker": turn.speaker,
        "text": None if turn.hidden else turn.text,
    }


def _memory_json(memory: "Observation") -> dict[str, object]:
    return {"id": memory.id, "series": memory.series, "text": memory.text, "status": memory.status}
