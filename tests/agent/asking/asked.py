"""Questions put as the Agent puts them, with an embedder or without one, and the answers that they are to have."""

import asyncio
import tomllib
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from agent.asking.matching import AskedQuestion, Match, Matcher, nearest
from agent.asking.shelf import Translation
from agent.embedding import _unit
from agent.model_host import LoadedEmbedder
from graph.values import Vector
from models.protocols import Embedder
from tests.agent.asking.told import NOW
from tests.examples import few

Row = TypeVar("Row")
OSLO = ZoneInfo("Europe/Oslo")
NAMES = ("Anna Berg", "Ben", "Oslo", "Bergen")


def lines(name: str) -> list[str]:
    """The lines of a table beside this file, without what is said of it."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def answers(part: str) -> dict[str, Any]:
    """What is asked in a part of answers.toml, with the rows that answer it."""
    found: dict[str, Any] = tomllib.loads(Path(__file__).with_name("answers.toml").read_text(encoding="utf-8"))[part]
    return found


def as_told(value: Any) -> Any:
    """A value of a row as answers.toml has it."""
    if isinstance(value, dict) and "_nodes" in value:
        return [node["id"] for node in value["_nodes"]]
    return "" if value is None else value


def some(rows: Sequence[Row]) -> Sequence[Row]:
    """All rows in `soak`; else the first of them and as many others as there is time for, from everywhere."""
    return rows[:: len(rows) // few(len(rows))]


class Vectors:
    """What an embedder makes, as the Agent's own gives it; without one, nothing."""

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder
        self.embedded: list[int] = []  # how many texts at once

    @property
    def key(self) -> str | None:
        return None if self._embedder is None else f"{self._embedder.info.name}@test"

    async def query(self, text: str) -> Vector | None:
        return (await self.vectors([text]))[0]

    async def vectors(self, texts: Sequence[str]) -> list[Vector | None]:
        if self._embedder is None or self.key is None:
            return [None] * len(texts)
        self.embedded.append(len(texts))
        loaded = LoadedEmbedder(self._embedder, self.key)
        return [_unit(loaded, row) for row in await self._embedder.embed(texts)]


class Asking:
    """Puts questions; the vectors of the examples are kept in `file`."""

    def __init__(self, embedder: Embedder | None, file: Path) -> None:
        self.vectors = Vectors(embedder)
        self.matcher = Matcher(self.vectors, file)

    def put(
        self, question: str, *, names: Sequence[str] = NAMES, speakers: Sequence[str] = (), now: datetime = NOW
    ) -> Translation | None:
        """The ready query of a question, if there is one that may be meant."""
        return asyncio.run(nearest(_asked(question, names, speakers, now), self.matcher))

    def sure(self, question: str, *, names: Sequence[str] = NAMES, speakers: Sequence[str] = ()) -> Translation | None:
        """The same, where it is sure."""
        found = self.put(question, names=names, speakers=speakers)
        return found if found is not None and found.how == "template" else None

    def matches(self, question: str, names: Sequence[str] = NAMES) -> list[Match]:
        """What it comes near to, the nearest first."""
        return asyncio.run(self.matcher.matches(_asked(question, names, (), NOW)))


def _asked(question: str, names: Sequence[str], speakers: Sequence[str], now: datetime) -> AskedQuestion:
    by_key = {name.casefold(): name for name in (*names, *speakers)}
    return AskedQuestion(question, by_key, {name.casefold(): name for name in speakers}, now, OSLO)
