"""`clew doctor` and `clew rebuild`: what is looked at, what is told, and what is mended."""

from pathlib import Path
from typing import Any

import pytest

from graph.values import Check
from tests.tui.commands.conftest import Clew, Remember


def named(report: Any) -> dict[str, Any]:
    return {check["name"]: check for check in report["checks"]}


def test_a_healthy_clew_is_well_and_trying_its_models_leaves_no_trace(answering: Clew, remember: Remember) -> None:
    said = remember("one")
    ended = answering("doctor", "--json")
    assert ended.code == 0, ended.out
    assert ended.json["ok"] is True
    assert ended.json["held_by"] is None
    checks = named(ended.json)
    assert {"settings", "privacy", "disk", "versions", "starts", "chain", "graph", "model", "embedder"} <= set(checks)
    assert "tokens/s" in checks["model"]["detail"]
    assert "384 numbers" in checks["embedder"]["detail"]
    assert {"models", "log"} <= set(ended.json["disk"])
    assert ended.json["disk"]["log"] > 0
    assert "log " in checks["disk"]["detail"]
    assert all(check["ok"] and not check["advice"] for check in checks.values())
    assert [entry["turn"] for entry in answering("log", "--json").json] == [said.turn]


def test_an_empty_home_is_well_and_is_not_given_a_memory(clew: Clew, home: Path) -> None:
    ended = clew("doctor", "--json", "--no-model")
    assert ended.code == 0
    assert named(ended.json)["memory"]["detail"] == "nothing is stored yet"
    assert not (home / "memory" / "log.sqlite").exists()


@pytest.mark.restarts
def test_whatever_is_wrong_is_named_with_what_to_do(clew: Clew, home: Path, remember: Remember) -> None:
    remember("one")
    (home / "config.toml").write_text("contxt = 5\n")
    (home / "config.toml").chmod(0o600)
    home.chmod(0o755)
    ended = clew("doctor", "--json", "--no-model")
    assert ended.code == 1
    checks = named(ended.json)
    wrong = [name for name, check in checks.items() if not check["ok"]]
    assert wrong == ["settings", "privacy"]
    assert "contxt" in checks["settings"]["detail"]
    assert checks["privacy"]["advice"] == f"Run: chmod go-rwx {home}"
    people = clew("doctor", "--no-model")
    assert f"      → Run: chmod go-rwx {home}\n" in people.out
    assert "WRONG privacy" in people.out
    assert "\x1b" not in people.out


def test_models_that_are_none_are_found_and_one_not_fetched_yet_is_no_illness(answering: Clew, tmp_path: Path) -> None:
    (tmp_path / "text.gguf").write_text("no model at all")
    ended = answering("doctor", "--json", CLEW_MODEL=str(tmp_path / "text.gguf"), CLEW_EMBEDDER="smollm2-135m")
    assert ended.code == 1
    checks = named(ended.json)
    assert "is not a GGUF model" in checks["model"]["detail"]
    assert "is not an embedding model" in checks["embedder"]["detail"]
    ended = answering("doctor", "--json", CLEW_MODELS=str(tmp_path / "none"))
    assert ended.code == 1
    checks = named(ended.json)
    assert [name for name, check in checks.items() if not check["ok"]] == ["embedder"]
    assert "will be downloaded when the first chat starts" in checks["model"]["detail"]
    assert "by words only" in checks["embedder"]["detail"]
    assert "clew models pull minilm-l6" in checks["embedder"]["advice"]


def test_a_damaged_log_is_found_and_the_rest_looked_at_all_the_same(clew: Clew, home: Path, remember: Remember) -> None:
    remember("one")
    (home / "memory" / "log.sqlite").write_bytes(b"this is no database" * 1000)
    ended = clew("doctor", "--json", "--no-model")
    assert ended.code == 1
    checks = named(ended.json)
    assert not checks["log"]["ok"]
    assert "backup" in checks["log"]["advice"]
    assert checks["settings"]["ok"]


@pytest.mark.restarts
def test_a_missing_graph_is_made_again_without_being_asked_and_a_rebuild_makes_it_anew_and_changes_no_word(
    clew: Clew, home: Path, remember: Remember
) -> None:
    said = remember("one", "two")
    for _ in range(2):
        ended = clew("doctor", "--json", "--no-model")
        assert ended.code == 0, ended.out
        assert (home / "memory" / "graph.kuzu").exists()
        (home / "memory" / "graph.kuzu").unlink()
    ended = clew("rebuild", "--json")
    assert ended.code == 0, ended.err
    assert ended.json["events"] == 3
    assert clew("log", "--json").json[0]["turn"] == said.turn
    assert clew("doctor", "--json", "--no-model").code == 0


def test_a_check_is_shown_as_text_whatever_it_quotes() -> None:
    from tui.commands.doctor import _lines

    line = _lines(Check("settings", False, "bad \x1b[2J value", "Edit \x07 it"))
    assert "\x1b" not in line
    assert "\x07" not in line


@pytest.mark.restarts
def test_words_that_are_to_be_nowhere_are_looked_for_in_every_file(clew: Clew, home: Path, remember: Remember) -> None:
    remember("A walk through Zanzibar")
    (home / "cache" / "drafts").mkdir(parents=True, exist_ok=True)
    (home / "cache" / "drafts" / "new.txt").write_text("about XYLOPHONES, and nothing else")
    ended = clew("doctor", "--deep", "--absent", "-", "--json", stdin=b"xylophone zanzibar\nBassoon")
    assert ended.code == 1
    assert ended.json["words"] == 3
    held = {Path(path).name: words for path, words in ended.json["found"].items()}
    assert held["new.txt"] == ["xylophone"]
    assert held["log.sqlite"] == ["zanzibar"]
    assert "Bassoon" not in str(held)
    shown = clew("doctor", "--deep", "--absent", "-", stdin=b"xylophone")
    assert "new.txt: xylophone" in shown.out
    assert "nothing else" not in shown.out
    nowhere = clew("doctor", "--deep", "--absent", "-", stdin=b"Bassoon")
    assert (nowhere.code, nowhere.err) == (0, "")
    assert "none found" in nowhere.out
