"""Preview and effect are one: whatever was said and learned, a plan tells exactly what carrying it out changes."""

import tempfile
from typing import Any

from hypothesis import Phase, given
from hypothesis import strategies as st

from agent.plans import Plan, plan
from graph.events import (
    MAIN_WORLD,
    DocumentRemoved,
    Event,
    HeadMoved,
    ObservationDeleted,
    SessionDeleted,
    TurnDeleted,
    TurnHidden,
    TurnUnhidden,
)
from graph.memory import Memory
from graph.values import RevisionStanding
from tests.examples import histories, soaking
from tests.graph.conftest import ignore
from tests.graph.lessons import LESSONS, Lessons, taught
from tests.graph.projection.test_belief_histories import memory_of

MOST = 10 if soaking() else 5
CHANGES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 999), st.integers(0, 999)), min_size=4, max_size=MOST)


@histories(25, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(LESSONS, CHANGES)
def test_a_plan_tells_what_it_changes(steps: list[tuple[int, int, int]], changes: list[tuple[int, int, int]]) -> None:
    lessons = taught(steps)
    with tempfile.TemporaryDirectory() as folder, memory_of(folder) as memory:
        memory.append(*lessons.events)
        memory.open_graph(ignore)
        for kind, a, b in changes:
            events = change(memory, lessons, kind, a, b)
            if events:
                before, head = standing(memory), memory.head()
                planned = plan(memory, "", events)
                assert (standing(memory), memory.head()) == (before, head), "a plan changes nothing"
                assert memory.history.carry_out(planned.rehearsal, *planned.events) is not None
                hold(planned, before, standing(memory))


def change(memory: Memory, lessons: Lessons, kind: int, a: int, b: int) -> list[Event]:
    """Something a person does to what there is; nothing where that cannot be done."""
    turns, sessions = sorted(lessons.home), sorted(lessons.world)
    if not turns:
        return []
    turn, session = turns[a % len(turns)], sessions[a % len(sessions)]
    reach = memory.history.reach
    match kind:
        case 0 if turn not in reach.deleted(turns):
            return [TurnDeleted(turn=turn)]
        case 1:
            return [
                TurnHidden(turn=each) for each in reach.whole_exchange(turn) if not memory.readings.turn(each).hidden
            ]
        case 2:
            return [TurnUnhidden(turn=each.id) for each in reach.turns(turns) if each.hidden]
        case 3 if not memory.readings.session(session).deleted and b % 3 == 0:
            own, _ = reach.own_turns(session)
            return [*(TurnDeleted(turn=each) for each in own), SessionDeleted(session=session)]
        case 4 if not memory.readings.session(session).deleted:
            target = turns[b % len(turns)]
            return [HeadMoved(session=session, turn=None if memory.readings.turn(target).queued else target)]
        case 5 if lessons.revisions:
            series = sorted({each.series for each in lessons.revisions.values()})
            return [ObservationDeleted(series=series[b % len(series)])]
        case 6 if documents := memory.readings.documents():
            return [DocumentRemoved(document=documents[0].id)]
        case _:
            return []


def standing(memory: Memory) -> dict[str, Any]:
    """What is live, in view and believed, as the graph has it."""
    turns = memory.query("MATCH (t:Turn) RETURN t.id AS id, t.live AS live, t.hidden AS hidden, t.deleted AS deleted")
    forms = memory.query("MATCH (o:Observation) RETURN o.id AS id, o.current AS current, o.deleted AS deleted")
    return {
        "live": {row["id"] for row in turns if row["live"]},
        "in view": {row["id"] for row in turns if not row["hidden"] and not row["deleted"]},
        "kept": {row["id"] for row in turns if not row["deleted"]},
        "current": {row["id"] for row in forms if row["current"]},
        "remembered": {row["id"] for row in forms if not row["deleted"]},
        "stands": {world.id: stands(memory, world.id) for world in memory.readings.worlds()},
        "words": words(memory),
    }


def stands(memory: Memory, world: str) -> dict[str, RevisionStanding]:
    """How everything that was learned stands in a world."""
    if world != MAIN_WORLD:
        return memory.recall.in_world(world).observations
    query = "MATCH (o:Observation) WHERE o.world = 'main' RETURN o.id AS id, o.live AS live, o.current AS current"
    return {
        row["id"]: RevisionStanding(row["live"], row["current"], row["status"])
        for row in memory.query(f"{query}, o.status AS status")
    }


def words(memory: Memory) -> set[str]:
    """The observations whose words are there."""
    with memory.readings.snapshot() as db:
        query = "SELECT observations.id FROM observations JOIN events USING (seq) WHERE text IS NOT NULL AND text <> ''"
        return {id for (id,) in db.execute(query)}


def hold(planned: Plan, before: dict[str, Any], after: dict[str, Any]) -> None:
    """The items of a plan are those that really changed."""

    def left(what: str) -> set[str]:
        found: set[str] = before[what] - after[what]
        return found

    impact = planned.impact
    assert {turn.id for turn in impact.gone} == left("live") | left("in view") | left("kept")
    came = (after["live"] - before["live"]) | (after["in view"] - before["in view"])
    assert {turn.id for turn in impact.back} == came
    assert {form.id for form in impact.erased} == before["words"] - after["words"]
    told = {impact.world: (impact.lost, impact.fallen_back, impact.returning)}
    told |= {each.world: (each.lost, each.fallen_back, each.returning) for each in impact.elsewhere}
    for world in after["stands"].keys() & before["stands"].keys():
        believed = {id for id, each in before["stands"][world].items() if each.current}
        then = {id for id, each in after["stands"][world].items() if each.current}
        lost, fallen, returning = told.get(world, ((), (), ()))
        going, fell = {form.id for form in lost}, {form.id for form, _ in fallen}
        assert {form.id for form in returning} | {earlier.id for _, earlier in fallen} == then - believed
        forgotten = {form.id for form in impact.erased} if world == impact.world else set()
        assert going - forgotten <= believed - then
        assert fell <= believed - then
        assert not going & fell
        replaced = {id: after["stands"][world][id] for id in believed - then - going - fell}
        assert all(each.live and each.status == "superseded" for each in replaced.values()), "a later form stands there"
    assert {each.world for each in impact.elsewhere} <= before["stands"].keys() - {impact.world}
