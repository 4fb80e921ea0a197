"""What there is about one person, place or project: what it said, who names it, and where.

Read from the log, whose speakers are the graph's SAID_BY edges: so it is answered beside the holder, too.
"""

import json
import sqlite3
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable
from contextlib import AbstractContextManager

from graph.events import MAIN_WORLD
from graph.ids import as_datetime
from graph.projection.identities import Identities
from graph.projection.paths import Paths
from graph.readings.belonging import Belongings
from graph.readings.finding import saying_whole
from graph.readings.rows import AMONG, NEWEST, TURN, session_by_id, turns_of
from graph.values import About, Entity
from graph.visibility import EVERYONE, Viewer

_ABOUT = """
SELECT said.seq, said.at, said.session, said.id, {said}
FROM turns AS said JOIN events AS event ON event.seq = said.seq
WHERE said.role <> 'tool' AND event.text IS NOT NULL AND NOT said.hidden AND NOT said.deleted AND NOT said.withheld
AND said.seq IN (
    SELECT said.seq FROM turns AS said WHERE {said}
    UNION ALL
    SELECT named.seq FROM links JOIN turns AS named ON named.id = links.start WHERE links.rel = 'MENTIONS' AND {named}
    UNION ALL
    SELECT seq FROM turns WHERE session IN (SELECT value FROM json_each(:sessions))
    UNION ALL
    SELECT value FROM json_each(:naming)
)
"""


def speakers(db: sqlite3.Connection) -> list[str]:
    """Everyone who ever said something, in alphabetical order."""
    return [name for (name,) in db.execute("SELECT id FROM entities WHERE noted_seq IS NULL ORDER BY id")]


def about(db: sqlite3.Connection, name: str, *, limit: int, world: str, project: Viewer = EVERYONE) -> About:
    """What a world, and there a chat of a project, sees of, or by, whoever or whatever has this name, in any case.

    The newest turns come first.
    """
    wanted, belongings, who = " ".join(name.split()), Belongings(db), Identities(db, world)
    meant = who.called(wanted)
    told = who.told(meant)
    named, sessions = _project(db, wanted)
    sessions = [session for session in sessions if belongings.open_to(project, session)]
    saying = saying_whole(db, _words(who, meant, wanted))
    values = {**told.values(), "sessions": json.dumps(sessions), "naming": json.dumps(saying)}
    said_by, naming = told.condition("said.speaker", "said.id"), told.condition("links.key", "links.start")
    paths = Paths(db)
    found = db.execute(_ABOUT.format(said=said_by, named=naming), values).fetchall()
    rows = [row for row in found if belongings.open_to(project, row[2]) and paths.sees(row[3], world)]
    rows.sort(key=lambda row: (row[1], row[0]), reverse=True)
    said = sum(row[4] for row in rows)
    if project is not EVERYONE:  # that somebody speaks elsewhere is not told either
        meant, named = (meant if said else []), (named if sessions else None)
    known = who.entity(meant[0]) if meant and (rows or meant[0] in speakers(db)) else None
    counted = Counter(row[2] for row in rows)
    newest = json.dumps([row[0] for row in rows[: max(limit, 0)]])
    query = f"{TURN} WHERE said.seq {AMONG} {NEWEST}"
    return About(
        name=known.name if known is not None else named or wanted,
        kind=known.kind if known is not None else "project" if named is not None else "word",
        said=said,
        mentioned=len(rows) - said,
        first_at=as_datetime(rows[-1][1]) if rows else None,
        last_at=as_datetime(rows[0][1]) if rows else None,
        sessions=tuple((id, session_by_id(db, id).name, count) for id, count in counted.most_common()),
        turns=tuple(turns_of(db, db.execute(query, (newest,)))),
    )


def _project(db: sqlite3.Connection, name: str) -> tuple[str | None, list[str]]:
    """The project of that name as it is written, and its sessions."""
    rows = db.execute("SELECT id, project FROM sessions WHERE project IS NOT NULL ORDER BY seq")
    found = [(id, project) for id, project in rows if project.casefold() == name.casefold()]
    return (found[0][1] if found else None), [id for id, _ in found]


def _words(who: Identities, meant: list[str], wanted: str) -> list[str]:
    """What to look for in what was said: all that those are called who are meant, and nobody else is."""
    called = {each for id in meant for each in (who.entity(id).name, *who.entity(id).others)}
    return sorted(each for each in called - {""} if set(who.called(each)) <= set(meant)) if meant else [wanted]


_MADE_OF = """
WITH chosen (id) AS (SELECT value FROM json_each(:items)),
series (id) AS (SELECT own.id FROM observations AS own WHERE own.series IN (
    SELECT series FROM observations WHERE id IN (SELECT id FROM chosen)
))
SELECT links.start FROM links WHERE links.rel = 'DERIVED_FROM' AND links.target IN (SELECT id FROM chosen)
AND NOT EXISTS (
    SELECT 1 FROM links AS other WHERE other.start = links.start AND other.rel = 'DERIVED_FROM'
    AND other.target NOT IN (SELECT id FROM chosen)
)
UNION SELECT id FROM series
UNION SELECT links.target FROM links JOIN turns ON turns.id = links.target
WHERE links.rel = 'DERIVED_FROM' AND turns.role = 'note' AND links.start IN (SELECT id FROM series)
"""


_NOTING = """
SELECT links.start FROM links JOIN events AS noted ON noted.seq = links.seq
WHERE links.rel = 'MENTIONS' AND links.target = :entity AND noted.text IS NOT NULL ORDER BY links.seq DESC
"""


class Entities(ABC):
    """The questions about entities, for whoever can take a snapshot of the log."""

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[sqlite3.Connection]:
        """A reading connection of one's own, in one snapshot of the log. For this package only."""

    def entities(self, names: Iterable[str], *, world: str = MAIN_WORLD) -> dict[str, str]:
        """The ids of those names that an entity has, in any case of letters, or an id: of whom they tell.

        Of several who have one, a speaker, or who was named last. An alias tells an entity of its own.
        """
        return {name: told for name, (told, _) in self._found(names, world).items()}

    def meant(self, names: Iterable[str], *, world: str = MAIN_WORLD) -> dict[str, str]:
        """The same: the ids of whom a world means by those names."""
        return {name: meant for name, (_, meant) in self._found(names, world).items()}

    def _found(self, names: Iterable[str], world: str) -> dict[str, tuple[str, str]]:
        wanted, found = list(names), dict[str, tuple[str, str]]()
        with self.snapshot() as db:
            who = Identities(db, world)
            called = who.lookup(wanted)
            for name in wanted:
                there = called.get(" ".join(name.split()).casefold(), {})
                if (one := who.one_of(list(there))) is not None:
                    found[name] = there[one], one
        return found

    def called(self, name: str, *, world: str = MAIN_WORLD) -> list[Entity]:
        """All that have a name or an alias in a world, in any case, or an id."""
        with self.snapshot() as db:
            who = Identities(db, world)
            return [who.entity(id) for id in who.called(name)]

    def told_apart(self, name: str, *, world: str = MAIN_WORLD) -> list[Entity]:
        """Those who have one name in a world and whom a person told apart; nobody where it means one."""
        with self.snapshot() as db:
            who = Identities(db, world)
            ids = who.called(name)
            return [who.entity(id) for id in ids] if who.are_told_apart(ids) else []

    def names(self, entities: Iterable[str], *, world: str = MAIN_WORLD) -> dict[str, str]:
        """What a world calls entities that have a name, by their ids; also those that are the same as others."""
        with self.snapshot() as db:
            return Identities(db, world).names(entities)

    def naming(self, entity: str, *, world: str = MAIN_WORLD) -> set[str]:
        """The turns and observations that mean an entity in a world: that it says, or that name it."""
        with self.snapshot() as db:
            told = Identities(db, world).told([entity])
            values = told.values()
            said = db.execute(f"SELECT id FROM turns WHERE {told.condition('speaker', 'id')}", values)
            links = f"SELECT start FROM links WHERE rel IN ('MENTIONS', 'ABOUT') AND {told.condition('key', 'start')}"
            return {id for (id,) in [*said, *db.execute(links, values)]}

    def noted(self, entity: str, turns: Iterable[str]) -> tuple[bool, str | None, str | None]:
        """Whether one of some turns notes the name of an entity; the last turn that does, and what it is called.

        Only names that are not erased count.
        """
        with self.snapshot() as db:
            found = [start for (start,) in db.execute(_NOTING, {"entity": entity})]
            name = Identities(db).noted(entity) if found else None
        return not set(found).isdisjoint(turns), found[0] if found else None, name

    def made_of(self, items: Iterable[str]) -> set[str]:
        """The observations that were made of some turns and no others; all revisions of some, with what states them."""
        listed = json.dumps(list(items))
        with self.snapshot() as db:
            return {id for (id,) in db.execute(_MADE_OF, {"items": listed})}

    def everyone(self, *, world: str = MAIN_WORLD) -> list[Entity]:
        """All people, places and things that a world knows, by name."""
        with self.snapshot() as db:
            return Identities(db, world).everyone()

    def told_of(self, observations: Iterable[str]) -> list[str]:
        """The ids of the entities that some observations are about, in order."""
        query = f"SELECT DISTINCT target FROM links WHERE rel = 'ABOUT' AND start {AMONG} ORDER BY target"
        with self.snapshot() as db:
            return [entity for (entity,) in db.execute(query, (json.dumps(list(observations)),))]

    def judged(self, turns: Iterable[str]) -> dict[str, int]:
        """The significance of those of the turns that have one."""
        query = f"SELECT id, significance FROM turns WHERE significance IS NOT NULL AND id {AMONG}"
        with self.snapshot() as db:
            return dict(db.execute(query, (json.dumps(list(turns)),)).fetchall())
