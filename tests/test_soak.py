"""The long run: whose turn it is with a commit, and who is left out."""

import re
import sys
from argparse import ArgumentParser
from hashlib import sha1
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from scripts import soak

COMMITS = [sha1(str(number).encode()).hexdigest() for number in range(500)]
HERE = Path("/usr/bin/python3")


def test_every_part_and_every_stranger_has_its_turn_and_a_commit_always_the_same() -> None:
    turns = [soak.by_turns(commit, lambda version: HERE) for commit in COMMITS]
    assert {part for part, _ in turns} == set(soak.PARTS)
    assert {stranger for _, stranger in turns} == set(soak.STRANGERS)
    assert turns == [soak.by_turns(commit, lambda version: HERE) for commit in COMMITS]


def test_a_python_that_is_not_here_has_no_turn() -> None:
    def no_314(version: str) -> Path | None:
        return None if version == "3.14" else HERE

    assert "python-3.14" not in {stranger for each in COMMITS for stranger in soak.by_turns(each, no_314)}
    assert soak.by_turns(COMMITS[0], lambda version: None) == [soak.by_turns(COMMITS[0], lambda version: HERE)[0]]


def test_every_python_that_is_promised_is_tried() -> None:
    promised = re.search(r'requires-python = ">=3\.(\d+)"', (soak.ROOT / "pyproject.toml").read_text())
    assert promised is not None
    tried = {who.python for who in soak.STRANGERS.values()}
    assert tried >= {f"3.{minor}" for minor in range(int(promised[1]) + 1, 14)}
    assert any(version.startswith(f"3.{promised[1]}") for version in tried)


def test_what_kills_is_given_options_that_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    class Understood(Exception):
        """It would begin."""

    parse = ArgumentParser.parse_args

    def parsed(self: ArgumentParser, *given: Any) -> None:
        parse(self, *given)
        raise Understood

    monkeypatch.setattr(ArgumentParser, "parse_args", parsed)
    for _, _, module, *arguments in soak.PARTS["kills"].commands:
        monkeypatch.setattr(sys, "argv", [module, *arguments])
        with pytest.raises(Understood):
            import_module(module).main()


def test_the_modules_of_the_mutation_runs_are_those_there_are() -> None:
    from tests.mutation.modules import modules

    named = [name for part in soak.PARTS.values() for command in part.commands for name in command if name in modules()]
    assert sorted(named) == sorted(modules())
