"""What a recall costs that walks the graph: 100,000 turns, 5,000 people and places, 20,000 relationships between them.

    python -m bench.walk [--json] [--samples 120] [--turns 100000] [--entities 5000] [--relations 20000]

The memory is that of `bench.recall`. Each relationship is a memory of one turn, each person is named in some turns, one
of them has as many neighbours as there are people, and is named everywhere. The questions name a person, two,
somebody's landlord, or that one; in turn with them the same questions are asked with nobody's name in them (`nobody`),
so that what the walk adds can be read off. Times are of the whole `memory.recall`, without embedding.
"""

import argparse
import random
import shutil
import tempfile
import time
from datetime import UTC
from pathlib import Path

from bench.recall import KEPT_AT_ONCE, MODEL, NOW, Case, Speech, build, question
from bench.report import Figure, percentile, report, say
from graph.events import EntityNoted, Event, ObservationKind, ObservationMade, Relation, RelationNoted
from graph.ids import new_id
from graph.memory import Memory
from graph.relations import kinds
from graph.values import CalledBy, Vector

MENTIONED = 4  # turns that name each person, besides those that tell a relationship
ASKED = ("nobody", "one", "two", "kin", "hub")
HUB = "Siemens"
FIRST = ("Ada", "Bo", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ivo", "June")


def names(count: int) -> list[str]:
    """So many names; the first has everybody for a neighbour."""
    return [HUB, *(f"{FIRST[number % len(FIRST)]} {FIRST[-1 - number % 7]}{number}" for number in range(count - 1))]


def relate(memory: Memory, entities: int, relations: int) -> list[str]:
    """Let the memory know people and how they stand to each other; their names."""
    called = names(entities)
    ids = {name: new_id() for name in called}
    turns = [turn.id for turn in memory.readings.recent("turn", max(relations, entities * MENTIONED))]
    events: list[Event] = [
        EntityNoted(entity=ids[name], category="person", by_turn=turn, text=name)
        for place, name in enumerate(called)
        for turn in (turns[(place * MENTIONED + step) % len(turns)] for step in range(MENTIONED))
    ]
    events += [EntityNoted(entity=ids[HUB], category="person", by_turn=turn, text=HUB) for turn in turns[:entities]]
    kind = list(kinds())
    for number in range(relations):
        one = called[number % len(called)] if number < len(called) else random.choice(called)
        other = HUB if number < len(called) else random.choice(called)
        if one == other:
            continue
        turn, id = turns[number % len(turns)], new_id()
        relation = Relation(subject=ids[one], kind=random.choice(kind), object=ids[other], word="landlord")
        made = ObservationMade(
            observation=id, series=id, about=(ids[one], ids[other]), category=ObservationKind.RELATIONSHIP,
            status="active", confidence=0.8, grounded=True, origin="model", sources=(turn,),
            text=kinds()[relation.kind].says(one, other),
        )  # fmt: skip
        events += [made, RelationNoted.of(id, relation)]
    for start in range(0, len(events), KEPT_AT_ONCE):
        memory.append(*events[start : start + KEPT_AT_ONCE])
    return called


def ask(case: Case, text: str, vector: Vector, kin: tuple[CalledBy, ...]) -> tuple[float, int]:
    """One recall, in ms, and how many hits were reached over relationships."""
    start = time.perf_counter()
    hits = case.memory.recall.search(text, vector=vector, kin=kin, now=NOW, timezone=UTC)
    return 1_000 * (time.perf_counter() - start), sum(bool(hit.way) for hit in hits)


def run(folder: Path, turns: int, entities: int, relations: int, samples: int) -> dict[str, Figure]:
    """Build, ask, and answer with the figures."""
    random.seed(7)
    speech = Speech()
    case = build(folder, turns, speech, 0, learned=lambda memory: relate(memory, entities, relations))
    called = [each for each in names(entities) if each != HUB]
    times: dict[str, list[float]] = {way: [] for way in ASKED}
    reached = 0
    try:
        case.memory.recall.warm()
        for sample in range(samples + 5):
            plain, vector = question(case.texts), Vector(MODEL, speech.vectors(1)[0])
            one, other = random.sample(called, 2)
            landlord = CalledBy(owner=one, word="landlord", kind="landlord_of", turned=False)
            texts = {
                "nobody": plain,
                "one": f"{plain} And {one}?",
                "two": f"{plain} And {one} and {other}?",
                "kin": f"{plain} And the landlord of {one}?",
                "hub": f"{plain} And {HUB}?",
            }
            for way, text in texts.items():
                took, ways = ask(case, text, vector, (landlord,) if way == "kin" else ())
                reached += ways
                if sample >= 5:
                    times[way].append(took)
    finally:
        case.memory.close()
    say(f"{reached} hits were reached over relationships")
    found: dict[str, Figure] = {f"{way}_p{n}_ms": percentile(times[way], n / 100) for way in ASKED for n in (50, 95)}
    walked = [each for way in ASKED[1:] for each in times[way]]
    return {**found, "walk_p95_ms": percentile(walked, 0.95), "reached": reached}


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.walk", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one flat JSON object")
    parser.add_argument("--samples", type=int, default=120)
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--entities", type=int, default=5_000)
    parser.add_argument("--relations", type=int, default=20_000)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="clew-bench-"))
    try:
        found = run(folder, given.turns, given.entities, given.relations, given.samples)
    finally:
        shutil.rmtree(folder)
    report(found, as_json=given.json)


if __name__ == "__main__":
    main()
