"""The newest of any kind of node: all kinds there are, what is live of them, and what a project sees."""

from datetime import timedelta

import pytest

from graph.events import Event, ProjectMade
from graph.memory import Memory
from graph.projection.schema import NODES
from graph.readings.newest import NODE_KINDS, NodeKind
from graph.visibility import EVERYONE, Viewer
from tests.graph.deeds import begin, delete, drop, fork, hide, move, rename, withhold, write
from tests.graph.talk import reply, said
from tests.graph.teach import forget, noted, observed, read, reject, remove


def place(name: str, project: str | None = None) -> list[Event]:
    """One of everything that can be of a project; every text begins with the name."""
    return [
        begin(name, project=project),
        rename(name, f"{name} chat"),
        said(f"{name}0", name, text=f"{name} says"),
        reply(f"{name}1", name, parent=f"{name}0"),
        said(f"{name}2", name, parent=f"{name}1", speaker=f"{name} Ada"),
        noted(f"{name}-place", f"{name} town", f"{name}0", category="place"),
        observed(f"{name}-learned", f"{name}0", project=project),
        *read(f"{name}-doc", f"{name}-chunk", project=project),
        write(f"{name}-block", f"{name} block", project=project),
        fork(f"{name}-if", name, f"{name}2", f"{name}-if", project=project),
    ]


KINDS: dict[NodeKind, list[str]] = {
    "turn": ["2", "1", "0"],
    "session": [""],
    "observation": ["-learned"],
    "entity": [" Ada", "-place"],
    "document": ["-doc"],
    "chunk": ["-chunk"],
    "block": ["-block"],
}


def found(memory: Memory, *kinds: NodeKind, limit: int = 50, project: Viewer = EVERYONE) -> list[str]:
    return [each.id for each in memory.readings.newest(kinds, limit, project=project)]


@pytest.fixture
def places(memory: Memory) -> Memory:
    """Two projects, and what is outside of them."""
    memory.append(*place("a", "A"), *place("n"), *place("b", "B"), ProjectMade(project="A", text="all of a"))
    return memory


def test_every_kind_of_node_is_there_and_each_where_it_is_seen(places: Memory) -> None:
    assert {kind.replace("block", "coreblock") for kind in NODE_KINDS} == {
        table.name.lower() for table in NODES if table.name not in ("Wording", "StageLine", "Reference")
    }
    for kind, ids in KINDS.items():
        here = {name: [f"{name}{id}" for id in ids] for name in "anb"}
        assert sorted(found(places, kind)) == sorted(id for each in here.values() for id in each), kind
        shared = ["n-doc", "n-chunk", "n-block"]  # put there by hand, for all
        for viewer, name in (("A", "a"), ("B", "b"), (None, "n")):
            seen = set(found(places, kind, project=viewer))
            assert seen - set(shared) == set(here[name]) - set(shared), (kind, viewer)
            assert seen & set(shared) == {id for id in shared if id in here["n"]}, (kind, viewer)
    assert [sorted(found(places, "project", project=viewer)) for viewer in (EVERYONE, "A", None)] == [
        ["A", "B"],
        ["A"],
        [],
    ]
    assert found(places, "world", project="B") == ["b-if"]
    places.append(said("early", "b", said_at=1_000), said("late", "b", parent="early", said_at=4_000_000_000_000))
    assert found(places, "document", "turn", "turn", limit=1, project="B") == ["late"]
    assert found(places, "chunk", "turn", project="B")[-1] == "early"
    assert [found(places, "turn", "block", limit=0), found(places)] == [[], []]


GONE: list[tuple[NodeKind, str, Event]] = [
    ("observation", "a-learned", reject("a-learned")),
    ("observation", "b-learned", forget("b-learned")),
    ("observation", "n-learned", withhold("n0")),
    ("entity", "a-place", hide("a0")),
    ("entity", "n Ada", withhold("n2")),
    ("turn", "a2", hide("a2")),
    ("turn", "b2", delete("b2")),
    ("turn", "n1", move("n", "n0")),
    ("chunk", "a-chunk", remove("a-doc")),
    ("chunk", "n-chunk", read("n-doc")[0]),
    ("document", "b-doc", read("b-doc")[0]),
    ("block", "n-block", write("n-block", "")),
    ("world", "n-if", drop("n-if")),
    ("session", "b", drop("b")),
    ("project", "A", ProjectMade(project="A", status="archived", text=None)),
]


def test_what_is_not_live_any_more_is_not_recent(places: Memory) -> None:
    for kind, node, event in GONE:
        assert node in found(places, kind), event
        places.append(event)
        assert node not in found(places, kind), event


def test_nodes_have_their_words_place_and_time_and_can_be_asked_for_by_it(places: Memory) -> None:
    told = {each.id: each for kind in NODE_KINDS for each in places.readings.newest([kind], 50)}
    assert (told["a0"].text, told["a0"].project, told["a0"].place) == ("a says", "A", "a")
    assert (told["a-chunk"].text, told["a-chunk"].place) == ("a-chunk", "a-doc")
    assert [told[id].text for id in ("a", "a-place", "a-block", "A")] == ["a chat", "a town", "a block", "all of a"]
    last = max(each.at for each in told.values())
    for kind in NODE_KINDS:
        assert places.readings.newest([kind], 50, since=last + timedelta(seconds=1)) == []
        assert places.readings.newest([kind], 50, until=last - timedelta(days=1)) == []
        assert len(places.readings.newest([kind], 50, since=last - timedelta(days=1))) == len(
            places.readings.newest([kind], 50)
        )


def test_a_what_if_sees_its_own_besides_what_it_left_with(places: Memory) -> None:
    places.append(
        said("n9", "n-if", parent="n2"), observed("n-supposed", "n9", world="n-if"), said("n3", "n", parent="n2")
    )
    kinds: tuple[NodeKind, ...] = ("turn", "observation")
    main = {each.id for each in places.readings.newest(kinds, 50, project=None)}
    supposed = {each.id for each in places.readings.newest(kinds, 50, project=None, world="n-if")}
    assert main - supposed == {"n3"}
    assert supposed - main == {"n9", "n-supposed"}
