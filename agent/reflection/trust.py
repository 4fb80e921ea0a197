"""What each model file is trusted with, kept so that a start does not pay for the probe again."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

from agent.themes import capable
from models.protocols import Generator

from .probe import BAR, VERSION, probe


class Trusts:
    """The scores of the probe by model file, in a small file that is only a cache."""

    def __init__(
        self, file: Path, probing: Callable[[Generator], Awaitable[float]] = probe, *, version: int = VERSION
    ) -> None:
        self._file = file
        self._probe = probing
        self._version = version
        self._scores: dict[str, float] = {}

    def known(self, generator: Generator) -> float | None:
        """The model's score, if it was asked for before in this run."""
        return self._scores.get(self._key(generator))

    async def recalled(self, generator: Generator) -> float | None:
        """The model's score, if it was ever asked for: it is not probed now."""
        return await asyncio.to_thread(self._kept, generator)

    async def score(self, generator: Generator) -> float:
        """The model's score in the probe, 0-1; probed where it was never, in the background. Raises RunError."""
        score = await self.recalled(generator)
        if score is None:
            score = self._scores[self._key(generator)] = await self._probe(generator)
            await asyncio.to_thread(self._write)
        return score

    def doubts(self, generator: Generator) -> bool:
        """Whether a model failed the probe, or is too small to be worth one here; from a thread, as it reads a file."""
        score = self._kept(generator)
        return not capable(generator.info) if score is None else not trusted(score)

    def _kept(self, generator: Generator) -> float | None:
        key = self._key(generator)
        if key not in self._scores:
            for name, score in self._read().items():
                self._scores.setdefault(name, score)
        return self._scores.get(key)

    def _key(self, generator: Generator) -> str:
        return f"{self._version}:{generator.state_key}"

    def _read(self) -> dict[str, float]:
        try:
            found = json.loads(self._file.read_text(encoding="utf-8"))
            return {str(key): min(1.0, max(0.0, float(score))) for key, score in found.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}  # lost or damaged: the model is probed again

    def _write(self) -> None:
        partial = self._file.with_suffix(".part")
        try:
            partial.write_text(json.dumps(self._scores), encoding="utf-8")
            partial.replace(self._file)
        except OSError:
            return  # it is only a cache


def trusted(score: float) -> bool:
    """Whether a model with this score is asked for observations."""
    return score >= BAR
