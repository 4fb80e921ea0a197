"""The LoCoMo benchmark: evidence is read robustly, shares and ceilings are right, and a tiny file runs end to end."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from bench.locomo import Question, Tally, best_order, questions_of, run

SESSIONS = {"D1:1": "a", "D1:2": "a", "D2:1": "b", "D2:2": "b"}


def conversation() -> dict[str, Any]:
    """Two people over two sessions, and what one may ask about them."""
    return {
        "sample_id": "tiny",
        "conversation": {
            "speaker_a": "Mira",
            "speaker_b": "Olaf",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Mira", "dia_id": "D1:1", "text": "I planted tomatoes on the balcony."},
                {"speaker": "Olaf", "dia_id": "D1:2", "text": "Mine never get enough sun."},
            ],
            "session_2_date_time": "9:00 am on 1 June, 2023",
            "session_2": [
                {"speaker": "Olaf", "dia_id": "D2:1", "text": "My cat broke the blue vase."},
                {"speaker": "Mira", "dia_id": "D2:2", "text": "Oh no, was it your grandmother's?"},
            ],
        },
        "qa": [
            {"question": "What did Mira plant?", "evidence": ["D1:1"], "category": 4},
            {"question": "What did Olaf's cat break?", "evidence": ["D2:1; D2:2"], "category": 1},
            {"question": "Who shot the sheriff?", "evidence": ["D1:1"], "category": 5},
            {"question": "Without evidence", "evidence": [], "category": 2},
        ],
    }


def test_odd_evidence_is_read_what_is_no_turn_dropped_and_so_are_questions_without_it_or_of_another_category() -> None:
    for evidence, found in (
        (["D1:1"], {"D1:1"}),
        (["D1:1; D2:2"], {"D1:1", "D2:2"}),
        (["D:1:2"], {"D1:2"}),
        (["D1:1", "D", "D9:9"], {"D1:1"}),
        (["D1:01"], {"D1:1"}),
    ):
        asked = {"qa": [{"question": "?", "evidence": evidence, "category": 1}]}
        assert [question.evidence for question in questions_of(asked, set(SESSIONS))] == [frozenset(found)]
    assert [question.category for question in questions_of(conversation(), set(SESSIONS))] == [4, 1]


def test_shares_are_of_the_evidence_and_sessions_rank_by_their_best_turn() -> None:
    tally = Tally()
    question, ranked = Question("?", frozenset({"D1:1", "D2:1"}), 1), [("D2:2",), ("D1:1",), ("D1:2", "D2:1")]
    tally.add(question, ranked, SESSIONS, 0.002)
    overall = tally.figures()["overall"]
    assert overall["turn@5"] == 100
    assert overall["session@1"] == 50
    assert overall["session@5"] == 100
    assert tally.figures()["latency_ms"] == {"p50": 2.0, "p95": 2.0}


def test_the_ceiling_is_what_no_order_beats() -> None:
    question = Question("?", frozenset({"D1:1", "D1:2", "D2:1"}), 1)
    ranked = best_order(question, SESSIONS)
    assert set(ranked[:2]) == {"D1:1", "D2:1"}
    assert ranked[2:] == ["D1:2", "D2:2"]


def test_a_file_runs_through_import_embedding_and_recall(
    models_folder: Path, embed_gguf: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLEW_MODELS", str(models_folder))
    tallies = asyncio.run(run([conversation()]))
    assert set(tallies) == {"clew", "bm25", "vectors", "ceiling"}
    for way in ("clew", "vectors"):
        figures = tallies[way].figures()
        assert set(figures) == {"overall", "by_category", "latency_ms"}
        assert figures["overall"]["turn@5"] == 100
        assert set(figures["by_category"]) == {"multi-hop", "single-hop"}
    assert tallies["clew"].figures()["overall"]["session@1"] == 100
