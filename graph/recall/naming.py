"""Whom a question names: people, places and things by their names, and by what they are called to somebody.

Invariants: names are read from the log, where they can be erased, and read anew when one is noted or erased. Not
thread-safe: whoever recalls holds the lock of `Recall`.
"""

import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from unicodedata import normalize

from graph.projection.identities import Identities
from graph.recall.columns import Columns
from graph.values import CalledBy, Entity
from graph.whole_words import STOP, UNSPACED, fold, is_name, words_in

LONGEST = 2_000  # characters of a question in which names are looked for
WORDS = 5  # of the longest name that is looked for
MOST = 4  # seeds of one question
YOU = "you"
NOBODY = frozenset((YOU, "assistant"))

_WORD = re.compile(r"[^\W_]+")
_NOTED = "SELECT coalesce(max(seq), 0) FROM events WHERE kind <> 'turn.said' AND kind = ?"
CHANGING_BY_HAND = (
    *("entity.named", "entity.kinded", "entity.aliased", "entity.merged", "entity.split"),
    *("undone", "text.erased"),
)


@dataclass(frozen=True, slots=True)
class Seed:
    """An entity that a question means, and the words by which it does, in lower case.

    With a `word` it is whoever is called so by the entity, over a relationship of a kind.
    """

    entity: str
    words: tuple[str, ...]
    called: CalledBy | None = None


class NameIndex:
    """The names of all entities of one log, by their words."""

    def __init__(self) -> None:
        self._at: tuple[int, ...] = ()
        self._ids: dict[tuple[str, ...], list[str]] = {}
        self._unspaced: dict[str, str] = {}
        self.names: dict[str, str] = {}  # by id

    def refresh(self, db: sqlite3.Connection, columns: Columns) -> None:
        """Bring the names to where a snapshot of the log is."""
        at = (len(columns.speakers), *last_changes(db, "entity.noted", *CHANGING_BY_HAND))
        if at == self._at:
            return
        self._at = at
        self.take(Identities(db).everyone())

    def take(self, everyone: Sequence[Entity]) -> None:
        """Have the names of these entities, and of nobody else."""
        self.names = {each.id: each.name for each in everyone if each.name}
        self._ids, self._unspaced = {}, {}
        for each in everyone:
            for name in filter(None, (each.name, *each.others)):
                words = tuple(words_in(name))
                if each.id not in NOBODY and 0 < len(words) <= WORDS:
                    self._ids.setdefault(words, []).append(each.id)
                if UNSPACED.search(name):
                    self._unspaced[name] = each.id

    def seeds(self, question: str, kin: Sequence[CalledBy]) -> list[Seed]:
        """The entities that a question means, the longest names first; bounded."""
        text = normalize("NFC", question[:LONGEST])
        found = [seed for called in kin if (seed := self._called(called)) is not None]
        said = [(match, fold(match[0])) for match in _WORD.finditer(text)]
        taken: set[int] = set()
        for size in range(min(WORDS, len(said)), 0, -1):
            for start in range(len(said) - size + 1):
                places = range(start, start + size)
                words = tuple(low for _, low in said[start : start + size])
                if words in self._ids and not taken & {*places} and not _is_common(text, said[start][0], words):
                    taken |= {*places}
                    found += [Seed(id, words) for id in self._ids[words]]
        found += [Seed(id, ()) for name, id in self._unspaced.items() if name in text]
        return list({(seed.entity, seed.called): seed for seed in found}.values())[:MOST]

    def _called(self, called: CalledBy) -> Seed | None:
        owner = tuple(words_in(called.owner))
        known = (self._ids[owner[at:]] for at in range(len(owner)) if owner[at:] in self._ids)  # "Is Ada's boss …"
        ids = [YOU] if called.owner == YOU else next(known, [])
        words = tuple(words_in(called.word))
        return Seed(ids[0], words, called) if len(ids) == 1 else None


def last_changes(db: sqlite3.Connection, *kinds: str) -> tuple[int, ...]:
    """The last event of each of some kinds, 0 where there is none."""
    return tuple(db.execute(_NOTED, (kind,)).fetchone()[0] for kind in kinds)


def _is_common(text: str, found: re.Match[str], words: tuple[str, ...]) -> bool:
    """Whether a name is also a word that says little, or a month, and is written as that: "will you", "in May"."""
    if len(words) > 1:
        return False
    return not is_name(text, found) if found[0][0].isupper() else words[0] in STOP
