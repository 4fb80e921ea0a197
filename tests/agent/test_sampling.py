"""Sampling settings written by hand."""

import pytest

from agent.errors import SettingsError
from agent.settings import read_sampling, write_sampling
from graph.events import Sampling


def test_what_is_named_changes_and_the_rest_stays() -> None:
    now = Sampling(top_p=0.5, seed=3)
    changed = Sampling(temperature=0.2, top_k=10, top_p=0.5, seed=None)
    assert read_sampling("temperature=0.2, top_k=10 seed=random", now) == changed


def test_what_is_written_reads_back() -> None:
    now = Sampling(temperature=1.25, seed=None, max_tokens=7)
    assert read_sampling(write_sampling(now), Sampling()) == now


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("warmth=1", "not a sampling setting"),
        ("temperature", "not a sampling setting"),
        ("top_p=7", "top_p cannot be '7'"),
    ],
)
def test_what_cannot_be_is_named(text: str, says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        read_sampling(text, Sampling())
