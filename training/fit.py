"""Fits the heads of agent/reflection to the labelled text beside this file, and writes their weights.

    python -m training.fit [--check]

training/lasting/*.jsonl: messages, each with the stretches that last (`keep`), a file for each hand that wrote them.
training/kinds.jsonl: such stretches with kind and significance. training/changes/*.jsonl: a fact, something said
later, and whether that changes it. None of it is text that a benchmark counts. Without --check weights are written for
the default embedder and for words alone; with it, what fits one part of the messages is tried on the others, and the
figures are printed. It takes about five minutes the first time, most of them
embedding.
"""

import argparse
import asyncio
import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agent.home import Home
from agent.language.clauses import BUCKETS, Clause, buckets, clauses, contents, hashed, marks, pairs_of
from agent.model_host import llama_embedder_loader
from agent.reflection.heads import ALONE, FILE, KINDS, MEANING, WORDS, Weights, pair
from agent.settings import Settings

HERE = Path(__file__).parent
CACHE = HERE.parent / "build" / "training-vectors.npz"
PARTS = 5
STEPS, STEPS_DEEP = 400, 150  # of a fit; of one with a hidden layer
UNITS = 64
Floats = NDArray[np.float32]
Buckets = list[list[int]]


@dataclass(slots=True)
class Examples:
    """What one head is fitted to: values and buckets of each example, what is right, and the part it is tried in."""

    values: Floats
    found: Buckets
    right: NDArray[np.int64]  # 0/1, or the place of the class
    part: NDArray[np.int64]


def fit(examples: Examples, *, outputs: int, dense: float, words: float, units: int = 0) -> Weights:
    """Logistic regression (softmax for several outputs) with a ridge, by Adam over all examples at once.

    With `units` a hidden layer stands beside it, half of it left out by chance in each step, the same chance each time.
    """
    rows, size = examples.values.shape
    place = np.repeat(np.arange(rows), [len(each) for each in examples.found])
    bucket = np.array([one for each in examples.found for one in each], np.int64)
    worth = np.array([WORDS / len(each) ** 0.5 for each in examples.found for _ in each], np.float32)
    wanted = np.eye(max(outputs, 2), dtype=np.float32)[examples.right] if outputs > 1 else examples.right[:, None]
    chance = np.random.default_rng(0)
    values = np.concatenate([examples.values, np.ones((rows, 1), np.float32)], axis=1) if units else examples.values
    parts: list[Floats] = [
        np.zeros((outputs, size), np.float32),
        np.zeros((outputs, BUCKETS), np.float32),
        np.zeros(outputs, np.float32),
        chance.normal(0, max(size, 1) ** -0.5, (units, size + 1)).astype(np.float32),
        chance.normal(0, 0.1, (outputs, units)).astype(np.float32),
    ]
    straight, said, bias, hidden, told = parts
    first, second = ([np.zeros_like(part) for part in parts] for _ in range(2))
    steps, fastest = (STEPS, 0.05) if not units else (STEPS_DEEP, 0.02)
    for step in range(1, steps + 1):
        made = examples.values @ straight.T + bias
        for output in range(outputs):
            made[:, output] += np.bincount(place, worth * said[output, bucket], rows)
        slopes_of_units: list[Floats] = [np.zeros_like(hidden), np.zeros_like(told)]
        if units:
            lit = values @ hidden.T
            kept = 2 * (chance.random(lit.shape, np.float32) < 0.5) * (lit > 0)
            lit *= kept
            made += lit @ told.T
        if outputs > 1:
            likely = np.exp(made - made.max(axis=1, keepdims=True))
            likely /= likely.sum(axis=1, keepdims=True)
        else:
            likely = 1 / (1 + np.exp(-made))
        off = ((likely - wanted) / rows).astype(np.float32)
        if units:
            slopes_of_units = [((off @ told) * kept).T @ values + dense * hidden, off.T @ lit + dense * told]
        spread = np.array([np.bincount(bucket, worth * off[place, each], BUCKETS) for each in range(outputs)])
        slopes = [off.T @ examples.values + dense * straight, spread + words * said, off.sum(axis=0), *slopes_of_units]
        rate = fastest * min(1.0, 2 * (1 - step / (steps + 1)))
        for part, slope, mean, square in zip(parts, slopes, first, second, strict=True):
            mean[:] = 0.9 * mean + 0.1 * slope
            square[:] = 0.999 * square + 0.001 * slope**2
            part -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return Weights(straight, said, bias, *((hidden, told) if units else ()))


class Vectors:
    """The vectors of texts by the default embedder, each embedded once, and kept for the next run in build/."""

    def __init__(self) -> None:
        self._known: dict[str, Floats] = {}
        self.name = ""
        if CACHE.exists():
            with np.load(CACHE, allow_pickle=False) as kept:
                self.name = str(kept["name"])
                self._known = dict(zip(kept["texts"].tolist(), kept["vectors"], strict=True))

    def add(self, texts: Sequence[str]) -> None:
        """Embed those that are new."""
        if new := [text for text in dict.fromkeys(texts) if text not in self._known]:
            asyncio.run(self._add(new))
            CACHE.parent.mkdir(exist_ok=True)
            known = list(self._known)
            np.savez(CACHE, name=self.name, texts=np.array(known), vectors=self.of(known))

    async def _add(self, texts: Sequence[str]) -> None:
        loaded = llama_embedder_loader(Home.resolve(writing=False), Settings())(Settings().embedder)
        self.name = loaded.key.partition("@")[0]
        try:
            for start in range(0, len(texts), 64):
                some = texts[start : start + 64]
                self._known.update(zip(some, await loaded.embedder.embed(some), strict=True))
        finally:
            await loaded.embedder.close()

    def of(self, texts: Sequence[str]) -> Floats:
        """float32[texts, dimension]."""
        return np.array([self._known[text] for text in texts], np.float32)


def read(path: Path) -> list[dict[str, str]]:
    """The lines of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def part_of(text: str) -> int:
    """The part that a message is tried in: all its clauses in the same."""
    return zlib.crc32(text.encode()) % PARTS


def labelled() -> list[tuple[str, Clause, bool]]:
    """Every clause of every message, and whether most of its words last."""
    found = []
    for line in (line for path in sorted((HERE / "lasting").glob("*.jsonl")) for line in read(path)):
        text = line["text"]
        kept = [False] * len(text)
        for stretch in line["keep"]:
            start = text.index(stretch)
            kept[start : start + len(stretch)] = [True] * len(stretch)
        for clause in clauses(text):
            words = [
                kept[clause.start + word.start()] for word in re.finditer(r"\w+", text[slice(clause.start, clause.end)])
            ]
            if words:
                found.append((text, clause, 2 * sum(words) >= len(words)))
    return found


def of_clauses(vectors: Vectors | None) -> Examples:
    """What tells whether a clause lasts."""
    rows = labelled()
    values = np.array([marks(text, clause) for text, clause, _ in rows], np.float32)
    if vectors is not None:
        texts = [contents(text, clause) for text, clause, _ in rows]
        vectors.add([each for row in texts for each in row])
        meaning = np.concatenate([vectors.of([row[place] for row in texts]) for place in range(3)], axis=1)
        values = np.concatenate([MEANING * meaning, values], axis=1)
    found = [buckets(text, clause) for text, clause, _ in rows]
    right = np.array([lasts for _, _, lasts in rows], np.int64)
    return Examples(values, found, right, np.array([part_of(text) for text, _, _ in rows]))


def of_texts(texts: Sequence[str], right: Sequence[int], vectors: Vectors | None) -> Examples:
    """What tells of a text by itself."""
    values = np.zeros((len(texts), 0), np.float32)
    if vectors is not None:
        vectors.add(texts)
        values = MEANING * vectors.of(texts)
    found = [hashed(pairs_of(text)) for text in texts]
    return Examples(values, found, np.array(right, np.int64), np.array([part_of(text) for text in texts]))


def of_pairs(vectors: Vectors) -> tuple[Examples, Examples]:
    """What tells of a change, and of one of a certain fact: for that the cue is one fitted without the pair's part."""
    pairs = [line for path in sorted((HERE / "changes").glob("*.jsonl")) for line in read(path)]
    changed = [int(each["label"] == "change") for each in pairs]
    later, facts = [each["later"] for each in pairs], [each["fact"] for each in pairs]
    cues = of_texts(later, changed, vectors)
    vectors.add(facts)
    cosines = (vectors.of(later) * vectors.of(facts)).sum(axis=1)
    told = np.array([each["label"] != "unrelated" for each in pairs])
    cue = np.zeros(len(pairs), np.float32)
    for part in range(PARTS):
        fitted = fit(some(cues, (cues.part != part) & told), outputs=1, dense=3e-3, words=1e-3)
        here = some(cues, cues.part == part)
        cue[cues.part == part] = fitted.of(here.values, here.found)[:, 0]
    seen = [pair(*each) for each in zip(later, facts, cosines.tolist(), cue.tolist(), strict=True)]
    none: Buckets = [[] for _ in pairs]
    return some(cues, told), Examples(np.array(seen, np.float32), none, cues.right, cues.part)


def some(examples: Examples, which: NDArray[np.bool_]) -> Examples:
    """Those of the examples."""
    found = [each for each, taken in zip(examples.found, which, strict=True) if taken]
    return Examples(examples.values[which], found, examples.right[which], examples.part[which])


def tried(examples: Examples, *, outputs: int, dense: float, words: float, units: int) -> Floats:
    """What is said of each example by weights fitted without its part."""
    made = np.zeros((len(examples.right), outputs), np.float32)
    for part in range(PARTS):
        fitted = fit(some(examples, examples.part != part), outputs=outputs, dense=dense, words=words, units=units)
        here = some(examples, examples.part == part)
        made[examples.part == part] = fitted.of(here.values, here.found)
    return made


def show(name: str, examples: Examples, made: Floats) -> None:
    """For a yes or no the recall at some precisions, with the probability there; else the share that is right."""
    if made.shape[1] > 1:
        print(f"{name}: {len(made)} examples, {(made.argmax(axis=1) == examples.right).mean():.3f} right")
        return
    order = np.argsort(-made[:, 0])
    right = np.cumsum(examples.right[order])
    precision = right / np.arange(1, len(order) + 1)
    for bar in (0.95, 0.9, 0.85, 0.8):
        last = max(np.flatnonzero(precision >= bar), default=0)
        least = 1 / (1 + np.exp(-made[order[last], 0]))
        print(f"{name}: precision {bar}, recall {right[last] / right[-1]:.3f}, from {least:.2f} on")


def heads(vectors: Vectors) -> dict[str, tuple[Examples, int, float, float, int]]:
    """Every head by name and embedder: its examples, outputs, the ridges over values and over words, hidden units."""
    found: dict[str, tuple[Examples, int, float, float, int]] = {}
    kinds = read(HERE / "kinds.jsonl")
    texts = [each["text"] for each in kinds]
    kind = [KINDS.index(each["kind"]) for each in kinds]
    matters = [int(each["significance"]) - 1 for each in kinds]
    for embedder, of in ((None, vectors), (ALONE, None)):
        name = embedder or "{}"
        found[f"lasting/{name}"] = of_clauses(of), 1, 1e-3, 5e-4, UNITS if of is not None else 0
        found[f"kind/{name}"] = of_texts(texts, kind, of), len(KINDS), 1e-3, 1e-3, 0
        found[f"significance/{name}"] = of_texts(texts, matters, of), 3, 1e-3, 1e-3, 0
    cues, pairs = of_pairs(vectors)
    found["cue/{}"] = cues, 1, 3e-3, 1e-3, 0
    found["pair/{}"] = pairs, 1, 1e-2, 1.0, 0
    return {name.format(vectors.name): each for name, each in found.items()}


def main() -> None:
    """Fit and write, or fit and try."""
    parser = argparse.ArgumentParser(prog="python -m training.fit", description=__doc__)
    parser.add_argument("--check", action="store_true", help="print how well it does on what it was not fitted to")
    check = parser.parse_args().check
    kept: dict[str, NDArray[np.float16]] = {}
    for name, (examples, outputs, dense, words, units) in heads(Vectors()).items():
        if check:
            show(name, examples, tried(examples, outputs=outputs, dense=dense, words=words, units=units))
            continue
        fitted = fit(examples, outputs=outputs, dense=dense, words=words, units=units)
        for each in fields(fitted):
            if (part := getattr(fitted, each.name)) is not None:
                kept[f"{name}/{each.name}"] = part.astype(np.float16)
    if not check:
        np.savez_compressed(FILE, **kept)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
