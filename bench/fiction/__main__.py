"""Stories held against the rules: what voices are given, know, say and cost, and what stands on their stage.

    python -m bench.fiction [EPISODES.json] [--real] [--only leaks,twin,…] [--random 500] [--twins 200] [--scripts 40]
        [--later 20] [--facts 100] [--events 30] [--kills 20] [--turns 40] [--messages 200] [--recalled 100000]
        [--replies 500] [--short 50] [--seed 0] [--kv 1] [--threads N] [--json]

- **leaks**: all episodes of the file (bench/fiction/scripted.json without one), and as many at random; how often
  anything was found that may not be there (leaks.py). States of up to `--kv` MB are on the disk.
- **twin**: random episodes and those of the file, and their twins (twin.py), recall in every second one.
- **beliefs**: who was away takes the old place of a thing for true, until told (beliefs.py).
- **tables**: to whom a message is said, and who leaves by it (tables.py).
- **picnic**: what is left of the props of events that are over (picnic.py).
- **cards**: files of cards, imported or refused (imports.py).
- **hostile**: a judge that answers the worst (harmless.py).
- **recovery**: processes that are killed while they play (recovery.py).
- **memory** and **isolation**: facts of each one's own, and nothing of a story outside it (facts.py, isolation.py).
- **recall**: what one member's recall takes over a long story (bench/witness_recall.py).
- **alternation**: two voices that take turns, beside one alone (turns.py).
- **small**: the real default model, which changes nothing on a stage (harmless.py).
- **voices**: replies of the real default model in stories of two characters (voices.py).
- **real**: the leaks of short random episodes with the real default model.

From `memory` on they need the real models, and are left out without `--real`, where `--only` does not name them. What
is found is told, and it exits 1. What episodes are is in episodes.py.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from agent.home import Home
from bench import witness_recall
from bench.fiction import making
from bench.fiction.beliefs import beliefs
from bench.fiction.episodes import FILE, Episode, card_of, read
from bench.fiction.facts import memory
from bench.fiction.harmless import hostile, small
from bench.fiction.imports import cards
from bench.fiction.isolation import isolation
from bench.fiction.leaks import LEAKS, Leak, Looker
from bench.fiction.picnic import picnic
from bench.fiction.playing import Actor, Performance, settings_of
from bench.fiction.real import LIMITS, Recorded, default_model, sampling
from bench.fiction.recovery import recovery
from bench.fiction.tables import tables
from bench.fiction.turns import alternation
from bench.fiction.twin import Twins, twins
from bench.fiction.voices import Lines, listen, of_two, talk
from bench.report import Figure, report, say
from models.generator import LlamaGenerator
from models.store import ModelStore

PLAIN = ("leaks", "twin", "beliefs", "tables", "picnic", "cards", "hostile", "recovery")
REAL = ("memory", "isolation", "recall", "alternation", "small", "voices", "real")
SAID = 40  # sentences of role-play
INTERJECTED = 5  # of so many messages one is answered by the other voice too
DEPTH = 1000  # tokens of what one of two voices knows when they begin to take turns
TOLD = 50  # episodes after which it is told how far it is
MOST_TOLD = 12  # findings that are told of each kind
SHORT = (5, 8)  # deeds of an episode with a real model
SHORT_REPLY = 24  # tokens
T = TypeVar("T")


def run(play: Callable[[Path], Coroutine[Any, Any, T]]) -> T:
    """Play something in a folder of its own, in RAM where there is any."""
    ram = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=ram if os.access(ram, os.W_OK) else None) as folder:
        return asyncio.run(play(Path(folder) / "home"))


async def looked_through(episode: Episode, home: Path, **how: Any) -> tuple[list[Leak], Counter[str], int]:
    """The leaks of an episode, how many places were looked at, and how many deeds the story refused."""
    performance = Performance(episode, home, **how)
    looker, leaks, refused = Looker(performance), list[Leak](), 0
    try:
        async for done in performance.play():
            refused += done.refused is not None
            leaks += await looker.look(done)
    finally:
        await performance.close()
    return leaks, Counter(looker.looked), refused


def leaks(episodes: Iterable[Episode], name: str, **how: Any) -> dict[str, Figure]:
    """Look through episodes; in every second one a fake model judges, in every fifth one the graph is open."""
    kinds: Counter[str] = Counter()
    looked: Counter[str] = Counter()
    played = refused = leaking = deeds = 0
    for played, episode in enumerate(episodes, start=1):
        given = {"model": Actor(judges=played % 2 == 0), "graph": played % 5 == 0, **how}
        found, places, no = run(partial(looked_through, episode, **given))
        looked += places
        refused, deeds = refused + no, deeds + len(episode.deeds)
        first = {(leak.kind, leak.where, leak.who): leak for leak in reversed(found)}
        leaking += any(leak.kind in LEAKS for leak in found)
        for leak in first.values():
            kinds[leak.kind] += 1
            if kinds[leak.kind] <= MOST_TOLD:
                say(f"{episode.name}: {leak}")
        if played % TOLD == 0:
            say(f"{name}: {played} episodes, {sum(kinds.values())} findings")
    figures: dict[str, Figure] = {f"{name}_episodes": played, f"{name}_deeds": deeds, f"{name}_refused": refused}
    figures |= {f"{name}_{place}": count for place, count in looked.items()}
    figures |= {f"{name}_leaks": sum(kinds[kind] for kind in LEAKS), f"{name}_leaking_episodes": leaking}
    return figures | {f"{name}_{kind.replace(' ', '_')}": count for kind, count in sorted(kinds.items())}


def twin(episodes: Sequence[Episode], count: int, seed: int, *, kv_mb: int) -> dict[str, Figure]:
    """Play twins, of the guest or the host by turns, with recall in every second; of every third random one a long one.

    Those of the file come last.
    """
    total: Counter[str] = Counter()
    made = (making.episode(seed + at, length=making.LENGTHS if at % 3 else making.LONG) for at in range(count))
    for at, episode in enumerate((*made, *episodes)):
        of = episode.cast.guest if episode.cast.guest is not None and at % 3 else episode.cast.host
        name = card_of(of).name
        found: Twins = run(partial(twins, episode, b=name, recall=at % 2 == 1, kv_mb=kv_mb))
        total += Counter(prompts=found.prompts, hits=found.hits, left_out=len(found.left_out), unseen=found.unseen)
        total["episodes"] += 1
        if found.undone:
            total["without"] += 1
            say(f"{episode.name} has no twin of {name}: {found.undone}")
        elif found.difference is not None:
            total["recall" if found.difference.recall else "differ"] += 1
            say(f"{episode.name}, {name}: {found.difference}")
        else:
            total["same"] += 1
        if total["episodes"] % TOLD == 0:
            say(f"twin: {total['episodes']} episodes, {total['same']} the same")
    names = ("episodes", "same", "differ", "recall", "without", "prompts", "hits", "unseen", "left_out")
    return {f"twin_{name}": total[name] for name in names}


def voices(episodes: Iterable[Episode], model: Recorded, replies: int, seed: int, cache: Path) -> dict[str, Figure]:
    """Let casts of two talk until there are so many replies."""
    lines = Lines()
    casts = list(of_two(episodes))
    at = 0
    while lines.replies < replies:
        episode = talk(casts[at % len(casts)])
        run(partial(listen, episode, model=model, lines=lines, seed=seed + at, cache=cache))
        at += 1
        if at % 10 == 0:
            say(f"voices: {lines.replies} replies, {lines.cut} cut, {len(lines.of_another)} lines of another")
    found = {"of_another": lines.of_another, "of_a_part": lines.of_a_part, "untold": lines.untold}
    for name, texts in {**found, "rewritten": lines.rewritten}.items():
        for text in texts[:MOST_TOLD]:
            say(f"voices, {name}: {text}")
    return {
        "voices_replies": lines.replies,
        "voices_lines": lines.lines,
        "voices_lines_of_another": len(lines.of_another),
        "voices_lines_of_a_part_of_a_name": len(lines.of_a_part),
        "voices_cut": lines.cut,
        "voices_cut_tokens": lines.cut_tokens,
        "voices_empty": lines.empty,
        "voices_tokens_unlike_words": len(lines.untold),
        "voices_prompts_that_follow": lines.followed,
        "voices_prompts_rewritten": len(lines.rewritten),
    }


def real(model: Recorded, count: int, seed: int, cache: Path) -> dict[str, Figure]:
    """Short random episodes with the real model."""
    settings = settings_of(recall=True, kv_mb=0, **{**LIMITS, "sampling": sampling(seed, SHORT_REPLY)})
    episodes = (making.episode(seed + at, length=SHORT) for at in range(count))
    return leaks(episodes, "real", model=model, settings=settings, cache=cache)


def plain(options: argparse.Namespace, episodes: Sequence[Episode]) -> dict[str, Callable[[], dict[str, Figure]]]:
    """The parts that need no model, by their names."""
    made = (making.episode(options.seed + at) for at in range(options.random))
    return {
        "leaks": lambda: leaks(episodes, "scripted", kv_mb=options.kv) | leaks(made, "random", kv_mb=options.kv),
        "twin": lambda: twin(episodes, options.twins, options.seed, kv_mb=options.kv),
        "beliefs": lambda: run(partial(beliefs, count=options.scripts, told=options.later, seed=options.seed)),
        "tables": tables,
        "picnic": lambda: run(partial(picnic, count=options.events, seed=options.seed)),
        "cards": cards,
        "hostile": lambda: run(partial(hostile, turns=options.turns)),
        "recovery": lambda: killed(options.kills, options.seed),
    }


def killed(kills: int, seed: int) -> dict[str, Figure]:
    """What stands after so many kills, on a disk."""
    with tempfile.TemporaryDirectory() as folder:
        return recovery(Path(folder), kills, seed)


def with_models(options: argparse.Namespace, episodes: Sequence[Episode], parts: Sequence[str]) -> dict[str, Figure]:
    """The parts that need the real models."""
    store = ModelStore(Home.resolve(writing=False, make=False).models)
    figures: dict[str, Figure] = {}
    if "memory" in parts:
        figures |= run(partial(memory, count=options.facts, seed=options.seed))
    if "isolation" in parts:
        figures |= run(partial(isolation, count=SAID, seed=options.seed, real_embedder=True))
    if "recall" in parts:
        sizes = argparse.Namespace(turns=options.recalled, observations=options.recalled // 10)
        sizes.notes, sizes.samples = options.recalled // 5, 120
        with tempfile.TemporaryDirectory() as folder:
            found = asyncio.run(witness_recall.run(Path(folder), sizes))
        figures |= {f"recall_{name}": figure for name, figure in found.items()}

    def load() -> LlamaGenerator:
        return default_model(store, threads=options.threads)

    if "alternation" in parts:
        turns = options.turns
        figures |= run(partial(alternation, load=load, turns=turns, interjections=turns // INTERJECTED, depth=DEPTH))
    if {"small", "voices", "real"} & set(parts):
        model = Recorded(load())
        with tempfile.TemporaryDirectory() as cache:
            if "small" in parts:
                figures |= run(partial(small, model=model, turns=options.messages))
            if "voices" in parts:
                figures |= voices(episodes, model, options.replies, options.seed, Path(cache))
            if "real" in parts:
                figures |= real(model, options.short, options.seed, Path(cache))
        asyncio.run(model.model.close())
    return figures


WRONG = (
    "_leaks", "twin_differ", "twin_recall", "twin_without", "of_another", "unlike_words", "rewritten", "words_left",
    "kept_lacking", "told_at_length", "changed_by_export", "_over", "_gone", "not_undone", "differing", "unsound",
    "of_the_other", "isolation_memories", "isolation_relations", "recalled_in_main", "beyond_new", "not_follow",
    "_rewrites", "during_play", "small_changes",
)  # fmt: skip


def main() -> int:
    """Play, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("episodes", type=Path, nargs="?", default=FILE)
    parser.add_argument("--only", default="")
    parser.add_argument("--real", action="store_true")
    counts = {
        "random": 500, "twins": 200, "scripts": 40, "later": 20, "facts": 100, "events": 30, "kills": 20, "turns": 40,
        "messages": 200, "recalled": 100_000, "replies": 500, "short": 50, "seed": 0, "kv": 1,
    }  # fmt: skip
    for name, usual in counts.items():
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    every = (*PLAIN, *REAL)
    parts = options.only.split(",") if options.only else every if options.real else PLAIN
    if unknown := set(parts) - set(every):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(every)}")
    try:
        episodes = read(options.episodes)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    began = time.monotonic()
    figures: dict[str, Figure] = {}
    for name, part in plain(options, episodes).items():
        if name in parts:
            figures |= part()
    figures |= with_models(options, episodes, parts)
    report({**figures, "seconds": time.monotonic() - began}, as_json=options.json)
    return 1 if any(count for name, count in figures.items() if name.endswith(WRONG)) else 0


if __name__ == "__main__":
    sys.exit(main())
