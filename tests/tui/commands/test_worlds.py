"""Which world the commands show: the main one unless another is named, and then they say so."""

import pytest

from graph.events import CoreWritten, SessionForked, SessionRenamed
from graph.ids import new_id
from tests.graph.talk import said
from tests.graph.teach import observed
from tests.tui.commands.conftest import Clew, Record, Remember

pytestmark = pytest.mark.usefixtures("words_only")


@pytest.fixture
def wreck(remember: Remember, record: Record) -> str:
    """A what-if in which the boat of the main world sank, and something was learned of that; its id."""
    begun, fork, turn = remember("The boat is at Whitby", "Noted."), new_id(), new_id()
    record(
        SessionForked(session=fork, origin=begun.session, at=begun.reply, world=fork, client="test"),
        SessionRenamed(session=fork, text="Shipwreck"),
        said(turn, fork, parent=begun.reply, text="The boat sank off Whitby"),
        observed(new_id(), turn, world=fork, text="The boat lies off Whitby"),
        CoreWritten(block="persona", by="user", world=fork, text="A diver"),
    )
    return fork


ASKED = (
    (("recall", "boat Whitby"), "The boat lies off Whitby"),
    (("memories",), "The boat lies off Whitby"),
    (("recent",), "The boat sank off Whitby"),
    (("about", "Whitby"), "The boat sank off Whitby"),
    (("blocks",), "A diver"),
    (("themes",), None),
)


@pytest.mark.restarts
def test_a_command_says_which_what_if_it_shows_and_programs_read_its_world_too(clew: Clew, wreck: str) -> None:
    for asked, words in ASKED:
        ended = clew(*asked, "--world", wreck[:12])
        assert ended.code == 0, ended.err
        assert f"In the what-if “Shipwreck” ({wreck})." in ended.err
        assert "what-if" not in clew(*asked).err
        if words is None:
            continue
        key = "shown_in" if asked == ("memories",) else "world"  # a memory has a world of its own
        there, here = clew(*asked, "--world", wreck, "--json"), clew(*asked, "--json")
        assert words in there.out
        assert words not in here.out
        rows = there.json if isinstance(there.json, list) else [there.json]
        assert {row[key] for row in rows} == {wreck}
        rows = here.json if isinstance(here.json, list) else [here.json]
        assert {row[key] for row in rows} <= {"main"}


@pytest.mark.restarts
def test_what_a_chat_recalls_is_of_its_world_and_a_block_of_the_one_that_is_named(clew: Clew, wreck: str) -> None:
    ended = clew("recall", "boat", "--session", wreck, "--json")
    assert {hit["world"] for hit in ended.json} == {wreck}
    assert "In the what-if “Shipwreck”" in ended.err
    assert clew("blocks", "persona", "A ghost", "--world", wreck).code == 0
    assert clew("blocks", "--json").json == []
    assert [each["text"] for each in clew("blocks", "--world", wreck, "--json").json] == ["A ghost"]


@pytest.mark.process
def test_a_query_reads_all_worlds_and_may_ask_for_one(clew: Clew, wreck: str) -> None:
    of_one = "MATCH (t:Turn) WHERE t.world = $world AND t.role = 'user' RETURN t.text AS text, '$world' AS words"
    ended = clew("query", of_one, "--world", wreck, "--json")
    assert ended.json["rows"] == [{"text": "The boat sank off Whitby", "words": "$world"}]
    assert ended.json["world"] == wreck
    assert f"$world is the what-if “Shipwreck” ({wreck})." in ended.err
    assert clew("query", of_one, "--json").json["rows"] == [{"text": "The boat is at Whitby", "words": "$world"}]
    everything = "MATCH (t:Turn {role: 'user'}) RETURN count(*) AS n"
    assert clew("query", everything, "--world", wreck, "--json").json["rows"] == [{"n": 2}]
    assert clew("query", "RETURN '$world' AS x", "--json").json["rows"] == [{"x": "$world"}]
    assert clew("query", "RETURN $worlds").code == 2
    assert clew("query", "RETURN 1", "--world", "01NOTHING").code == 66
    assert "$world" in clew("query", "--help").out
