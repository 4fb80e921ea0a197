"""What a chat refers to: attached, dropped, undone, erased and brought elsewhere; and who wrote it, across chats."""

from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graph.doctor import compare
from graph.errors import CannotUndo, InvalidEvent
from graph.events import EntityMerged, EntityNamed, Event, Recalled, TextErased, Undone
from graph.events.references import ReferenceAdded, ReferenceDropped, ReferenceWritten, quoted_as, referred
from graph.history.undoing import UserChange
from graph.memory import Memory
from graph.values import Ref
from tests.examples import histories
from tests.graph.conftest import fresh, ignore, purge
from tests.graph.deeds import begin, delete, drop, move
from tests.graph.projection.test_rebuild_equals_live import folded
from tests.graph.stories.test_deleting_stories import deletion, texts
from tests.graph.talk import reply, said, talk
from tests.graph.transfer.test_merging import bring, exported
from tests.reference import told

PAGE = "https://example.org/lighthouse"
ALICE, BOB = "did:plc:alice", "did:plc:bob"


def added(
    reference: str, session: str = "s", address: str = PAGE, sort: str = "page", turn: str | None = None
) -> ReferenceAdded:
    fields = {"reference": reference, "session": session, "category": sort, "turn": turn}
    return ReferenceAdded.model_validate({**fields, "text": f"{address}/{reference}"})


def wrote(reference: str, author: str, handle: str, did: str) -> ReferenceWritten:
    return ReferenceWritten(reference=reference, author=author, text=f"{handle}\n{did}")


def attached(memory: Memory, session: str = "s") -> list[str]:
    return [each.id for each in memory.readings.attached(session)]


@pytest.fixture
def chat(memory: Memory) -> Memory:
    talk(memory, 2)
    return memory


def test_a_chat_refers_to_what_is_attached_until_that_is_dropped(chat: Memory) -> None:
    chat.append(added("a"), added("b"))
    found = chat.readings.attached("s")
    assert [(each.id, each.kind, each.address) for each in found] == [
        ("a", "page", f"{PAGE}/a"),
        ("b", "page", f"{PAGE}/b"),
    ]
    chat.append(ReferenceDropped(reference="a"))
    assert attached(chat) == ["b"]
    assert not chat.readings.references(["a"])["a"].attached
    chat.append(added("a"))
    assert attached(chat) == ["b", "a"]


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (added("n", session="nowhere"), "no session nowhere"),
        (ReferenceAdded(reference="n", session="s", category="page", text=" "), "has no address"),
        (ReferenceAdded(reference="n", session="s", category="page", text=None), "has no address"),
        (added("a", session="t"), "of another session"),
        (added("a", sort="thread"), "of another kind"),
        (added("n", turn="nowhere"), "no turn nowhere"),
        (ReferenceDropped(reference="n"), "no reference n"),
        (wrote("n", "e", "alice.example", ALICE), "no reference n"),
        (wrote("a", "you", "alice.example", ALICE), "somebody else"),
        (wrote("a", "e", "", ALICE), "no author"),
        (wrote("a", "e", "alice.example", f"{ALICE}\nmore"), "no author"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_is_refused(chat: Memory, event: Event, why: str) -> None:
    chat.append(added("a"), begin("t"))
    before = chat.head()
    with pytest.raises(InvalidEvent, match=why):
        chat.append(event)
    assert chat.head() == before


def test_what_went_along_with_a_message_counts_on_the_paths_over_that(chat: Memory) -> None:
    for number in range(2, 40):
        chat.append(said(f"s{number}", parent=f"s{number - 1}"))
    chat.append(added("a", turn="s0"), added("b", turn="s20"), added("c", turn="s39"), added("d"))
    for head, there in (("s39", "abcd"), ("s20", "abd"), ("s19", "ad"), ("s0", "ad"), ("s38", "abd"), (None, "d")):
        chat.append(move("s", head))
        assert attached(chat) == list(there), head
    chat.append(move("s", "s10"), said("x", parent="s10"), added("e", turn="x"))
    assert attached(chat) == ["a", "d", "e"]
    chat.append(said("q", queued=True), added("f", turn="q"))
    assert attached(chat) == ["a", "d", "e", "f"], "it waits"
    chat.append(move("s", "s39"))
    assert attached(chat) == ["a", "b", "c", "d", "f"]
    assert [each.id for each in chat.readings.attached("s", at="s1")] == ["a", "d", "f"]


def test_a_deleted_message_takes_along_what_went_with_it(chat: Memory) -> None:
    chat.append(said("m", parent="s1"), added("a", turn="m", sort="thread"), added("b"))
    chat.append(wrote("a", "e", "zyxwv.example", "did:plc:zyxwv"))
    chat.append(delete("m"))
    assert attached(chat) == ["b"]
    assert f"{PAGE}/a" not in texts(chat)
    assert "zyxwv" not in texts(chat)
    chat.append(wrote("a", "e", "zyxwv.example", "did:plc:zyxwv"))
    assert "zyxwv" not in texts(chat), "what comes late has no words either"
    chat.append(ReferenceDropped(reference="a"), added("a", turn="m", sort="thread"))
    assert f"{PAGE}/a" not in texts(chat)


# -- who wrote it -----------------------------------------------------------------------------------------------------


BY_ALICE = wrote("a", "e", "alice.example", ALICE)


def test_an_author_is_one_and_the_same_in_all_threads_whatever_the_handle(chat: Memory) -> None:
    chat.append(begin("t"))
    chat.append(added("a", sort="thread"), added("b", session="t", sort="thread"))
    chat.append(BY_ALICE, wrote("a", "f", "bob.example", BOB), wrote("b", "e", "alice.example", ALICE))
    assert chat.readings.authors() == {ALICE: "e", BOB: "f"}
    assert chat.readings.writers("a") == {ALICE: "alice.example", BOB: "bob.example"}
    assert [each.id for each in chat.readings.written_by("e")] == ["b", "a"]
    (alice,) = chat.readings.called("Alice.Example")
    assert (alice.id, alice.kind) == ("e", "person")
    chat.append(wrote("a", "e", "wonder.example", ALICE))
    assert chat.readings.names(["e"]) == {"e": "wonder.example"}
    assert chat.readings.writers("a")[ALICE] == "wonder.example"


def test_an_author_is_the_same_as_somebody_the_user_knows(whole: Memory) -> None:
    talk(whole, 2)
    whole.append(added("a", sort="thread"), BY_ALICE, EntityMerged(entity="e", into="you"))
    assert [each.id for each in whole.readings.written_by("you")] == ["a"]
    assert whole._graph.inspect(lambda store, at: list(compare(folded(whole), store))) == []
    whole.append(EntityMerged(entity="e", into=None))
    assert [each.id for each in whole.readings.written_by("e")] == ["a"]
    whole.append(EntityNamed(entity="e", text="Alice"))
    assert whole.readings.writers("a") == {ALICE: "alice.example"}
    assert whole.readings.names(["e"]) == {"e": "Alice"}


# -- the graph --------------------------------------------------------------------------------------------------------


def test_the_graph_leads_from_a_chat_to_what_it_refers_to_and_who_wrote_that(whole: Memory) -> None:
    talk(whole, 2)
    whole.append(added("a", sort="thread"), BY_ALICE, said("m", parent="s1"))
    hash = "0f" * 32
    parts = {1: quoted_as("a", hash, None), 2: quoted_as("a", hash, 1)}  # by rank
    pack = tuple(
        Recalled(id=part, kind="reference", ranks={"reference": rank}, read_at=1, hash=hash)
        for rank, part in parts.items()
    )
    whole.append(reply("r", parent="m", recalled=pack))
    query = "MATCH (:Session)-[:REFERS_TO]->(r:Reference)-[w:WRITTEN_BY]->(e:Entity) RETURN r.address, w.did, e.name"
    assert rows(whole, query) == [[f"{PAGE}/a", ALICE, "alice.example"]]
    recalled = "MATCH (:Turn)-[r:RECALLED]->(n:Reference) RETURN n.id, r.rank"
    assert rows(whole, recalled) == [["a", 1]]
    (read,) = [turn.recalled for turn in whole.readings.thread("s") if turn.id == "r"]
    assert read == pack
    assert [referred(item.id) for item in read] == ["a", "a"]
    node = whole.walk.node(Ref("Reference", "a"))
    assert (node.title, node.mark) == (f"{PAGE}/a", "")
    assert whole.walk.node(Ref("Entity", "e")).title == "alice.example"
    whole.append(ReferenceDropped(reference="a"))
    assert whole.walk.node(Ref("Reference", "a")).mark == "dropped"
    assert rows(whole, "MATCH (:Session)-[:REFERS_TO]->(r:Reference) RETURN r.id") == []


def rows(memory: Memory, query: str) -> list[list[object]]:
    return [list(row.values()) for row in memory.query(query)]


STEPS = st.lists(st.tuples(st.sampled_from("aaddwwwxmsu"), st.integers(0, 5), st.integers(0, 5)), max_size=25)
SESSIONS = ("s", "t", "v")


def happen(memory: Memory, deed: str, a: int, b: int) -> None:
    """One deed; what is refused does nothing."""
    reference, author = f"r{a}", f"e{b % 3}"
    events: list[Event] = []
    match deed:
        case "a":
            events = [added(reference, SESSIONS[a % 3], sort="thread")]
        case "d":
            events = [ReferenceDropped(reference=reference)]
        case "w":
            events = [wrote(reference, author, f"{author}-{a % 2}.example", f"did:plc:{author}")]
        case "x":
            events = [TextErased(events=(max(1, memory.head() - a),))]
        case "m":
            events = [EntityMerged(entity=author, into=f"e{a % 3}" if a < 4 else None)]
        case "s":
            events = [drop(SESSIONS[a % 3])]
        case _:
            standing = memory.history.changes.standing(1)
            with suppress(CannotUndo):
                events = [each for change in standing for each in undoing(memory, change)]
    with suppress(InvalidEvent):
        if events:
            memory.append(*events)


@histories(25)
@given(STEPS)
@example([("a", 0, 0), ("d", 0, 0), ("a", 0, 0), ("d", 0, 0)])  # dropped again, in a graph that is made anew
def test_the_live_graph_the_rebuilt_one_and_the_definitions_say_the_same(steps: list[tuple[str, int, int]]) -> None:
    with fresh(graph=True) as memory:
        memory.append(*(begin(session) for session in SESSIONS))
        for deed, a, b in steps:
            happen(memory, deed, a, b)
        events = [each.event for each in memory._reader.events(limit=999)]
        reference = told(events)
        for session in SESSIONS:
            assert {each.id: each.address for each in memory.readings.attached(session)} == reference.attached(session)
        assert memory._graph.inspect(lambda store, at: list(compare(folded(memory), store))) == []
        assert [check.detail for check in memory.doctor() if check.name == "tables" and not check.ok] == []
        memory.rebuild(ignore)
        assert memory._graph.inspect(lambda store, at: list(compare(folded(memory), store))) == []


# -- undone, marked, erased, brought elsewhere ------------------------------------------------------------------------


def undo(memory: Memory, entry: UserChange | None = None) -> None:
    memory.append(*undoing(memory, entry or memory.history.changes.standing(1)[0]))


def undoing(memory: Memory, change: UserChange) -> list[Event]:
    return [Undone(events=change.seqs), *memory.history.changes.undoing(change)]


def test_attaching_and_dropping_are_undone_and_done_again_but_not_what_goes_with_a_message(chat: Memory) -> None:
    chat.append(added("a"))
    undo(chat)
    assert attached(chat) == []
    undo(chat, chat.history.changes.newest(1)[0])
    assert attached(chat) == ["a"]
    chat.append(ReferenceDropped(reference="a"))
    undo(chat)
    assert attached(chat) == ["a"]
    assert chat.readings.attached("s")[0].address == f"{PAGE}/a"
    before = chat.history.changes.newest(9)
    chat.append(added("b"), said("m", parent="s1"))
    assert chat.history.changes.newest(9) == before
    assert attached(chat) == ["a", "b"]


def test_an_undoing_that_comes_too_late_is_refused_in_words(chat: Memory) -> None:
    chat.append(added("a"))
    change = chat.history.changes.standing(1)[0]
    chat.append(ReferenceDropped(reference="a"), added("a"))
    chat.append(ReferenceDropped(reference="a"))
    chat.append(*deletion(chat, "s"))
    with pytest.raises(CannotUndo):
        chat.history.changes.undoing(change)


@pytest.mark.restarts
def test_a_deleted_chat_takes_addresses_and_authors_along(whole: Memory) -> None:
    talk(whole, 2)
    whole.append(begin("t"), added("a", "t", "https://secret.example", "thread"))
    whole.append(wrote("a", "e", "zyxwv.example", "did:plc:zyxwv"), ReferenceDropped(reference="a"))
    whole.append(*deletion(whole, "t"))
    purge(whole)
    assert "secret" not in texts(whole)
    assert "zyxwv" not in texts(whole)
    assert whole.readings.authors() == {}
    assert whole.readings.references(["a"])["a"].address == ""
    assert whole.readings.called("zyxwv.example") == []
    assert rows(whole, "MATCH (r:Reference) RETURN r.address") == [[None]]
    assert rows(whole, "MATCH (e:Entity) WHERE e.id = 'e' RETURN e.name") == [[None]]


def test_an_export_brings_them_along_once_whole_or_by_chat_and_nothing_erased_back(chat: Memory, other: Memory) -> None:
    chat.append(begin("t"), added("c", "t"))
    chat.append(added("a"), added("b", sort="thread"), wrote("b", "e", "alice.example", ALICE))
    chat.append(ReferenceDropped(reference="a"))
    lines = exported(chat)
    assert bring(other, exported(chat, "s")).refused == {}
    assert (attached(other), attached(other, "t")) == (["b"], [])
    assert other.readings.authors() == {ALICE: "e"}
    assert bring(other, lines).refused == {}
    assert bring(other, lines).new == 0
    assert (attached(other), attached(other, "t")) == (["b"], ["c"])
    assert other.readings.writers("b") == {ALICE: "alice.example"}
    other.append(*deletion(other, "s"))
    bring(other, lines)
    assert attached(other) == []
    assert other.readings.authors() == {}


def test_what_was_erased_there_is_erased_here(chat: Memory, other: Memory) -> None:
    chat.append(added("a", sort="thread"), BY_ALICE)
    chat.append(TextErased(events=(chat.head() - 1, chat.head())))
    merged = bring(other, exported(chat))
    assert merged.refused == {}
    assert attached(other) == []
    assert other.readings.authors() == {}


def test_what_was_decided_here_later_stays(chat: Memory, other: Memory) -> None:
    chat.append(added("a"))
    lines = exported(chat)
    bring(other, lines)
    other.append(ReferenceDropped(reference="a"))
    chat.append(ReferenceDropped(reference="a"))
    chat.append(added("a"))
    later = exported(chat)
    for line in later:
        if line["seq"] > len(lines):
            line["at"] = 1
    bring(other, later)
    assert attached(other) == []
