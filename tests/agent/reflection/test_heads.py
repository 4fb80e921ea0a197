"""The weights, with the default embedder and without one: each as sure as it was when it was fitted."""

import pytest

from agent.language.clauses import clauses
from agent.reflection.heads import ALONE, changes, fitted_to, kind_and_weight, lasting, weights
from agent.reflection.likeness import Embed
from agent.reflection.statements import told
from graph.events import ObservationKind
from graph.values import Vector
from tests.agent.scored import score, tables


def test_without_the_embedder_they_were_fitted_to_words_alone_decide() -> None:
    import numpy as np

    other = Vector("another@0123", np.ones(3, np.float32))
    assert fitted_to([None, None]) == fitted_to([other]) == fitted_to([]) == ALONE
    text = "I live in Oslo. ok thanks!"
    one, two = lasting(text, clauses(text), [(None, None, None)] * 2)
    assert one > 0.5 > two
    assert weights("lasting", ALONE).dense.shape == (1, 11)
    assert kind_and_weight("I like tea", None)[0] is ObservationKind.PREFERENCE
    assert changes("I sold it.", None, [("I drive a Skoda.", None)]) == [0.0]


@pytest.mark.model
async def test_with_it_they_are_surer(embed: Embed) -> None:
    rows = tables(__file__)
    kept = {text: (await told(text, embed)).statements for texts in rows.values() for text in texts}
    score(rows["lasting"], lambda text: bool(kept[text]))
    score(rows["passing"], lambda text: not kept[text])


@pytest.mark.model
async def test_an_end_is_more_likely_a_change_than_more_of_the_same(embed: Embed) -> None:
    fact = "I drive an old Skoda to work"
    end, more = "I sold the Skoda in March, I don't drive any more", "got new winter tyres for the Skoda, 400 euros"
    vectors = await embed([fact, end, more])
    (changed,), (added,) = (
        changes(text, vector, [(fact, vectors[0])]) for text, vector in zip((end, more), vectors[1:], strict=True)
    )
    assert changed > added
