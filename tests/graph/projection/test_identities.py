"""Who is who: tables and graph say of main what people said by hand, and a what-if says what it knows of that."""

import json

from hypothesis import given

from graph.events import EntityChange, EntityNoted, ObservationMade, RelationNoted
from graph.memory import Memory
from graph.projection.identities import Identities
from tests.examples import histories
from tests.graph.conftest import fresh
from tests.graph.lessons import LESSONS, Lessons, taught
from tests.graph.projection.test_belief_histories import of
from tests.graph.projection.test_rebuild_equals_live import folded
from tests.graph.who import Who


def told(memory: Memory) -> set[tuple[str, str, str]]:
    """Relationship, item and entity, as each was told, of all that still has its words."""
    found: set[tuple[str, str, str]] = set()
    for stored in memory._reader.events(limit=1000):
        match stored.event:
            case EntityNoted(by_turn=turn, entity=entity):
                found.add(("MENTIONS", turn, entity))
            case ObservationMade(observation=id, about=about):
                found |= {("ABOUT", id, entity) for entity in about}
            case RelationNoted(observation=id) as event if event.relation is not None:
                found |= {("ABOUT", id, end) for end in (event.relation.subject, event.relation.object)}
    return found


_EVERY = "SELECT e.value, i.value FROM json_each(:ids) AS e, json_each(:items) AS i WHERE {}"


def said_by_hand(memory: Memory, lessons: Lessons) -> Who:
    """Store a history; what people said of entities in it, without the words that were erased since."""
    stored = memory.append(*lessons.events)
    found = Who()
    for number, _ in lessons.who.events:
        event = memory._reader.event(stored[number - 1].seq)
        assert isinstance(event, EntityChange)
        found.events.append((number, event))
    return found


@histories(60)
@given(LESSONS)
def test_whom_each_word_means_is_what_people_said_as_far_as_each_world_knows(steps: list[tuple[int, int, int]]) -> None:
    lessons = taught(steps)
    with fresh() as memory:
        who = said_by_hand(memory, lessons)
        main, tables = who.view({"main": None}), folded(memory)
        hung = {(rel, *ends) for rel in ("MENTIONS", "ABOUT") for ends in tables.rels[rel, "Entity"]}
        assert hung == {(rel, item, main.meant(entity, item), entity) for rel, item, entity in told(memory)}
        said_by = {turn: (end,) for turn, end, *_ in tables.rels["SAID_BY", "Entity"]}
        assert said_by == {id: (main.meant(who, id),) for id, (who,) in of(tables, "Turn", "speaker").items()}
        for id, (kind, noted, same_as) in of(tables, "Entity", "kind", "noted_kind", "same_as").items():
            assert (kind, same_as) == (main.kinds.get(id) or noted, main.same.get(id))
        for id, (name, by, noted_by) in of(tables, "Entity", "name", "name_seq", "noted_seq").items():
            if id in main.names:
                assert name == main.names[id]
            elif id not in lessons.who.others() | lessons.who.aliases():
                assert by == noted_by
        entities = list(tables.nodes["Entity"])
        items = [*lessons.home, *lessons.revisions]
        with memory.readings.snapshot() as db:
            for world in {"main", *lessons.world.values()}:
                expected, found = who.view(lessons.worlds_of(world)), Identities(db, world)
                for id in entities:
                    assert found.meant(id) == expected.meant(id)
                    assert found.given(id) == expected.names.get(id)
                    assert [found.meant(id, item) for item in items] == [expected.meant(id, item) for item in items]
                for meant in {expected.meant(id) for id in entities}:
                    where, values = found.told([meant]), {"ids": json.dumps(entities), "items": json.dumps(items)}
                    rows = db.execute(_EVERY.format(where.condition("e.value", "i.value")), values | where.values())
                    every = {(id, item) for id in entities for item in items}
                    assert set(rows) == {each for each in every if expected.meant(*each) == meant}
