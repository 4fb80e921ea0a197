"""Preview and effect are one: whatever was said and learned, a plan tells exactly what carrying it out changes."""

import tempfile
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from agent.plans import Plan, plan
from graph.events import (
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
from tests.graph.conftest import ignore
from tests.graph.lessons import LESSONS, Lessons, taught
from tests.graph.test_belief_histories import memory_of

CHANGES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 999), st.integers(0, 999)), min_size=4, max_size=10)


@settings(max_examples=25, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(LESSONS, CHANGES)
def test_a_plan_tells_what_carrying_it_out_changes(
    steps: list[tuple[int, int, int]], changes: list[tuple[int, int, int]]
) -> None:
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
                assert memory.carry_out(planned.rehearsal, *planned.events) is not None
                hold(planned, before, standing(memory))


def change(memory: Memory, lessons: Lessons, kind: int, a: int, b: int) -> list[Event]:
    """Something a person does to what there is; nothing where that cannot be done."""
    turns, sessions = sorted(lessons.home), sorted(lessons.world)
    if not turns:
        return []
    turn, session = turns[a % len(turns)], sessions[a % len(sessions)]
    gone = memory.deleted(turns)
    match kind:
        case 0 if turn not in gone:
            return [TurnDeleted(turn=turn)]
        case 1:
            return [TurnHidden(turn=each) for each in memory.whole_exchange(turn) if not memory.turn(each).hidden]
        case 2:
            return [TurnUnhidden(turn=each.id) for each in memory.turns(turns) if each.hidden]
        case 3 if not memory.session(session).deleted and b % 3 == 0:
            own, _ = memory.own_turns(session)
            return [*(TurnDeleted(turn=each) for each in own), SessionDeleted(session=session)]
        case 4 if not memory.session(session).deleted:
            target = turns[b % len(turns)]
            return [HeadMoved(session=session, turn=None if memory.turn(target).queued else target)]
        case 5 if lessons.revisions:
            series = sorted({each.series for each in lessons.revisions.values()})
            return [ObservationDeleted(series=series[b % len(series)])]
        case 6 if documents := memory.documents():
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
    }


def hold(planned: Plan, before: dict[str, Any], after: dict[str, Any]) -> None:
    """The items of a plan are those that really changed."""

    def left(what: str) -> set[str]:
        found: set[str] = before[what] - after[what]
        return found

    impact = planned.impact
    assert {turn.id for turn in impact.gone} == left("live") | left("in view") | left("kept")
    came = (after["live"] - before["live"]) | (after["in view"] - before["in view"])
    assert {turn.id for turn in impact.back} == came
    lost, fell = {form.id for form in impact.lost}, {form.id for form, _ in impact.fallen_back}
    returned = {form.id for form in impact.returning} | {earlier.id for _, earlier in impact.fallen_back}
    assert returned == after["current"] - before["current"]
    gone = left("current") | left("remembered")
    assert lost | fell <= gone
    replaced = gone - lost - fell  # a later form takes the place of each again
    assert {planned.rehearsal.observations[form][1].status for form in replaced} <= {"superseded"}
    assert not lost & fell
