"""The page of /about says which messages it counts, since the graph's walk counts others."""

from agent.dossier import Dossier
from graph.values import About
from tui.about import about_content


def test_it_tells_that_it_counts_words_and_the_graph_its_links() -> None:
    words = about_content(Dossier(About("Wren", "person", 1, 12_340, None, None)), 90).plain
    assert "1 message\n" in words
    assert "mentioned in 12 340 messages by others" in words
    assert "the graph (g) counts only the messages linked to the name" in words
