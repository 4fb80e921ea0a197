"""`clew ask` as a process of its own, with the real small model."""

import json
import re
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from subprocess import Popen

import pytest

from graph.log import lock
from graph.reader import LogReader
from models.catalogue import entry
from models.store import DEFAULT_EMBEDDER
from tests.tui.commands.conftest import Clew, Remember, held, refused, started
from tui.commands.ask import MOST_BYTES
from tui.commands.replies import FIGURES

Background = Callable[..., "Popen[bytes]"]
SHORT = {"CLEW_SAMPLING__MAX_TOKENS": "12", "CLEW_SAMPLING__TEMPERATURE": "0"}


def test_a_question_is_answered_by_the_real_model_and_kept(answering: Clew, home: Path) -> None:
    first = answering("ask", "What", "is the capital", "of France?", "--json", **SHORT)
    assert first.code == 0, first.err
    assert set(first.json) == {"reply", *FIGURES}
    assert first.json["reply"]
    assert first.json["evaluated_tokens"] == first.json["prompt_tokens"] > 10
    assert 0 < first.json["completion_tokens"] <= 12
    assert f"accepted {first.json['turn']}\n" in first.err
    second = answering("ask", "--session", "last", "And of Spain?", **SHORT)
    assert second.code == 0
    said = [entry["said"] for entry in answering("log", "--json").json]
    assert said == ["And of Spain?", "What is the capital of France?"]
    whole = answering("show", first.json["session"], "--json").json
    assert [turn["role"] for turn in whole["thread"]] == ["user", "assistant"] * 2
    assert whole["thread"][3]["text"] == second.out.removesuffix("\n")
    assert whole["session"]["name"]
    for path in [home, *home.rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, path


def test_what_is_piped_follows_the_argument_whatever_its_bytes_or_is_enough_alone(answering: Clew) -> None:
    piped = b"caf\xe9 \x1b[31mred\r\n[bold </s> <|im_end|> \x81"
    ended = answering("ask", "--json", b"Repeat: \xff".decode("utf-8", "surrogateescape"), stdin=piped, **SHORT)
    assert ended.code == 0, ended.err
    assert ended.out.count("\n") == 1, "one line that any program reads"
    assert json.loads(ended.out)["session"]
    said = answering("show", ended.json["turn"], "--json").json["turn"]["text"]
    assert said == "Repeat: �\n\ncafé �[31mred\n[bold </s> <|im_end|> �"
    assert "not all UTF-8, so some of its letters are guesses (1 unknown)." in ended.err
    ended = answering("ask", stdin=b"Say hello.\n", **SHORT)
    assert ended.code == 0
    assert all(re.fullmatch(r"accepted \w{26}|The reply was cut off.*", line) for line in ended.err.splitlines())
    assert "llama" not in ended.out, "nothing native is printed beside the words"
    assert answering("log", "--json").json[0]["said"] == "Say hello."


def test_bad_input_and_what_is_no_model_store_nothing(answering: Clew, tmp_path: Path, models_folder: Path) -> None:
    (tmp_path / "text.gguf").write_text("no model at all")
    embedder = models_folder / entry(DEFAULT_EMBEDDER).file
    refused(answering, (("ask",), 2, "The message is empty"), (("ask", "  \n"), 2, "empty"), stdin=b"\n \t")
    refused(answering, (("ask",), 65, "longer than 8 MiB"), stdin=b"x" * (MOST_BYTES + 1))
    for argv, code, says in (
        (("--session", "last"), 66, "There is no chat to continue"),
        (("--model", "no-such-model"), 69, "There is no model called"),
        (("--model", "no-such.gguf"), 69, "the file does not exist"),
        (("--model", str(tmp_path / "text.gguf")), 69, "is not a GGUF model"),
        (("--model", str(embedder)), 69, "cannot chat"),
        (("--model",), 2, "requires an argument"),
        (("--nonsense",), 2, "No such option"),
    ):
        ended = answering("ask", "hi", *argv)
        assert (ended.code, ended.out, "accepted" in ended.err) == (code, "", False), ended
        assert says in ended.err
    assert answering("log", "--json").json == []


def test_a_wrong_setting_is_78_with_its_line(answering: Clew, home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text('# mine\nmodel = "smollm2-135m"\ncontext = "much"\n')
    ended = answering("ask", "hi")
    assert ended.code == 78
    assert "config.toml:3" in ended.err


def test_a_model_of_the_settings_that_is_none_is_69_and_the_message_waits(answering: Clew, tmp_path: Path) -> None:
    (tmp_path / "text.gguf").write_text("no model at all")
    ended = answering("ask", "hi", CLEW_MODEL=str(tmp_path / "text.gguf"))
    assert ended.code == 69
    assert "is not a GGUF model" in ended.err
    (kept,) = answering("log", "--json").json
    assert (kept["said"], kept["reply"]) == ("hi", None)
    assert f"`clew --session {kept['session']}` opens its chat; use /retry there to get a reply" in ended.err


def test_a_second_clew_is_75_and_is_told_who_has_the_memory(
    background: Background, answering: Clew, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "_BRIEF_S", 0.2)  # a question is waited for, and this one is not over so soon
    first = background("ask", "Tell me a very long story about the sea.")
    assert first.stderr is not None
    accepted = first.stderr.readline().split()[1].decode()
    first.send_signal(signal.SIGSTOP)  # it may not end before the others are through
    for argv in (("rebuild",), ("erase", "--yes")):  # `ask` would wait for its turn
        second = answering(*argv)
        assert second.code == 75, argv
        assert f"(process {first.pid})" in second.err
        assert "clew (ask)" in second.err
    report = answering("doctor", "--json", "--no-model")
    assert report.code == 75
    assert f"(process {first.pid})" in report.json["held_by"]
    assert "chain" in [check["name"] for check in report.json["checks"]]
    assert answering("log", "--json").json[0]["turn"] == accepted
    assert first.poll() is None
    first.send_signal(signal.SIGCONT)


def test_ctrl_c_stops_the_reply_keeps_what_came_and_ends_130(background: Background, answering: Clew) -> None:
    process = background("ask", "Tell me a very long story about the sea.")
    assert process.stderr is not None
    assert process.stdout is not None
    accepted = process.stderr.readline().split()[1].decode()
    begun = process.stdout.read(5)
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    whole = answering("show", accepted, "--json").json
    assert whole["reply"]["stop_reason"] == "stopped"
    assert whole["reply"]["truncated"] is True
    assert (begun + rest).decode().removesuffix("\n") == whole["reply"]["text"]


def test_a_log_of_a_newer_clew_is_65_and_is_not_touched(answering: Clew, home: Path, remember: Remember) -> None:
    remember("one")
    log = home / "memory" / "log.sqlite"
    with closing(sqlite3.connect(log, isolation_level=None)) as db:
        (version,) = db.execute("PRAGMA user_version").fetchone()
        db.execute(f"PRAGMA user_version = {version + 1000}")
    before = log.read_bytes()
    for argv in (("ask", "hi"), ("log",)):
        ended = answering(*argv)
        assert ended.code == 65, argv
        assert "newer" in ended.err
    assert log.read_bytes() == before


def test_what_was_asked_beside_a_damaged_graph_is_kept(answering: Clew, home: Path, remember: Remember) -> None:
    remember("one")
    (home / "memory" / "graph.kuzu").write_bytes(b"this is no graph" * 1000)
    (home / "memory" / "graph.kuzu").chmod(0o600)
    assert answering("ask", "hi", **SHORT).code == 0
    report = answering("doctor", "--json", "--no-model")
    assert report.code == 0, report.out
    with held(home), closing(LogReader.open(home / "memory")) as reader:  # the log can be opened
        assert reader.counts()["turns"] == 4


@pytest.mark.process
def test_bytes_of_the_command_line_are_utf8_in_any_locale_or_refused(environment: dict[str, str]) -> None:
    ascii_alone = environment | {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    kept = started(ascii_alone, "remember", "Ärger macht müde".encode())  # type: ignore[arg-type]
    assert kept.returncode == 0, kept.stderr
    assert b"rger macht" in (shown := started(environment, "memories", "--json").stdout)
    assert json.loads(shown)[0]["text"] == "Ärger macht müde"
    refused = started(environment, "remember", b"\xc4rger")  # type: ignore[arg-type]
    assert (refused.returncode, refused.stdout) == (65, b"")
    assert b"is no text in UTF-8. Nothing was done." in refused.stderr
