"""The copies that queries run on stay in the memory's own folder, whatever stands in their place."""

from pathlib import Path

import pytest

from graph.console.workers import FOLDER
from graph.errors import GraphFailure
from graph.memory import Memory
from tests.graph.conftest import Open, ignore
from tests.graph.talk import talk

pytestmark = pytest.mark.process


def test_a_link_instead_of_copies_is_not_followed(whole: Memory, folder: Path, opening: Open, tmp_path: Path) -> None:
    talk(whole, 2)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "thesis.md").write_text("not clew's")
    (folder / FOLDER).symlink_to(outside)
    before = outside.stat().st_mtime_ns
    with pytest.raises(GraphFailure, match=r"is a link\. Nothing was copied or changed"):
        whole.console.run("MATCH (t:Turn) RETURN count(*)")
    whole.close()
    memory = opening()
    assert not (folder / FOLDER).is_symlink()
    memory.open_graph(ignore)
    assert memory.console.run("MATCH (t:Turn) RETURN count(*)").rows == ((2,),)
    assert (outside.stat().st_mtime_ns, [path.name for path in outside.iterdir()]) == (before, ["thesis.md"])
