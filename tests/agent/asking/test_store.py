"""The history and the saved queries last: through kills, two writers, damage and a full disk."""

import json
import os
import signal
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.asking.shelf import Ran, Saved
from agent.asking.store import LONGEST, MOST, MOST_SAVED, SLACK, QueryStore
from agent.errors import QueriesUnwritable
from graph.log.byte_search import forms_of
from tests.examples import few
from tests.tables import each

AT = datetime(2026, 11, 22, 2, 30, tzinfo=UTC)
WRITER = """
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from agent.asking.store import QueryStore
from agent.asking.shelf import Ran, Saved
store, who = QueryStore(Path(sys.argv[1])), sys.argv[2]
number = 0
while number < int(sys.argv[3]):
    kept = store.keep(Ran(f"RETURN '{who}', {number} // " + "x" * 500, datetime.now(UTC)))
    store.save(Saved(f"{who} {number % 7}", f"RETURN {number}", {"n": number}))
    print(number if kept else "refused", flush=True)
    number += 1
"""


@pytest.fixture
def store(tmp_path: Path) -> QueryStore:
    return QueryStore(tmp_path / "queries")


def ran(number: int) -> Ran:
    return Ran(f"RETURN {number}", AT + timedelta(seconds=number), {}, 1, 0.5)


def test_what_was_run_and_saved_is_read_back_and_by_nobody_else(store: QueryStore) -> None:
    os.umask(0)  # the next test has its own
    whole = Ran("MATCH (t:Turn)\nWHERE t.text = $a RETURN t", AT, {"a": 'ö "x"', "l": [1, None]}, 12_340, 14.25)
    failed = Ran("RETURN", AT, error="Line 1: it ends here")
    assert store.keep(whole)
    assert store.keep(failed)
    assert store.history().entries == [failed, whole]
    assert store.history(1).entries == [failed]
    assert store.history().damaged == 0
    store.save(Saved("Who  knows\nwhom", "RETURN 1"))
    store.save(Saved("busy", "RETURN 2", {"name": "Ada"}))
    store.save(Saved("WHO knows whom", "RETURN 3"))  # of that name in any case
    assert store.saved().entries == [Saved("busy", "RETURN 2", {"name": "Ada"}), Saved("WHO knows whom", "RETURN 3")]
    assert store.remove("Busy")
    assert not store.remove("busy")
    assert [each.name for each in store.saved().entries] == ["WHO knows whom"]
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (store.folder, *store.folder.iterdir())}
    assert modes == {"queries": 0o700, "history.jsonl": 0o600, "saved.jsonl": 0o600, "lock": 0o600}


def test_there_is_an_end_to_the_history_and_to_saving(store: QueryStore) -> None:
    for number in range(MOST + SLACK + 1):
        assert store.keep(ran(number))
    assert len(store.history_file.read_bytes().splitlines()) == MOST
    entries = store.history().entries
    assert (len(entries), entries[0], entries[-1]) == (MOST, ran(MOST + SLACK), ran(SLACK + 1))
    lines = (json.dumps({"name": f"q{number}", "cypher": "RETURN 1"}) for number in range(MOST_SAVED))
    store.saved_file.write_text("\n".join(lines) + "\n")
    with pytest.raises(QueriesUnwritable, match="Remove one first"):
        store.save(Saved("one more", "RETURN 1"))
    store.save(Saved("Q7", "RETURN 2"))
    assert len(store.saved().entries) == MOST_SAVED


def test_what_is_too_long_no_json_or_without_a_name_is_not_kept(store: QueryStore) -> None:
    assert not store.keep(Ran("x" * LONGEST, AT))
    assert not store.keep(Ran("RETURN $a", AT, {"a": float("nan")}))
    assert not store.keep(Ran("RETURN $a", AT, {"a": object()}))
    for saved in (Saved("a", "x" * LONGEST), Saved("a", "RETURN $a", {"a": object()})):
        with pytest.raises(QueriesUnwritable, match="Nothing was saved"):
            store.save(saved)
    for name, cypher in (("", "RETURN 1"), (" \n", "RETURN 1"), ("x" * 81, "RETURN 1"), ("x", " ")):
        with pytest.raises(QueriesUnwritable):
            store.save(Saved(name, cypher))
    assert (store.history().entries, store.saved().entries) == ([], [])
    assert not store.saved_file.exists()
    assert store.keep(Ran("RETURN '\ud800'", AT))
    assert store.history().entries[0].cypher == "RETURN '?'", "a lone surrogate is a question mark"


DAMAGE = (
    b"no json\n", b'{"name": "cut", "cyph\n', b"\xff\xfe\x00\n", b"[1, 2]\n", b'{"name": 3, "cypher": "x"}\n',
    b'{"at": "never", "cypher": "x"}\n', b'{"at": "2026-01-01", "cypher": "x", "rows": "many"}\n', b"[" * 5000 + b"\n",
    b'{"name": "x", "cypher": "x", "parameters": [1]}\n',
)  # fmt: skip


def test_a_damaged_line_is_left_out_and_counted_and_costs_no_other(tmp_path: Path) -> None:
    def check(damage: bytes) -> None:
        store = QueryStore(tmp_path / str(DAMAGE.index(damage)))
        store.keep(ran(1))
        store.save(Saved("a", "RETURN 1"))
        for path in (store.history_file, store.saved_file):
            path.write_bytes(damage + path.read_bytes())
        store.keep(ran(2))
        store.save(Saved("b", "RETURN 2"))
        assert (store.history().entries, store.history().damaged) == ([ran(2), ran(1)], 1)
        saved = store.saved()
        assert ([each.name for each in saved.entries], saved.damaged) == (["a", "b"], 1)
        assert store.saved_file.read_bytes().startswith(damage)  # for whoever can mend it

    each(DAMAGE, check)
    cut = QueryStore(tmp_path / "cut")  # by a kill: such a line is gone with the next one
    cut.keep(ran(1))
    whole = cut.history_file.read_bytes()
    cut.history_file.write_bytes(whole + whole[: len(whole) // 2])
    assert (cut.history().entries, cut.history().damaged) == ([ran(1)], 0)
    cut.keep(ran(2))
    assert (cut.history().entries, cut.history().damaged) == ([ran(2), ran(1)], 0)


def writer(store: QueryStore, who: str, count: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", WRITER, str(store.folder), who, str(count)], stdout=subprocess.PIPE)


@pytest.mark.process
def test_a_kill_in_the_middle_of_writing_loses_nothing_that_was_kept(store: QueryStore) -> None:
    for round in range(max(2, few(6))):
        process = writer(store, f"round-{round}", 100_000)
        assert process.stdout is not None
        told = [process.stdout.readline() for _ in range(5 + 3 * round)]
        process.send_signal(signal.SIGKILL)
        told += process.stdout.readlines()
        process.wait()
        process.stdout.close()
        done = [int(line) for line in told if line.endswith(b"\n")]
        history, saved = store.history(), store.saved()
        assert (history.damaged, saved.damaged) == (0, 0)
        of_round = {int(each.cypher.split()[2]) for each in history.entries if f"'round-{round}'" in each.cypher}
        assert set(done) <= of_round
        assert {f"round-{round} {number % 7}" for number in done} <= {each.name for each in saved.entries}


@pytest.mark.process
def test_two_processes_write_at_once_and_lose_nothing(store: QueryStore) -> None:
    writers = [writer(store, who, 60) for who in ("ann", "ben")]
    told = [process.communicate()[0].split() for process in writers]
    assert [process.returncode for process in writers] == [0, 0]
    assert told == [[str(number).encode() for number in range(60)]] * 2
    entries = store.history().entries
    for who in ("ann", "ben"):
        assert [int(ran.cypher.split()[2]) for ran in entries if f"'{who}'" in ran.cypher] == list(range(60))[::-1]
        assert {saved.name for saved in store.saved().entries} >= {f"{who} {number}" for number in range(7)}


FULL = """
import resource, sys
from datetime import UTC, datetime
from pathlib import Path
from agent.asking.store import QueryStore
from agent.asking.shelf import Ran, Saved
from agent.errors import QueriesUnwritable
store = QueryStore(Path(sys.argv[1]))
room = store.history_file.stat().st_size + 40
resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
print(store.keep(Ran("RETURN 'a query that is longer than what is left of the disk'", datetime.now(UTC))))
try:
    store.save(Saved("b", "x" * room))
except QueriesUnwritable as error:
    print(error)
"""


@pytest.mark.process
def test_where_the_disk_is_full_what_was_kept_stays(store: QueryStore) -> None:
    store.keep(ran(1))
    store.save(Saved("a", "RETURN 1"))
    before = {path.name: path.read_bytes() for path in store.folder.iterdir()}
    done = subprocess.run([sys.executable, "-c", FULL, str(store.folder)], capture_output=True, text=True, check=True)
    kept, told = done.stdout.splitlines()
    assert kept == "False"
    assert "cannot be written" in told
    assert "are unchanged" in told
    assert {path.name: path.read_bytes() for path in store.folder.iterdir()} == before


def test_a_folder_that_cannot_be_made_or_is_a_link_refuses_in_words(store: QueryStore, tmp_path: Path) -> None:
    store.folder.write_text("in the way")
    assert not store.keep(ran(1))
    with pytest.raises(QueriesUnwritable, match="are unchanged"):
        store.save(Saved("a", "RETURN 1"))
    assert (store.history().entries, store.saved().entries) == ([], [])
    store.folder.unlink()
    store.folder.mkdir()
    target = tmp_path / "target"
    target.write_text("untouched")
    store.history_file.symlink_to(target)
    assert not store.keep(ran(1))
    assert target.read_text() == "untouched"


def test_lines_with_words_of_what_was_deleted_go_and_no_others(store: QueryStore) -> None:
    for cypher in ("RETURN 'a XYLOPHONIST'", "RETURN 'a harmless one'", 'RETURN "\\u0058 xylophonists"'):
        store.keep(Ran(cypher, AT))
    store.keep(Ran("RETURN $who", AT, {"who": ["Xylophonist"]}))
    store.save(Saved("Xylophonist", "RETURN 1"))
    store.save(Saved("harmless", "RETURN 1"))
    with store.history_file.open("ab") as file:
        file.write(b'{"at": "2026-01-01", "cypher": "the Xylopho')  # torn: nothing of it is to be left
    part = store.folder / "saved.jsonl.part"
    part.write_text("Xylophonist")
    words = forms_of(["Xylophonist", "Xylopho"])
    gone = {path: store.forget(path, words) for path in (store.history_file, store.saved_file, part)}
    assert gone == {store.history_file: 4, store.saved_file: 1, part: 0}
    assert [each.cypher for each in store.history().entries] == ["RETURN 'a harmless one'"]
    assert [each.name for each in store.saved().entries] == ["harmless"]
    assert not part.exists()


OLD, NEW = (
    "MATCH (t:Turn)-[:`IN`]->(s) RETURN t.onto, 'IN'",
    "MATCH (t:Turn)-[:IN_SESSION]->(s) RETURN t.on_path_since, 'IN'",
)
FAILED = Ran("MATCH (t:Turn)-[:IN]->( RETURN t", AT, error="Line 1: it ends here")


def of_a_version_before(store: QueryStore) -> None:
    """Files whose queries have names that the graph's tables had once, beside lines that nobody can read."""
    for number, cypher in enumerate((OLD, "RETURN 1", OLD)):
        store.keep(Ran(cypher, AT + timedelta(seconds=number), {"a": "-[:IN]->"}, 1, 0.5))
    store.keep(FAILED)
    store.save(Saved("chats", OLD, {"a": "-[:IN]->"}))
    store.save(Saved("unclear", "WITH {onto: 1} AS m RETURN m.onto"))
    for path in (store.history_file, store.saved_file):
        path.write_bytes(b"no json -[:IN]->\n\n" + path.read_bytes() + b'{"cypher": "MATCH (t)-[:IN]->() RET')


def test_old_names_in_what_is_kept_become_those_of_today_once(store: QueryStore) -> None:
    of_a_version_before(store)
    before = {path: path.read_text() for path in (store.history_file, store.saved_file)}
    expected = {path: text.replace(OLD, NEW) for path, text in before.items()}
    for _ in range(2):
        assert [each.cypher for each in store.history().entries] == [FAILED.cypher, NEW, "RETURN 1", NEW]
        assert store.saved().entries == [
            Saved("chats", NEW, {"a": "-[:IN]->"}), Saved("unclear", "WITH {onto: 1} AS m RETURN m.onto"),
        ]  # fmt: skip
        assert {path: path.read_text() for path in before} == expected
        written = {path: path.stat().st_mtime_ns for path in before}
    assert (store.history().damaged, store.saved().damaged) == (1, 1)
    assert {path: path.stat().st_mtime_ns for path in before} == written, "without old names they are not written"
    assert {stat.S_IMODE(path.stat().st_mode) for path in before} == {0o600}


def test_what_cannot_be_written_is_read_by_the_names_of_today(store: QueryStore, tmp_path: Path) -> None:
    of_a_version_before(store)
    before = store.saved_file.read_bytes()
    in_the_way = store.saved_file.with_name("saved.jsonl.part")
    in_the_way.mkdir()
    assert (store.saved().entries[0].cypher, store.saved_file.read_bytes()) == (NEW, before)
    in_the_way.rmdir()
    target = store.saved_file.rename(tmp_path / "mine")
    store.saved_file.symlink_to(target)
    assert store.saved().entries[0].cypher == NEW
    assert (store.saved_file.is_symlink(), target.read_bytes()) == (True, before)


def test_what_was_saved_meanwhile_is_not_lost(store: QueryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    of_a_version_before(store)
    rename = QueryStore._rename

    def after_another(self: QueryStore, path: Path) -> None:
        monkeypatch.undo()
        QueryStore(store.folder).save(Saved("new", "RETURN 2"))
        rename(self, path)

    monkeypatch.setattr(QueryStore, "_rename", after_another)
    store.saved()
    assert [each.name for each in store.saved().entries] == ["chats", "new", "unclear"]


KILLED = """
import os, signal, sys
from pathlib import Path
from agent.asking.store import QueryStore
os.replace = lambda *paths: os.kill(os.getpid(), signal.SIGKILL)
QueryStore(Path(sys.argv[1])).saved()
"""


@pytest.mark.process
def test_a_kill_before_the_new_file_is_in_its_place_leaves_the_old_one_whole(store: QueryStore) -> None:
    of_a_version_before(store)
    before = store.saved_file.read_bytes()
    done = subprocess.run([sys.executable, "-c", KILLED, str(store.folder)], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL
    assert store.saved_file.read_bytes() == before
    assert store.saved().entries[0].cypher == NEW
    assert NEW in store.saved_file.read_text()
    assert sorted(path.name for path in store.folder.iterdir()) == ["history.jsonl", "lock", "saved.jsonl"]
