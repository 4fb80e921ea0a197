"""`clew doctor` and `clew rebuild`: what is looked at, what is told, and what is mended."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graph.values import Check

Run = Callable[..., Any]


def named(report: Any) -> dict[str, Any]:
    return {check["name"]: check for check in report["checks"]}


def test_a_healthy_clew_is_well_with_its_models_tried(spawn: Run, remember: Run) -> None:
    remember("one")
    ended = spawn("doctor", "--json")
    assert ended.code == 0, ended.out
    assert ended.json["ok"] is True
    assert ended.json["held_by"] is None
    checks = named(ended.json)
    assert {"settings", "privacy", "disk", "versions", "starts", "chain", "graph", "model", "embedder"} <= set(checks)
    assert "tokens/s" in checks["model"]["detail"]
    assert "384 numbers" in checks["embedder"]["detail"]
    assert {"models", "log"} <= set(ended.json["disk"])
    assert all(check["ok"] and not check["advice"] for check in checks.values())


def test_the_probes_leave_no_trace_in_the_history(spawn: Run, remember: Run) -> None:
    said = remember("one")
    spawn("doctor")
    assert [entry["turn"] for entry in spawn("log", "--json").json] == [said.turn]


def test_an_empty_home_is_well_and_is_not_given_a_memory(spawn: Run, home: Path) -> None:
    ended = spawn("doctor", "--json", "--no-model")
    assert ended.code == 0
    assert named(ended.json)["memory"]["detail"] == "nothing is stored yet"
    assert not (home / "memory" / "log.sqlite").exists()


def test_whatever_is_wrong_is_named_with_what_to_do(spawn: Run, home: Path, remember: Run) -> None:
    remember("one")
    (home / "config.toml").write_text("contxt = 5\n")
    (home / "config.toml").chmod(0o600)
    home.chmod(0o755)
    ended = spawn("doctor", "--json", "--no-model")
    assert ended.code == 1
    checks = named(ended.json)
    wrong = [name for name, check in checks.items() if not check["ok"]]
    assert wrong == ["settings", "privacy"]
    assert "contxt" in checks["settings"]["detail"]
    assert checks["privacy"]["advice"] == f"Run: chmod go-rwx {home}"
    people = spawn("doctor", "--no-model")
    assert f"      → Run: chmod go-rwx {home}\n" in people.out
    assert "WRONG privacy" in people.out
    assert "\x1b" not in people.out


def test_a_model_that_is_none_is_found_out(spawn: Run, remember: Run, tmp_path: Path) -> None:
    remember("one")
    (tmp_path / "text.gguf").write_text("no model at all")
    ended = spawn("doctor", "--json", CLEW_MODEL=str(tmp_path / "text.gguf"), CLEW_EMBEDDER="smollm2-135m")
    assert ended.code == 1
    checks = named(ended.json)
    assert "is not a GGUF model" in checks["model"]["detail"]
    assert "is not an embedding model" in checks["embedder"]["detail"]


def test_a_chat_model_not_fetched_yet_is_no_illness_but_nothing_fetches_an_embedder(spawn: Run, tmp_path: Path) -> None:
    ended = spawn("doctor", "--json", CLEW_MODELS=str(tmp_path / "none"))
    assert ended.code == 1
    checks = named(ended.json)
    assert [name for name, check in checks.items() if not check["ok"]] == ["embedder"]
    assert "will be downloaded when the first chat starts" in checks["model"]["detail"]
    assert "by words only" in checks["embedder"]["detail"]
    assert "clew models pull minilm-l6" in checks["embedder"]["advice"]


def test_a_damaged_log_is_found_and_the_rest_is_looked_at_all_the_same(spawn: Run, home: Path, remember: Run) -> None:
    remember("one")
    (home / "memory" / "log.sqlite").write_bytes(b"this is no database" * 1000)
    ended = spawn("doctor", "--json", "--no-model")
    assert ended.code == 1
    checks = named(ended.json)
    assert not checks["log"]["ok"]
    assert "backup" in checks["log"]["advice"]
    assert checks["settings"]["ok"]


def test_a_missing_graph_is_made_again_without_being_asked(spawn: Run, home: Path, remember: Run) -> None:
    remember("one")
    assert spawn("doctor", "--json", "--no-model").code == 0
    (home / "memory" / "graph.kuzu").unlink()
    ended = spawn("doctor", "--json", "--no-model")
    assert ended.code == 0, ended.out
    assert (home / "memory" / "graph.kuzu").exists()


def test_rebuild_makes_the_graph_anew_and_changes_no_word(spawn: Run, home: Path, remember: Run) -> None:
    said = remember("one", "two")
    ended = spawn("rebuild", "--json")
    assert ended.code == 0, ended.err
    assert ended.json["events"] == 3
    assert spawn("log", "--json").json[0]["turn"] == said.turn
    assert spawn("doctor", "--json", "--no-model").code == 0


def test_rebuild_of_nothing_is_66_and_makes_nothing(spawn: Run, home: Path) -> None:
    assert spawn("rebuild").code == 66
    assert not (home / "memory" / "log.sqlite").exists()


def test_a_check_is_shown_as_text_whatever_it_quotes() -> None:
    from tui.commands.doctor import _lines

    line = _lines(Check("settings", False, "bad \x1b[2J value", "Edit \x07 it"))
    assert "\x1b" not in line
    assert "\x07" not in line


def test_words_that_are_to_be_nowhere_are_looked_for_in_every_file(spawn: Run, home: Path, remember: Run) -> None:
    remember("A walk through Zanzibar")
    (home / "cache" / "drafts").mkdir(parents=True, exist_ok=True)
    (home / "cache" / "drafts" / "new.txt").write_text("about XYLOPHONES, and nothing else")
    ended = spawn("doctor", "--deep", "--absent", "-", "--json", stdin=b"xylophone zanzibar\nBassoon")
    assert ended.code == 1
    assert ended.json["words"] == 3
    held = {Path(path).name: words for path, words in ended.json["found"].items()}
    assert held["new.txt"] == ["xylophone"]
    assert held["log.sqlite"] == ["zanzibar"]
    assert "Bassoon" not in str(held)
    shown = spawn("doctor", "--deep", "--absent", "-", stdin=b"xylophone")
    assert "new.txt: xylophone" in shown.out
    assert "nothing else" not in shown.out


def test_words_that_are_nowhere_are_well(spawn: Run, remember: Run) -> None:
    remember("one")
    ended = spawn("doctor", "--deep", "--absent", "-", stdin=b"Bassoon")
    assert (ended.code, ended.err) == (0, "")
    assert "none found" in ended.out


@pytest.mark.parametrize(
    ("argv", "stdin", "said"),
    [
        (("--absent", "-"), b"Bassoon", "--deep"),
        (("--deep", "--absent", "Bassoon"), b"", "standard input"),
        (("--deep", "--absent", "-"), b" \n", "no word"),
    ],
)
def test_words_that_cannot_be_looked_for_are_a_wrong_usage(
    spawn: Run, argv: tuple[str, ...], stdin: bytes, said: str
) -> None:
    ended = spawn("doctor", *argv, stdin=stdin)
    assert ended.code == 2
    assert said in ended.err
