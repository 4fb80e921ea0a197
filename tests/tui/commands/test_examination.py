"""What the doctor makes of failures: a finding each, with advice that fits its cause, and never a traceback."""

import errno
import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from agent.asking.shelf import Saved
from agent.asking.store import QueryStore
from agent.home import Home
from graph.errors import GraphFailure, LogDamaged, LogNewer, LogUnreadable, LogUnwritable, NoRoom
from graph.memory import Memory
from graph.values import Check
from graph.whole_words import teach
from tests.tui.commands.conftest import Remember
from tui.commands import examination
from tui.commands.examination import examine


class Fails:
    """Raises an error, whatever it is called with."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __call__(self, *_: object, **__: object) -> None:
        raise self.error


def looked_over(home: Path) -> list[Check]:
    return list(examine(Home.resolve(home), models=False, tell=lambda text: None).checks)


def wrong(checks: list[Check]) -> dict[str, Check]:
    return {check.name: check for check in checks if not check.ok}


def test_the_advice_fits_the_cause(home: Path, remember: Remember, monkeypatch: pytest.MonkeyPatch) -> None:
    remember("one")
    for error, advice in (
        (LogNewer("newer"), "Update clew"),
        (LogDamaged("damaged"), "restore a backup"),
        (LogUnreadable("locked"), "check the disk"),
        (LogUnwritable("full"), "Free some disk space, or make the home folder writable"),
        (OSError(errno.ENOSPC, "No space left on device"), "Free some disk space"),
        (GraphFailure("broken"), "clew rebuild"),
        (NoRoom("nearly full"), "Free some disk space"),
        (ValueError("odd"), "report it"),
    ):
        monkeypatch.setattr(Memory, "open", Fails(error))
        checks = looked_over(home)
        finding = next(check for check in checks if not check.ok)
        assert str(error) in finding.detail
        assert advice in finding.advice
        assert ("rebuild" in finding.advice) == (type(error) is GraphFailure)
        if type(error) is LogUnwritable:  # and it is still read
            assert {check.name for check in checks if check.ok} >= {"chain", "texts", "words"}
            assert "Nothing stored is lost" in wrong(checks)["log"].advice


@pytest.mark.restarts
def test_on_a_full_disk_no_advice_is_refused(home: Path, remember: Remember, monkeypatch: pytest.MonkeyPatch) -> None:
    remember("one")
    (home / "backups").mkdir()
    (home / "backups" / "clew-2026.sqlite").write_bytes(b"x" * 900_000)
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1 << 20))
    found = wrong(looked_over(home))
    assert set(found) == {"disk", "graph"}
    assert "Backups (900 KB): `clew backup --list` lists them" in found["disk"].advice
    assert "Free some" in found["graph"].advice
    advised = " ".join(check.advice for check in found.values())
    assert not any(refused in advised for refused in ("clew delete", "clew rebuild", "kv_mb"))


@pytest.mark.parametrize("name", ["_settings", "_privacy", "_disk", "_queries", "_versions", "_memory"])
@pytest.mark.parametrize("error", [OSError(errno.EIO, "Input/output error"), TypeError("no"), KeyError("kind")])
@pytest.mark.restarts
def test_a_surprise_in_any_check_is_a_finding_and_the_others_are_made(
    home: Path, remember: Remember, monkeypatch: pytest.MonkeyPatch, name: str, error: Exception
) -> None:
    remember("one")
    monkeypatch.setattr(examination, name, Fails(error))
    checks = looked_over(home)
    assert {"settings", "privacy", "disk", "versions"} <= {check.name for check in checks}
    assert type(error).__name__ in wrong(checks)[name.removeprefix("_")].detail


@pytest.mark.restarts
def test_where_the_log_is_wrong_no_rebuild_is_advised(home: Path, remember: Remember) -> None:
    remember("one")
    with closing(sqlite3.connect(home / "memory" / "log.sqlite", isolation_level=None)) as db:
        teach(db)
        db.execute("UPDATE events SET text = 'forged' WHERE kind = 'turn.said' AND text = 'one'")
    found = wrong(looked_over(home))
    assert "texts" in found
    assert not any("rebuild" in check.advice or "nothing is lost" in check.advice for check in found.values())


@pytest.mark.restarts
def test_queries_that_cannot_be_read_are_told_with_what_to_do(home: Path, remember: Remember) -> None:
    remember("one")
    assert "queries" not in {check.name for check in looked_over(home)}, "nobody asked anything yet"
    store = QueryStore(home / "queries")
    store.save(Saved("mine", "RETURN 1"))
    (check,) = (check for check in looked_over(home) if check.name == "queries")
    assert (check.ok, check.detail) == (True, "1 saved, 0 in the history")
    store.saved_file.write_bytes(b'{"name": 1}\n' + store.saved_file.read_bytes())
    store.history_file.write_bytes(b"\xff\x00\n[]\n")
    finding = wrong(looked_over(home))["queries"]
    assert finding.detail == (
        f"{store.history_file} has 2 lines that cannot be read; {store.saved_file} has 1 line that cannot be read"
    )
    assert "Fix these lines" in finding.advice
    assert [each.name for each in store.saved().entries] == ["mine"]
    store.history_file.unlink()
    store.saved_file.unlink()
    store.history_file.mkdir()
    assert str(store.history_file) in wrong(looked_over(home))["queries"].detail
