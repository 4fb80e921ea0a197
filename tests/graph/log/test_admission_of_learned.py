"""What was learned enters the log only where it stands on what is there; all else is refused, and nothing is stored."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from graph import events
from graph.errors import InvalidEvent
from graph.memory import Memory
from tests.graph.deeds import assign, begin, pin, rate, titled, unpin, what_if, withhold, write
from tests.graph.talk import talk
from tests.graph.teach import forget, give_back, noted, observed, promote, read, reinforce, reject, retire, support
from tests.tables import each

FIRST = observed("m1", "s0")


def related(**fields: Any) -> events.RelationNoted:
    """What an observation says of two."""
    relation = events.Relation(**{"subject": "you", "kind": "knows", "object": "assistant", **fields})
    return events.RelationNoted.of("m1", relation)


@pytest.fixture
def taught(memory: Memory) -> Memory:
    talk(memory, 6)
    memory.append(*read("d", "c1"), FIRST, observed("m2", "s2", status="candidate"))
    return memory


def test_a_change_in_its_turns_own_words_stands_on_that_turn_alone(taught: Memory) -> None:
    taught.append(observed("m3", "s2", supersedes="m1", series="m1", origin="verbatim"))
    (told,) = taught.readings.observations(["m3"]).values()
    assert (told.sources, told.supersedes, told.proof_count) == (("s2",), "m1", 1)
    assert taught.readings.observations(["m1"])["m1"].status == "superseded"


STANDING_ON_NOTHING: list[tuple[events.Event, str]] = [
    (observed("m3", "s0", "s1", "s2", "s3", "s4", "nowhere"), "no turn or chunk nowhere"),
    (observed("m3", "s0", "s0"), "a source twice"),
    (observed("m1", "s0"), "m1 exists already"),
    (observed("m3", "s0", text=" \n"), "says nothing"),
    (observed("m3", "s0", text=None), "says nothing"),
    (observed("m3", "s0", series="m1"), "another series"),
    (observed("m3", "s0", supersedes="gone", series="gone"), "no observation gone"),
    (observed("m3", "s2", supersedes="m1", series="m1"), "leaves out the source s0"),
    (observed("m3", "s0", supersedes="m1", series="m3"), "of another series"),
    (observed("m3", "s0", instead_of="gone"), "no observation gone"),
    (observed("m3", "s0", about=("Nobody",)), "no entity Nobody"),
    (support("gone", "s2"), "no observation gone"),
    (support("m1", "gone"), "no turn or chunk gone"),
    (support("m1", "s0"), "cannot say it again"),
    (retire("m1", "gone"), "no turn gone"),
    (reinforce("m1", "c1", 0.1, 0.7, 0.8), "no turn c1"),
    (reinforce("m1", "s3", 0.1, 0.7, 0.6), "rise by its step"),
    (reinforce("m1", "s3", 0.1, 0.7, 1.0), "rise by its step"),
    (reinforce("m1", "s3", 0.1, 7.0, 7.1), "rise by its step"),
    (reinforce("m1", "s3", 0.1, float("nan"), 0.8), "rise by its step"),
    (promote("m1"), "m1 is active"),
    (forget("m9"), "no observation m9"),
    (noted("e", "Ann", "gone"), "no turn gone"),
    (noted("e", " ", "s0"), "names nothing"),
    (events.RelationNoted(observation="gone", text="{}"), "no observation gone"),
    (related(kind="eats"), "no kind of relationship eats"),
    (related(object="nobody"), "no entity nobody"),
    (related(object="you"), "nobody stands to themselves"),
    (related(since="last year"), "last year is no day"),
    (related(since="2024-13"), "2024-13 is no day"),
    (related(since="2024", until="2023-12"), "over before it begins"),
    (events.RelationNoted(observation="m1", text="Ada and Bob"), "no relationship that can be read"),
    (events.RelationNoted(observation="m1", text=None), "says nothing"),
    (events.ProjectMade(project=" ", text="blank"), "no fit name"),
    (assign("gone", "p"), "no session gone"),
    (write("a\nb", "x"), "no fit name"),
    (write("human", "x", "gone", by="agent"), "no turn or chunk gone"),
    (events.ReflectionDone(reflection="r", turns=("s0", "gone"), trust="model"), "no turn or chunk gone"),
    (events.ReflectionDone(reflection="r", turns=("s0",), instead_of="gone", trust="model"), "no observation gone"),
    (titled("s", "x", "gone"), "no turn or chunk gone"),
    (rate("gone", 1, by="user"), "no turn gone"),
    (withhold("gone"), "no turn gone"),
    (pin(), "one turn or one observation"),
    (pin("s0", observation="m1"), "one turn or one observation"),
    (unpin(observation="gone"), "no observation gone"),
    (events.ChunkRead(chunk="c1", document="d", text="again"), "c1 exists already"),
    (events.ChunkRead(chunk="s0", document="d", text="a turn"), "s0 exists already"),
    (events.DocumentRead(document="d2", category="text", size=1, chunks=("c1",), text="t\np"), "c1 of it was not read"),
    (events.DocumentRead(document="d", category="text", size=-1, chunks=(), text="t\np"), "below zero"),
    (events.DocumentRemoved(document="d2"), "no document d2"),
    (events.ApprovalGiven(approval="a"), "nothing was asked"),
    (events.ApprovalRefused(approval="a"), "nothing was asked"),
    (events.ApprovalAsked(approval="a", session="s", by_turn="gone", tool="remember", text="?"), "no turn gone"),
]


def is_refused(memory: Memory) -> Callable[[tuple[events.Event, str]], None]:
    """A check that an event is refused with a reason, and nothing is stored."""

    def check(row: tuple[events.Event, str]) -> None:
        event, why = row
        before = memory.head()
        with pytest.raises(InvalidEvent, match=f"not stored: .*{why}"):
            memory.append(event)
        assert memory.head() == before

    return check


def test_what_stands_on_nothing_is_refused(taught: Memory) -> None:
    each(STANDING_ON_NOTHING, is_refused(taught))


def test_a_confidence_is_a_number_from_0_to_1() -> None:
    numbers: tuple[Any, ...] = (7, -0.1, float("nan"), float("inf"), "high")
    for number in numbers:
        with pytest.raises(ValidationError):
            observed("m", "s0", confidence=number)
        with pytest.raises(ValidationError):
            support("m", "s0", amount=number)


def test_the_second_of_two_reviews_is_refused_and_an_undo_opens_the_review_again(taught: Memory) -> None:
    taught.append(reject("m2"))
    each([(late, "m2 is invalid") for late in (promote("m2"), reject("m2"), retire("m2"))], is_refused(taught))
    taught.append(give_back("m2", "candidate"), promote("m2"))
    is_refused(taught)((promote("m2"), "m2 is active"))


def test_a_turn_proves_echoes_and_contradicts_once(taught: Memory) -> None:
    again = support("m1", "s4", amount=0.1), reinforce("m1", "s3", 0.5, 0.7, 1.0), retire("m1", "s4")
    taught.append(*again, related())
    each([(event, "already") for event in (*again, related(kind="likes"))], is_refused(taught))
    taught.append(give_back("m1", "active"))  # it stands again, though it was judged so


def test_nothing_follows_what_was_forgotten_or_removed_but_forgetting_it_again(taught: Memory) -> None:
    taught.append(observed("m3", "s4", after=FIRST), forget("m1"), forget("m1"))
    late = (
        *(observed("m4", "s5", after=FIRST), observed("m4", "s5", instead_of="m3"), support("m3", "s5")),
        *(give_back("m1", "active"), pin(observation="m3")),
    )
    each([(event, "was forgotten") for event in late], is_refused(taught))
    taught.append(*read("d", "c1", "c2", new=("c2",)), events.DocumentRemoved(document="d"))
    each([(event, "was removed") for event in read("d", "c3")], is_refused(taught))


def test_an_approval_is_asked_and_answered_once(taught: Memory) -> None:
    asked = events.ApprovalAsked(approval="a", session="s", by_turn="s1", tool="remember", text="Remember it?")
    taught.append(asked, events.ApprovalGiven(approval="a"))
    late = (asked, events.ApprovalGiven(approval="a"), events.ApprovalRefused(approval="a"))
    each([(event, "already") for event in late], is_refused(taught))


def test_an_entity_is_one_that_was_named_or_one_that_spoke(taught: Memory) -> None:
    taught.append(noted("e1", "Ann", "s0"), observed("m3", "s0", "c1", about=("e1", "you", "assistant")))
    assert taught.readings.memory("m3").observation.about == ("Ann", "assistant", "you")


OF_ENTITIES: list[tuple[events.Event, str]] = [
    (events.EntityNamed(entity="nobody", text="Ann"), "no entity nobody"),
    (events.EntityNamed(entity="e1", text="two\nlines"), "no fit name"),
    (events.EntityNamed(entity="e1", world="elsewhere", text="Ann"), "no world elsewhere"),
    (events.EntityKinded(entity="you", category="thing"), "always the same kind"),
    (events.EntityMerged(entity="e1", into="nobody"), "no entity nobody"),
    (events.EntityMerged(entity="e1", into="e1"), "the same as itself"),
    (events.EntityMerged(entity="e2", into="e1"), "the same as itself"),
    (events.EntityMerged(entity="e3", into="e1"), "the same as itself"),
    (events.EntityMerged(entity="you", into="e1"), "one of its own"),
    (events.EntityAliased(alias="e2", entity="e1", text="Annie"), "exists already"),
    (events.EntityAliased(alias="a1", entity=None), "no name"),
    (events.EntitySplit(entity="e1", other="e1", items=(), text="Ann"), "from themselves"),
    (events.EntitySplit(entity="e1", other="e2", items=(), text="Ann"), "exists already"),
    (events.EntitySplit(entity="e1", other="e9", items=()), "no name"),
    (events.EntitySplit(entity="e1", other="e9", items=("nothing",), text="Ann"), "no message or memory nothing"),
]


def test_what_is_said_of_an_entity_is_of_one_and_leads_nobody_back_to_themselves(taught: Memory) -> None:
    taught.append(*(noted(f"e{number}", f"Ann {number}", "s0") for number in (1, 2, 3)))
    taught.append(events.EntityMerged(entity="e1", into="e3"), events.EntityMerged(entity="e3", into="e2"))
    each(OF_ENTITIES, is_refused(taught))


OF_A_WORLD: list[events.Event] = [
    observed("p", "s0", world="w"),
    write("human", "Rows.", world="w"),
    begin("notes", client="notes", world="w"),
    pin("s0", world="w"),
    unpin("s0", world="w"),
    pin(observation="m1", world="w"),
    unpin(observation="m1", world="w"),
]


def test_what_is_of_a_world_that_does_not_exist_is_refused(taught: Memory) -> None:
    each([(event, "there is no world w") for event in OF_A_WORLD], is_refused(taught))
    taught.append(what_if("w", "s", "s1"), *OF_A_WORLD)
