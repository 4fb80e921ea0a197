"""Whatever is learned and unlearned, the live graph, a rebuilt one and the plainest reading of the events agree.

Every turn's and chunk's text is a word of its own, and whatever is derived says the words of all its sources.
"""

import re

from hypothesis import given
from hypothesis import strategies as st

from graph.events import RelationNoted
from graph.kuzu.rebuild import events_of
from graph.memory import Memory
from tests.examples import histories, soaking
from tests.graph.conftest import fresh, ignore
from tests.graph.conftest import memory_of as memory_of
from tests.graph.lessons import LESSONS, Lessons, taught
from tests.graph.projection.test_rebuild_equals_live import differences, folded
from tests.graph.projection.test_rebuild_equals_live import of as of

HANGING = {"DERIVED_FROM", "SUPPORTED_BY", "REINFORCED_BY", "RETIRED_BY", "WORDED_FROM"}
SHOWN = """
MATCH (o:Observation) WHERE o.live RETURN o.text AS text, o.world AS world
UNION ALL MATCH (s:Session) RETURN s.title AS text, s.world AS world
UNION ALL MATCH (b:CoreBlock) RETURN b.text AS text, b.world AS world
UNION ALL MATCH (c:Chunk) WHERE c.live RETURN c.text AS text, 'main' AS world
"""
TEXTS = {"Turn": "text", "Observation": "text", "Session": "title", "CoreBlock": "text", "Chunk": "text"}


def sources(text: str | None) -> set[str]:
    return set(re.findall(r"<(\w+)>", text or ""))


def wrongly_said(memory: Memory, lessons: Lessons) -> set[str]:
    """The words in all that may be shown in some world, and do not stand there."""
    standing = {world: lessons.standing(world) for world in {"main", *lessons.world.values()}}
    return {word for row in memory.query(SHOWN) for word in sources(row["text"]) - standing[row["world"]]}


@histories(25 if soaking() else 12)
@given(LESSONS, st.sampled_from((1, 1, 2, 9, 40)))
def test_kept_and_rebuilt_are_one_and_tell_only_what_stands(steps: list[tuple[int, int, int]], at_once: int) -> None:
    """Whether the events come one by one or many in a transaction."""
    lessons = Lessons()
    with fresh(graph=True) as memory:
        for start in range(0, len(steps), at_once):
            before = len(lessons.events)
            for step in steps[start : start + at_once]:
                lessons.step(*step)
            assert not any(recorded.graph_behind for recorded in memory.append(*lessons.events[before:]))
            assert wrongly_said(memory, lessons) == set()
        assert differences(memory) == []
        texts = [memory.query(f"MATCH (n:`{table}`) RETURN n.`{TEXTS[table]}` AS text") for table in TEXTS]
        left = {word for rows in texts for row in rows for word in sources(row["text"])}
        removed = {chunk for chunk, document in lessons.chunks.items() if document in lessons.removed}
        assert not left & (lessons.deleted | removed)
        memory.rebuild(ignore)
        assert differences(memory) == []
        assert wrongly_said(memory, lessons) == set()


@histories(120)
@given(LESSONS)
def test_belief_is_what_the_words_say(steps: list[tuple[int, int, int]]) -> None:
    lessons = taught(steps)
    with fresh() as memory:
        seqs = [each.seq for each in memory.append(*lessons.events)]
        tables = folded(memory)
        assert of(tables, "Observation", "live", "status", "current") == lessons.holding()
        assert of(tables, "Turn", "withheld", "significance") == {
            turn: (turn in lessons.withheld, lessons.rated.get(turn)) for turn in lessons.home
        }
        in_force = {
            id for id, (_, status, current) in lessons.holding().items() if status == "active" and current
        } - erased_relations(memory)
        who = lessons.who.view({"main": None})
        related = {id: [who.meant(end, id) for end in ends] for id, ends in lessons.related.items() if id in in_force}
        assert set(tables.rels["RELATES", "Entity"]) == {
            (*ends, id) for id, ends in related.items() if ends[0] != ends[1]
        }
        standing = lessons.standing("main")
        assert {id for id, (live,) in of(tables, "Chunk", "live").items() if live} == standing & set(lessons.chunks)
        assert {id: project for id, (project,) in of(tables, "Session", "project").items()} == {
            session: lessons.projects.get(session) for session in lessons.world
        }
        shown = {
            table: {id: at and seqs[at] for id, at in lessons.shown(table).items()}
            for table in ("Session", "CoreBlock")
        }
        titles = {id: words for id, words in of(tables, "Session", "title_seq", "title").items() if words[0]}
        assert titles == {id: (seq, said(memory, seq)) for id, seq in shown["Session"].items() if seq}
        blocks = of(tables, "CoreBlock", "seq", "text")
        assert blocks == {id: (seq, said(memory, seq) or None) for id, seq in shown["CoreBlock"].items()}
        for table in ("Turn", "Chunk"):  # what hangs on a source is counted by it
            leading = [ends for (rel, to), ends in tables.rels.items() if to == table and rel in HANGING]
            ends = [end for each in leading for _, end, *_ in each]
            assert {id: count for id, (count,) in of(tables, table, "evidence").items()} == {
                id: ends.count(id) for id in tables.nodes[table]
            }


def erased_relations(memory: Memory) -> set[str]:
    """The observations whose relationship lost its words, by itself or with the observation's."""
    noted = [each.event for each in events_of(memory._reader, memory.head())]
    return {event.observation for event in noted if isinstance(event, RelationNoted) and event.text is None}


def said(memory: Memory, seq: int | None) -> str | None:
    return None if seq is None else getattr(memory._reader.event(seq), "text", None)
