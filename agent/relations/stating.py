"""What a person types to relate two: "Ada works_with Bob since 2024", "Bob not trusts Ada", "me lives in Lisbon"."""

import re

from agent.errors import AgentError
from agent.relations.relating import ME, YOU, Stated
from graph.relations import DATE, kinds

USAGE = "For example: Ada works_with Bob since 2024. `clew relations --kinds` lists the kinds."
_TIMES = re.compile(r"\s+(?P<which>since|until)\s+(?P<date>\d\S*)\s*$", re.I)
_NOT = re.compile(r"\s+not$", re.I)


def read(text: str) -> Stated:
    """Who stands how to whom. Raises AgentError for what is no relationship."""
    said, times = " ".join(text.split()).rstrip("."), dict[str, str]()
    while (found := _TIMES.search(said)) is not None:
        times[found["which"].lower()] = found["date"]
        said = said[: found.start()]
    for words, kind, flipped in _ways():
        match = re.search(rf"(?<=\s){re.escape(words)}(?=\s)", said, re.I)
        if match is not None:
            before, after = said[: match.start()].strip(), said[match.end() :].strip()
            polarity = _NOT.search(f" {before}") is None
            subject = _NOT.sub("", f" {before}").strip()
            return stated(after if flipped else subject, kind, subject if flipped else after, polarity, **times)
    raise AgentError(f"That names no kind of relationship between two. Nothing was stored. {USAGE}")


def stated(
    subject: str, kind: str, object: str, polarity: bool = True, *, since: str | None = None, until: str | None = None
) -> Stated:
    """The same from its parts; a kind may be written with blanks. Raises AgentError."""
    name, flipped = next(
        ((name, turned) for words, name, turned in _ways() if words.casefold() == " ".join(kind.split()).casefold()),
        ("", False),
    )
    if not name:
        raise AgentError(f"There is no kind of relationship “{kind[:40]}”. Nothing was stored. {USAGE}")
    ends = [_end(object), _end(subject)] if flipped else [_end(subject), _end(object)]
    if not all(ends):
        raise AgentError(f"A relationship has someone at both ends. Nothing was stored. {USAGE}")
    if ends[0].casefold() == ends[1].casefold():
        raise AgentError(f"Both ends are {ends[0]}. Nothing was stored. A relationship is between two.")
    for date in (since, until):
        if date is not None:
            checked(date)
    if since is not None and until is not None and since[: len(until)] > until[: len(since)]:
        raise AgentError(f"It cannot end ({until}) before it begins ({since}). Nothing was stored.")
    return Stated(ends[0], name, ends[1], since, until, polarity)


def checked(date: str) -> str:
    """A day, a month or a year. Raises AgentError for what is none."""
    if not DATE.fullmatch(date):
        raise AgentError(
            f"“{date[:20]}” is no day, month or year. Nothing was stored. Write 2026-10-14, 2026-10 or 2026."
        )
    return date


def _end(name: str) -> str:
    plain = " ".join(name.split()).strip("“”\"'")
    return YOU if plain.casefold() in ME else plain


def _ways() -> list[tuple[str, str, bool]]:
    """How each kind can be written, the longest first, and whether that is from the other end."""
    ways = [(name, name, False) for name in kinds()]
    for name, kind in kinds().items():
        for label, flipped in ((kind.label, False), (kind.inverse, not kind.symmetric)):
            bare = re.sub(r"^(?:is|has) ", "", label)
            ways += [(label, name, flipped), (bare, name, flipped)]
        ways.append((name.replace("_", " "), name, False))
    return sorted(ways, key=lambda way: -len(way[0]))
