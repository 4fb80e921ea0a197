"""`clew query`, told what would do more than read: each ends with 2, says so, and leaves all as it was."""

import re
from pathlib import Path

import pytest

from tests.examples import soaking
from tests.graph.console.hostile import CANARY, FILES, GROUPS, HOSTILE
from tests.graph.console.ordinary import READS
from tests.tui.commands.conftest import Clew, Remember

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("words_only")]
NOTHING_RUN = re.compile(r"(?s)^clew: .* \(line \d+, column \d+\)\. Nothing was run, and nothing was changed\.\n$")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder with files in it that nothing may show."""
    folder = tmp_path / "outside"
    folder.mkdir()
    for name in FILES:
        (folder / name).write_text(f"column0\n{CANARY}\n")
    return folder


def files(folder: Path) -> dict[str, bytes]:
    """Every file and what is in it, but for what is logged."""
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix != ".log"}


def test_none_is_run_by_the_headless_twin(clew: Clew, remember: Remember, home: Path, outside: Path) -> None:
    remember("The boat is at Whitby", "Noted.")
    assert clew("query", "RETURN 1").code == 0
    before = files(home), files(outside)
    some = [each for group in GROUPS.values() for each in (group[0], group[-1])]
    for statement in HOSTILE if soaking() else some:  # all of them meet the wall in tests/graph/console
        ended = clew("query", "--param", "flag=true", "--", statement.replace("{outside}", str(outside)))
        assert (statement, ended.code, ended.out) == (statement, 2, "")
        assert NOTHING_RUN.match(ended.err), (statement, ended.err)
        assert CANARY not in ended.err
    assert (files(home), files(outside)) == before


def test_none_is_run_by_a_process_of_its_own(spawn: Clew, remember: Remember, home: Path, outside: Path) -> None:
    remember("The boat is at Whitby", "Noted.")
    assert spawn("query", "RETURN 1", CLEW_EMBEDDER="nothing-here").code == 0
    before = files(home), files(outside)
    for group in list(GROUPS.values())[:: 2 if soaking() else 6]:
        statement = next(each for each in group if "\x00" not in each and "\ud800" not in each)
        ended = spawn("query", "-", stdin=statement.replace("{outside}", str(outside)).encode())
        assert (statement, ended.code, ended.out) == (statement, 2, "")
        assert NOTHING_RUN.match(ended.err), (statement, ended.err)
    assert (files(home), files(outside)) == before


def test_ordinary_reads_are_answered_by_the_headless_twin(clew: Clew, remember: Remember) -> None:
    remember("The boat is at Whitby", "Noted.")
    for query in list(READS)[:: 20 if soaking() else 50]:
        ended = clew("query", "--json", "--", query)
        assert (query, ended.code) == (query, 0)
        assert ended.json["total"] == len(ended.json["rows"])
