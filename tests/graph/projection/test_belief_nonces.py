"""At every moment, nothing that may be believed or shown says a word of a turn or chunk that does not stand.

Every turn's and chunk's text is a word of its own, and whatever is derived says the words of all its sources.
"""

import re
import tempfile

from hypothesis import given

from graph.memory import Memory
from tests.examples import histories
from tests.graph.conftest import ignore
from tests.graph.lessons import LESSONS, Lessons
from tests.graph.projection.test_belief_histories import memory_of

SHOWN = """
MATCH (o:Observation) WHERE o.live RETURN o.text AS text, o.world AS world
UNION ALL MATCH (s:Session) RETURN s.title AS text, s.world AS world
UNION ALL MATCH (b:CoreBlock) RETURN b.text AS text, b.world AS world
UNION ALL MATCH (c:Chunk) WHERE c.live RETURN c.text AS text, 'main' AS world
"""

TEXTS = {"Turn": "text", "Observation": "text", "Session": "title", "CoreBlock": "text", "Chunk": "text"}


def wrongly_said(memory: Memory, lessons: Lessons) -> set[str]:
    """The words in all that may be shown in some world, and do not stand there."""
    found: set[str] = set()
    for row in memory.query(SHOWN):
        found |= set(re.findall(r"<(\w+)>", row["text"] or "")) - lessons.standing(row["world"])
    return found


@histories(25)
@given(LESSONS)
def test_no_word_of_what_does_not_stand_is_in_anything_derived(steps: list[tuple[int, int, int]]) -> None:
    lessons = Lessons()
    with tempfile.TemporaryDirectory() as folder, memory_of(folder) as memory:
        memory.open_graph(ignore)
        for step in steps:
            before = len(lessons.events)
            lessons.step(*step)
            memory.append(*lessons.events[before:])
            assert wrongly_said(memory, lessons) == set()
        memory.rebuild(ignore)
        assert wrongly_said(memory, lessons) == set()


@histories(25)
@given(LESSONS)
def test_a_deleted_word_is_in_no_text_of_the_graph_at_all(steps: list[tuple[int, int, int]]) -> None:
    lessons = Lessons()
    for step in steps:
        lessons.step(*step)
    with tempfile.TemporaryDirectory() as folder, memory_of(folder) as memory:
        memory.open_graph(ignore)
        memory.append(*lessons.events)
        rows = [
            row for table in TEXTS for row in memory.query(f"MATCH (n:`{table}`) RETURN n.`{TEXTS[table]}` AS text")
        ]
        left = {word for row in rows for word in re.findall(r"<(\w+)>", row["text"] or "")}
        removed = {chunk for chunk, document in lessons.chunks.items() if document in lessons.removed}
        assert not left & (lessons.deleted | removed)
