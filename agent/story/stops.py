"""Where a reply begins to speak for somebody else, it ends: the one who writes it is a voice of its own.

A line that begins with the name of another and a colon is that other's. What may yet become such a beginning is held
back until it is told which it is, so that nothing is shown that is taken away again.
"""

import re
from collections.abc import Sequence
from typing import Protocol

from graph.events import StopReason


class Stop(Protocol):
    """Tells of a reply, as it comes, how many characters may be shown, and whether it is over there, and why."""

    met: bool
    why: StopReason

    def kept(self, text: str, *, ended: bool = False) -> int: ...


SENTENCE = re.compile(r"(?<=[.!?…])[\"”»*]?\s")  # between two
_BEFORE = r"[ \t*_>\"“„«\[(#-]{0,6}"
_AFTER = r"[ \t*_\"”»\])]{0,6}"
_LEADING = ' \t*_>"“„«[(#-'


def called(name: str) -> list[str]:
    """What somebody of a name is called: all of it, and each word of it that is one."""
    return list(dict.fromkeys([name, *(word for word in name.split() if word[:1].isupper() and len(word) > 1)]))


class Stops:
    """Watches one reply as it comes; `names` are those whose lines it must not write, also by a part of their name.

    What is part of the speaker's `own` name too is no sign of another.
    """

    def __init__(self, names: Sequence[str], own: str = "") -> None:
        mine = {part.casefold() for part in called(own)}
        parts = dict.fromkeys(part for name in names if name.strip() for part in called(" ".join(name.split())))
        named = [part for part in parts if part.casefold() not in mine]
        listed = "|".join(re.escape(name) for name in sorted(named, key=len, reverse=True))
        self._begins = re.compile(rf"(?:^|\n){_BEFORE}(?:{listed}){_AFTER}[:：]", re.IGNORECASE) if named else None
        self._names = [name.casefold() for name in named]
        self._longest = max((len(name) for name in named), default=0) + 14
        self.met = False
        self.why = StopReason.END

    def kept(self, text: str, *, ended: bool = False) -> int:
        """How many characters of a reply, as far as it has come, are its own and may be shown."""
        found = self._begins.search(text) if self._begins is not None else None
        if found is not None:
            self.met = True
            return len(text[: found.start()].rstrip())
        if ended:
            return len(text)
        line = text.rfind("\n") + 1
        if not self._may_become(text[line:]):
            return len(text)
        return len(text[:line].rstrip()) if line else 0

    def _may_become(self, line: str) -> bool:
        """Whether a line, as far as it has come, may yet begin with one of the names and a colon."""
        if len(line) > self._longest:
            return False
        bare = line.lstrip(_LEADING).casefold()
        return any(
            name.startswith(bare) or (bare.startswith(name) and not _goes_on(bare[len(name) :])) for name in self._names
        )


def _goes_on(rest: str) -> bool:
    """Whether something follows a name that a colon can follow no more."""
    return re.fullmatch(_AFTER, rest) is None
