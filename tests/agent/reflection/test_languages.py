"""The languages that people tell of themselves in: a file of rules for each, which somebody without Python can add."""

import re
from pathlib import Path

import pytest

from agent.reflection import languages
from agent.reflection.languages import LANGUAGES, foreign, rules_of
from graph.events import ObservationKind

NAMES = {
    "german": "Ich heiße Jonas",
    "french": "Je m'appelle Margaux",
    "spanish": "Me llamo Lucía",
    "italian": "Mi chiamo Chiara",
    "portuguese": "Meu nome é Tiago",
    "dutch": "Ik heet Sanne",
}


def test_every_file_of_a_language_is_used() -> None:
    files = {file.stem for file in Path(languages.__file__).parent.glob("*.toml")}
    assert files - {"english"} == set(LANGUAGES) == set(NAMES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_rules_that_can_be_read_and_tells_a_name(language: str) -> None:
    rules = list(rules_of(language))
    assert all(re.compile(pattern) for _, _, pattern in rules)
    assert {slot for _, slot, _ in rules} >= {"name", "residence", "job", "age"}
    assert foreign(NAMES[language]) == (ObservationKind.IDENTITY, "name")
