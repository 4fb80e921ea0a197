"""The graph follows the log, whatever happens to it: missing, damaged, outdated, foreign, failing."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from graph.errors import EventsMissing, GraphFailure, QueryFailed, QueryTimeout
from graph.kuzu import opening as opening_graph
from graph.kuzu import rebuild
from graph.kuzu.opening import OPENING
from graph.kuzu.overlay import Overlay
from graph.kuzu.rebuild import ASIDE
from graph.kuzu.store import GraphStore
from graph.memory import Memory
from graph.projection.schema import VERSION
from graph.sqlite import GRAPH as FILE
from graph.values import Progress
from tests.examples import few
from tests.graph.conftest import Open, change, ignore
from tests.graph.deeds import begin
from tests.graph.talk import said, talk

ENDLESS = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN count(a + b)"
LIVE = "MATCH (t:Turn) WHERE t.live RETURN t.id AS id ORDER BY t.seq"


def live(memory: Memory) -> list[object]:
    return [row["id"] for row in memory.query(LIVE)]


def opened(memory: Memory) -> list[str]:
    """Open the graph; returns the kinds of progress it told, in order."""
    told: list[str] = []

    def tell(progress: Progress) -> None:
        if progress.what not in told:
            told.append(progress.what)

    memory.open_graph(tell)
    return told


def test_what_is_appended_is_in_the_graph_when_append_returns(whole: Memory) -> None:
    ids = talk(whole, 4)
    assert live(whole) == ids
    rows = whole.query(
        "MATCH (s:Session)-[:HEAD]->(t:Turn)-[:REPLIES_TO]->(p:Turn)-[:SAID_BY]->(e) RETURN t.id, p.id, e.id"
    )
    assert rows == [{"t.id": "s3", "p.id": "s2", "e.id": "you"}]


@pytest.mark.restarts
def test_without_its_graph_the_memory_says_it_is_behind_and_goes_on(memory: Memory) -> None:
    talk(memory, 2)
    assert memory.append(said("more", parent="s1"))[0].graph_behind
    assert not memory.graph_ready
    with pytest.raises(GraphFailure, match="not open"):
        memory.query(LIVE)
    assert opened(memory) == ["opening", "rebuilding", "ready"]
    assert live(memory) == ["s0", "s1", "more"]


@pytest.mark.restarts
def test_openings_catch_up_or_rebuild_if_quicker(whole: Memory, opening: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    talk(whole, 2)
    memory = opening()
    memory.append(said("more", parent="s1"))
    assert opened(memory) == ["opening", "ready"]
    assert live(memory) == ["s0", "s1", "more"]
    monkeypatch.setattr("graph.kuzu.follower.REBUILD_PRICE", 10)
    memory = opening()
    ids = talk(memory, 40, "long")
    assert opened(memory) == ["opening", "rebuilding", "ready"]
    assert live(memory) == ["s0", "s1", "more", *ids]


@pytest.mark.restarts
def test_a_graph_damaged_gone_or_that_killed_the_engine_comes_back(whole: Memory, opening: Open, folder: Path) -> None:
    ids = talk(whole, 3)
    whole.close()

    def comes_back() -> None:
        memory = opening()
        assert opened(memory) == ["opening", "rebuilding", "ready"]
        assert live(memory) == ids
        memory.close()

    half = (folder / FILE).read_bytes()[: (folder / FILE).stat().st_size // 2]
    for content in (b"", b"not a graph", b"KUZU" + b"\x00" * 5000, b"\xff" * 20_000, half):
        (folder / FILE).write_bytes(content)
        comes_back()
        assert (folder / ASIDE).read_bytes().startswith(content)  # the engine makes an empty file into an empty graph
    (folder / FILE).unlink()
    comes_back()
    (folder / OPENING).touch()  # the engine died over it, and it is not tried again
    comes_back()
    assert not (folder / OPENING).exists()


@pytest.mark.restarts
def test_folders_in_the_graphs_places_make_way(whole: Memory, opening: Open, folder: Path, tmp_path: Path) -> None:
    ids = talk(whole, 3)
    whole.close()
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").touch()
    for linked in (True, False):
        for name in (FILE, FILE + ".wal", FILE + ".new", FILE + ".new.shadow", ASIDE, ASIDE + ".wal"):
            (folder / name).unlink(missing_ok=True)
            if linked:
                (folder / name).symlink_to(tmp_path / "precious")
            else:
                (folder / name / "deep").mkdir(parents=True)
        for _ in range(2):
            memory = opening()
            memory.rebuild(ignore)
            assert live(memory) == ids
        memory.close()
        assert (folder / FILE).is_file()
        assert (folder / ASIDE).is_file()
        assert (tmp_path / "precious" / "file").exists()


@pytest.mark.restarts
def test_a_graph_of_another_version_is_rebuilt(whole: Memory, opening: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = talk(whole, 3)
    memory = opening()
    monkeypatch.setattr("graph.kuzu.store.VERSION", VERSION + 1)
    monkeypatch.setattr(opening_graph, "VERSION", VERSION + 1)
    assert opened(memory) == ["opening", "rebuilding", "ready"]
    assert live(memory) == ids


@pytest.mark.restarts
def test_a_graph_of_another_log_is_rebuilt(whole: Memory, opening: Open, folder: Path, tmp_path: Path) -> None:
    talk(whole, 3)
    whole.close()
    other = Memory.open(tmp_path / "other", command="test")
    talk(other, 5, "o")
    other.close()
    (tmp_path / "other" / "log.sqlite").replace(folder / "log.sqlite")  # as when a backup is put in its place
    memory = opening()
    with pytest.raises(EventsMissing, match=r"another log.*backup.*`clew rebuild`"):
        memory.open_graph(ignore)
    assert live(memory) == ["o0", "o1", "o2", "o3", "o4"]


@pytest.mark.restarts
def test_a_graph_that_cannot_follow_is_rebuilt_behind_the_chat(whole: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    talk(whole, 2)
    renewed = threading.Event()
    whole.open_graph(lambda progress: renewed.set() if progress.what == "ready" else None)
    renewed.clear()
    flush = Overlay.flush

    def fails_once(self: Overlay, *, applied: int, link: str) -> None:
        monkeypatch.setattr(Overlay, "flush", flush)
        raise GraphFailure("no room")

    monkeypatch.setattr(Overlay, "flush", fails_once)
    assert whole.append(said("more", parent="s1"))[0].graph_behind
    assert renewed.wait(20)
    assert live(whole) == ["s0", "s1", "more"]
    assert not whole.append(said("then", parent="more"))[0].graph_behind


@pytest.mark.parametrize("trouble", [OSError(28, "No room at all"), RuntimeError("No room at all")])
def test_a_failed_rebuild_touches_no_log(memory: Memory, monkeypatch: pytest.MonkeyPatch, trouble: Exception) -> None:
    talk(memory, 2)

    def refuses(path: Path) -> GraphStore:
        raise trouble

    monkeypatch.setattr(GraphStore, "create", refuses)
    with pytest.raises(GraphFailure, match="No room at all"):
        memory.open_graph(ignore)
    assert memory.append(said("more", parent="s1"))[0].graph_behind
    with pytest.raises(GraphFailure, match="No room at all"):
        memory.query(LIVE)
    assert [check.name for check in memory.doctor() if not check.ok] == ["graph"]


@pytest.mark.parametrize("few", [0, 100])
def test_a_log_that_makes_no_sense_is_told_and_leaves_no_half_graph(
    memory: Memory, folder: Path, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(rebuild, "FEW", few)
    talk(memory, 4)
    of_s2 = "WHERE seq = (SELECT seq FROM turns WHERE id = 's2')"
    change(folder, f"UPDATE events SET structure = json_set(structure, '$.parent', 'nobody') {of_s2}")
    with pytest.raises(GraphFailure, match="nobody"):
        memory.open_graph(ignore)
    assert list(folder.glob(f"{rebuild.NEW}*")) == []
    assert memory._reader.events(limit=10)


def test_what_fails_or_takes_too_long_is_told_and_changes_nothing(whole: Memory) -> None:
    talk(whole, 2)

    def break_off(store: GraphStore, applied: int) -> None:
        with store.transaction():
            store.execute("MATCH (t:Turn) SET t.live = false")
            store.execute("MATCH (t:Nothing) RETURN t")

    with pytest.raises(GraphFailure):
        whole._graph.inspect(break_off)
    for cypher in ("MATCH (x:Nothing) RETURN x", "not cypher", "MATCH (t:Turn) RETURN t; MATCH (t:Turn) RETURN t"):
        with pytest.raises(QueryFailed):
            whole.query(cypher)
    with pytest.raises(QueryTimeout):
        whole.query(ENDLESS, timeout_s=0.05)
    assert live(whole) == ["s0", "s1"]


def test_readers_run_beside_the_writer_and_its_checkpoints(whole: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graph.kuzu.store.CHECKPOINT_EVERY", 5)
    talk(whole, 1)
    stop = threading.Event()

    def read() -> list[int]:
        counts = []
        while not stop.is_set():
            counts.append(len(live(whole)))
        return counts

    with ThreadPoolExecutor(2) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        parent = "s0"
        try:
            for number in range(few(60)):
                assert not whole.append(said(f"t{number}", parent=parent))[0].graph_behind
                parent = f"t{number}"
        finally:
            stop.set()
        assert all(reader.result() == sorted(reader.result()) for reader in readers)  # nobody ever saw less than before
    assert len(live(whole)) == few(60) + 1


def test_closing_stops_queries_in_flight(whole: Memory) -> None:
    talk(whole, 1)
    begun = threading.Event()

    def read() -> None:
        begun.set()
        whole.query(ENDLESS, timeout_s=600)

    with ThreadPoolExecutor(1) as pool:
        reader = pool.submit(read)
        begun.wait()
        whole.close()
        with pytest.raises(GraphFailure):
            reader.result()


@pytest.mark.restarts
def test_erased_text_leaves_graphs_at_once_and_files_at_an_opening(whole: Memory, opening: Open, folder: Path) -> None:
    def bytes_on_disk() -> bytes:
        return b"".join(path.read_bytes() for path in folder.glob("graph.kuzu*"))

    talk(whole, 1)
    whole.append(said("secret", parent="s0", text="the password is Xylophone"))
    whole.rebuild(ignore)
    whole.erase(3)
    assert whole.query("MATCH (t:Turn {id: 'secret'}) RETURN t.text AS text") == [{"text": None}]
    assert [check for check in whole.doctor() if not check.ok] == []
    memory = opening()
    assert b"Xylophone" in bytes_on_disk()  # the engine keeps what it overwrites, and so does the graph set aside
    assert opened(memory) == ["opening", "rebuilding", "ready"]
    assert b"Xylophone" not in bytes_on_disk()
    assert opened(opening()) == ["opening", "ready"]


def test_appends_from_many_threads_all_arrive(whole: Memory) -> None:
    whole.append(*(begin(f"s{n}") for n in range(4)))

    def speak(session: str) -> None:
        for number in range(few(40)):
            whole.append(said(f"{session}-{number}", session))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(speak, ("s0", "s1", "s2", "s3")))
    assert whole.readings.counts()["turns"] == 4 * few(40)
    assert [check for check in whole.doctor() if not check.ok] == []
