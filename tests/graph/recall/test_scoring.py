"""Scores by hand: what a turn gets from its words, its meaning, its neighbours, its session, and the cues."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.recall import scoring
from graph.recall.evidence import Evidence, Scores, Term, Trait, Tree
from graph.recall.ranking import spread
from graph.recall.scoring import score

DAY_MS = 86_400_000
CHAIN = (-1, 0, 1, 2)


def tree(parents: Sequence[int]) -> Tree:
    """The tree of turns by what each replies to; of several replies the last is the child."""
    parent = np.array(parents, np.int32)
    child = np.full(len(parents), -1, np.int32)
    for row, above in enumerate(parents):
        if above >= 0:
            child[above] = row
    others = np.array([row for row, above in enumerate(parents) if above >= 0 and child[above] != row], np.int32)
    up, down = np.append(parent, np.int32(-1)), np.append(child, np.int32(-1))
    return Tree(parent, child, up[parent], down[child], others, parent[others])


def evidence(
    parents: Sequence[int] = CHAIN,
    *,
    terms: Sequence[Sequence[int]] = (),
    cosines: Sequence[float] | None = None,
    traits: dict[Trait, Sequence[int]] | None = None,
    **given: Any,
) -> Evidence:
    """One session said late in it by one person, unless told otherwise; `terms` and `traits` are rows."""
    size = len(parents)

    def trait(name: Trait, rows: Any) -> Any:
        return np.isin(rows, (traits or {}).get(name, ()))

    columns: dict[str, Any] = {
        "question": "what then?",
        "session": np.zeros(size, np.int32),
        "sessions": 1,
        "speaker": np.zeros(size, np.int32),
        "at": np.zeros(size, np.int64),
        "seen": np.ones(size, np.bool_),
        "named": (),
        "since": None,
        "until": None,
    }
    return Evidence(
        size=size,
        tree=tree(parents),
        terms=tuple(Term(f"stem{place}", place, np.array(rows, np.int32)) for place, rows in enumerate(terms)),
        cosines=None if cosines is None else np.array(cosines, np.float32),
        trait=trait,
        **(columns | given),
    )


def parts(scores: Scores) -> Any:
    return scores.lexical + scores.semantic + scores.graph + sum(scores.boosts.values())


def test_a_turn_with_all_the_words_gets_one_unit_and_its_neighbours_a_share_the_answer_the_largest() -> None:
    scores = score(evidence(terms=[[1]]))
    assert scores.lexical == pytest.approx([0, 1, 0, 0])
    assert scores.graph == pytest.approx([0.5, 0, 0.7, 0.5])
    of_every_reply = score(evidence((-1, 0, 0, 1), terms=[[0]]))
    assert of_every_reply.graph == pytest.approx([0, 0.7, 0.7, 0.5])
    of_the_nearer = score(evidence(terms=[[0, 3]]))
    assert of_the_nearer.graph == pytest.approx([0, 0.7, 0.5, 0])
    # a rare word weighs more than a common one
    scores = score(evidence((-1, -1, -1, -1), terms=[[0], [1, 2, 3]]))
    rare, common = math.log1p(3.5 / 1.5), math.log1p(1.5 / 3.5)
    whole = rare + common
    assert scores.lexical == pytest.approx([rare / whole, *[common / whole] * 3])


def test_meaning_is_a_turns_own_and_the_mean_around_it_and_the_best_of_the_session() -> None:
    scores = score(evidence((-1, 0), cosines=[0.4, 0.1]))
    assert scores.semantic == pytest.approx([(0.8 + 1.4 / 1.8) * 0.4 + 0.3, (0.8 + 1.4 / 1.8) * 0.1])
    assert scores.graph == pytest.approx([1.4 * 0.8 * 0.1 / 1.8 + 0.1, 1.4 * 0.8 * 0.4 / 1.8 + 0.4])
    # it reaches two turns and no further
    scores = score(evidence((-1, 0, 1, 2), cosines=[0.5, 1e-9, 1e-9, 1e-9], session=np.arange(4), sessions=4))
    assert scores.graph[1:] == pytest.approx([1.4 * 0.8 * 0.5 / 3.24, 1.4 * 0.64 * 0.5 / 3.24, 0], abs=1e-6)
    # one that is not embedded yet counts as an average one
    scores = score(evidence((-1, -1, -1), cosines=[0.6, 0.2, 0], session=np.arange(3), sessions=3))
    assert scores.semantic == pytest.approx([3.2 * 0.6, 3.2 * 0.2, 3.2 * 0.4])
    # the session of the best match is lifted and no other
    scores = score(evidence((-1, -1, -1), cosines=[0.5, 0.1, 0.1], session=np.array([0, 0, 1]), sessions=2))
    assert scores.total == pytest.approx([3.2 * 0.5, 2.2 * 0.1 + 0.5, 3.2 * 0.1])
    for lent in (scores.graph, scores.session):
        assert lent == pytest.approx([0.1, 0.5, 0])


def test_what_a_turn_has_by_itself_is_not_lent_to_it() -> None:
    scores = score(evidence((-1,), terms=[[0]], cosines=[0.5]))
    assert not scores.graph.any()
    assert scores.semantic == pytest.approx([3.2 * 0.5])
    twins = score(evidence((-1, -1), cosines=[0.5, 0.5]))
    assert twins.graph == pytest.approx([0.5] * 2)
    apart = score(
        evidence((-1, -1, -1, -1), cosines=[0.5, -0.5, -0.1, -0.3], session=np.array([0, 0, 1, 1]), sessions=2)
    )
    assert apart.graph == pytest.approx([0, 0.5, 0, -0.1])


def test_without_vectors_the_words_alone_decide_and_without_words_the_meaning() -> None:
    for cosines in (None, [0, 0, 0, 0]):
        scores = score(evidence(terms=[[2]], cosines=cosines))
        assert not scores.semantic.any()
        assert int(scores.total.argmax()) == 2
    scores = score(evidence(cosines=[0.1, 0.1, 0.1, 0.7]))
    assert not scores.lexical.any()
    assert int(scores.total.argmax()) == 3
    assert score(evidence((-1,), terms=[[0]], cosines=[0.5])).total == pytest.approx([1.25 + 3.2 * 0.5])
    none = score(evidence((), terms=[[]], cosines=[], sessions=0, named=(0,), since=0))
    assert none.total.shape == (0,)


def test_who_is_named_a_time_and_more_of_the_words_together_lift() -> None:
    speaker = np.array([0, 1, 2, 0], np.int32)
    assert score(evidence(speaker=speaker, named=(1,))).boosts["speaker"] == pytest.approx([0, 0.5, 0, 0])
    assert score(evidence(speaker=speaker, named=(2, 1))).boosts["speaker"] == pytest.approx([0, 0, 0.25, 0])
    assert "speaker" not in score(evidence(speaker=speaker)).boosts
    # a time lifts what was said in it, and fades after and before it
    at = np.array([0, 10, 17, 40]) * DAY_MS
    within = score(evidence(at=at, since=7 * DAY_MS, until=10 * DAY_MS)).boosts["time"]
    assert within == pytest.approx([1.2 / math.e, 1.2, 1.2 / math.e, 1.2 * math.exp(-30 / 7)])
    assert score(evidence(at=at, since=17 * DAY_MS)).boosts["time"][1:] == pytest.approx([1.2 / math.e, 1.2, 1.2])
    assert score(evidence(at=at, until=10 * DAY_MS)).boosts["time"][:3] == pytest.approx([1.2, 1.2, 1.2 / math.e])
    # a chat that has more of the words together is lifted, all of it
    scores = score(evidence((-1, -1, -1), terms=[[0, 2], [0]], session=np.array([0, 0, 1]), sessions=2))
    assert scores.boosts["chat"] == pytest.approx([0.25, 0.25, 0.25 * scores.lexical[2]])
    assert not score(evidence((-1, -1), terms=[[0]], seen=np.array([False, True]))).boosts["chat"].any()


def test_a_turn_with_the_kind_of_answer_asked_for_is_lifted_and_one_that_asks_sinks() -> None:
    traits: dict[Trait, Sequence[int]] = {"asks": [0], "dated": [1], "counted": [2], "names": [3]}
    plain = score(evidence(traits=traits))
    assert plain.total == pytest.approx([-0.17, 0, 0, 0])
    assert score(evidence(traits=traits, question="When was it?")).total == pytest.approx([-0.17, 0.5, 0, 0])
    assert score(evidence(traits=traits, question="So how many?")).total == pytest.approx([-0.17, 0, 0.4, 0])
    for question in ("Where was it?", "In which town?", "What cities were they?", "Whose book was it?", "Who?"):
        assert score(evidence(traits=traits, question=question)).total == pytest.approx([-0.17, 0, 0, 0.5])
    assert score(evidence(traits=traits, question="What did they eat?")).total == pytest.approx([-0.17, 0, 0, 0])


def test_only_the_texts_of_the_furthest_turns_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "WEIGHED", 2)
    traits: dict[Trait, Sequence[int]] = {"asks": [0, 1, 2, 3]}
    assert score(evidence(terms=[[1]], traits=traits)).total == pytest.approx([0.75, 1.25 - 0.17, 0.95 - 0.17, 0.75])


def test_a_turn_that_is_not_seen_gets_nothing_and_lends_nothing() -> None:
    seen = np.array([True, False, True, True])
    hidden = score(evidence(terms=[[1]], cosines=[0.2, 0.9, 0.2, 0.2], seen=seen, named=(0,)))
    without = score(evidence(terms=[[]], cosines=[0.2, 0, 0.2, 0.2], seen=seen, named=(0,)))
    assert hidden.total[1] == -math.inf
    assert parts(hidden)[1] == 0
    assert hidden.total == pytest.approx(without.total)
    # it is no neighbour, not of the session, and its word counts for none
    seen = np.array([True, False, True])
    session = np.array([0, 0, 1])
    scores = score(evidence((-1, 0, -1), cosines=[0.1, 0.9, 0.7], seen=seen, session=session, sessions=2))
    assert scores.semantic == pytest.approx([3.2 * 0.1, 0, 3.2 * 0.7])
    assert not scores.graph.any()
    seen = np.array([True, True, True, False])
    assert score(evidence(terms=[[0], [3]], seen=seen)).lexical == pytest.approx([1, 0, 0, 0])


def test_where_several_answers_are_asked_for_they_come_from_several_chats() -> None:
    told = evidence((-1, 0, -1, -1), session=np.array([0, 0, 0, 1], np.int32), sessions=2)
    scores = replace(score(told), total=np.array([1, 0.95, 0.9, 0.85], np.float32))
    lowered = spread(told, scores)
    assert lowered.total == pytest.approx([1, 0.65, 0.8, 0.85])  # one beside the best, one of its chat, one of another
    assert lowered.total == pytest.approx(scores.total + lowered.boosts["again"])
    # what is far behind is lowered with its chat
    told = evidence([-1] * 500, session=np.array([0] * 499 + [1], np.int32), sessions=2)
    scores = replace(score(told), total=np.linspace(9, 1, 500, dtype=np.float32))
    lowered = spread(told, scores)
    assert lowered.boosts["again"][450] == pytest.approx(-24 * 0.1)
    assert lowered.boosts["again"][499] == 0


@given(st.data())
def test_the_spread_is_the_largest_share_over_all_ways(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 12))
    parents = [data.draw(st.integers(-1, row - 1)) for row in range(size)]
    rows = data.draw(st.sets(st.integers(0, size - 1)))

    def above(row: int, steps: int) -> int:
        for _ in range(steps):
            row = parents[row] if row >= 0 else -1
        return row

    def share(row: int) -> float:
        before = [amount for steps, amount in enumerate(scoring.BEFORE, 1) if above(row, steps) in rows]
        after = [
            amount for steps, amount in enumerate(scoring.AFTER, 1) if any(above(other, steps) == row for other in rows)
        ]
        return max([float(row in rows), *before, *after])

    scores = score(evidence(parents, terms=[sorted(rows)]))
    assert scores.lexical + scores.graph == pytest.approx([share(row) for row in range(size)])


@given(st.data())
def test_the_total_is_its_parts(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 12))
    parents = [data.draw(st.integers(-1, row - 1)) for row in range(size)]
    rows = st.lists(st.integers(0, size - 1), unique=True).map(sorted)
    near = st.floats(-1, 1, width=32)
    scores = score(
        evidence(
            parents,
            terms=data.draw(st.lists(rows, max_size=3)),
            cosines=data.draw(st.none() | st.lists(near, min_size=size, max_size=size)),
            seen=np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size))),
            question="When, and how many?",
            traits={"asks": data.draw(rows), "dated": data.draw(rows), "counted": data.draw(rows)},
            named=data.draw(st.sampled_from([(), (0,), (1, 0)])),
            since=data.draw(st.none() | st.just(DAY_MS)),
        )
    )
    known = np.isfinite(scores.total)
    assert scores.total[known] == pytest.approx(parts(scores)[known], abs=1e-5)
    assert not parts(scores)[~known].any()
