"""A text that is erased goes from the live graph, whatever it was the text of."""

from typing import get_args

from graph import events
from graph.events import Event, TextErased
from tests.graph.conftest import fresh
from tests.graph.deeds import begin, rename, titled, write
from tests.graph.projection.test_rebuild_equals_live import differences
from tests.graph.references.test_attaching import added, wrote
from tests.graph.stories.played import MARA, STORY, asks, begun
from tests.graph.talk import reply, said
from tests.graph.teach import noted, read, related

HAPPENED: list[Event] = [
    *(begin("s", project="maze"), begin("t"), said("q"), reply("r", parent="q")),
    events.ProjectMade(project="maze", text="What it is about"),
    *(events.SessionConfigured(session="s", text="Be brief."), titled("s", "title", "q"), rename("t", "name")),
    *(noted("ada", "Ada", "q"), noted("bob", "Bob", "q"), *related("o", "ada", "works_with", "bob", "q")),
    events.EntityNamed(entity="ada", text="Adele"),
    events.EntityAliased(alias="nick", entity="ada", text="Addie"),
    events.EntitySplit(entity="ada", other="eve", items=("o",), text="Eve"),
    *(*read("d", "c"), write("b", "says"), events.MarkSet(mark="m", reason="named", text="mark")),
    events.ApprovalAsked(approval="a", session="s", by_turn="q", tool="remember", text="leave"),
    *(*begun(), asks("x", text="Who is there?"), added("page"), wrote("page", "w", "handle", "did")),
    events.StageSet(world=STORY, owner=MARA, aspect="mood", by="user", text="glad"),
]


def test_the_live_graph_is_as_a_fold_of_the_log_which_never_sees_them() -> None:
    told = {type(each) for each in HAPPENED if getattr(each, "text", None)}
    assert told == {each for each in get_args(get_args(Event)[0]) if "text" in each.model_fields}
    with fresh(graph=True) as memory:
        for each in memory.append(*HAPPENED):
            assert not memory.append(TextErased(events=(each.seq,)))[0].graph_behind
        assert differences(memory) == []
