"""Voices: whether a real model that writes one of two characters is kept from writing the other, and what that costs.

The casts of the scripted episodes talk: the user says what was said there, to both by turns, and now and then one
speaks unasked. Of each reply is told whether a line of it begins with the name of another (or User:, Assistant:),
whether it was cut there, and whether it is empty. Lines that begin with a part of such a name ("Brandt:" for Ilse
Brandt) are counted apart.

The tokens are held against what was drawn: those that stay are those of the words that stay, as they were drawn but for
the last step, which may be cut in its middle; and the next prompt of that voice begins with this one and them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path

from bench.fiction.episodes import Cast, Deed, Episode, Say, deed_of
from bench.fiction.playing import Done, Performance, settings_of
from bench.fiction.real import LIMITS, Drew, Recorded, sampling

MOST = 48  # tokens of a reply
SAYS = 8  # messages of an episode
SPEAKS = 4  # one in so many messages is followed by somebody who was not asked


@dataclass(slots=True)
class Lines:
    """What was counted over all replies."""

    replies: int = 0
    lines: int = 0
    of_another: list[str] = field(default_factory=list)
    of_a_part: list[str] = field(default_factory=list)
    cut: int = 0
    cut_tokens: int = 0
    empty: int = 0
    untold: list[str] = field(default_factory=list)  # whose tokens are not those of their words
    followed: int = 0  # prompts that begin with the one before and its reply
    rewritten: list[str] = field(default_factory=list)


def talk(episode: Episode, *, says: int = SAYS) -> Episode:
    """A talk of an episode's cast about what was said in it."""
    host, guest = (str(card["data"]["name"] if "data" in card else card["name"]) for card in _both(episode.cast))
    said = cycle([deed.text for deed in episode.deeds if isinstance(deed, Say)])
    deeds: list[Deed] = []
    for at, (name, text) in enumerate(zip(cycle((host, guest)), said, strict=False)):
        if at == says:
            break
        bare = re.sub(r"\(\(.*?\)\)", "", text).strip() or "Well?"
        deeds.append(deed_of(do="say", text=bare if name in bare else f"{name}! {bare}"))
        if at % SPEAKS == SPEAKS - 1:
            deeds.append(deed_of(do="speak", who=guest if name == host else host))
    return episode.model_copy(update={"deeds": tuple(deeds)})


def of_two(episodes: Iterable[Episode]) -> Iterator[Episode]:
    """Those with a guest from the beginning."""
    return (each for each in episodes if each.cast.guest is not None)


def _both(cast: Cast) -> Sequence[dict[str, dict[str, str]]]:
    assert cast.guest is not None
    return cast.host, cast.guest


async def listen(
    episode: Episode,
    folder: Path,
    *,
    model: Recorded,
    lines: Lines,
    seed: int,
    cache: Path | None = None,
    most: int = MOST,
) -> None:
    """Play an episode with a real model and count what it says."""
    settings = settings_of(recall=False, kv_mb=0, **{**LIMITS, "sampling": sampling(seed, most)})
    at = Performance(episode, folder, model=model, settings=settings, cache=cache)
    known: dict[str, tuple[int, ...]] = {}
    try:
        async for done in at.play():
            for drew, ended, voice in zip(model.drawn, done.ended, done.repliers, strict=True):
                if voice is None:
                    raise SystemExit(f"deed {done.n} of {episode.name}: nobody knows who spoke")
                _count(lines, at, done, drew, voice)
                kept = _kept(at, done, drew, voice, ended.completion_tokens)
                _hold(lines, at, drew, kept, ended.text, known.get(voice))
                if ended.text.strip():  # an empty reply is not told
                    known[voice] = drew.prompt + kept
            model.drawn.clear()
    finally:
        await at.close()


def _count(lines: Lines, at: Performance, done: Done, drew: Drew, voice: str) -> None:
    text = done.ended[-1].text
    others = [name for member, names in at.names.items() if member != voice for name in names]
    lines.replies += 1
    lines.empty += not text.strip()
    lines.cut += drew.text.strip() != text.strip()
    lines.cut_tokens += sum(len(tokens) for tokens, _ in drew.steps) - done.ended[-1].completion_tokens
    for line in text.split("\n"):
        lines.lines += bool(line.strip())
        if begins_as(line, [*others, "User", "Assistant"]):
            lines.of_another.append(line)
        elif begins_as(line, [word for name in others for word in name.split() if word[:1].isupper()]):
            lines.of_a_part.append(line)


def begins_as(line: str, names: Iterable[str]) -> bool:
    """Whether a line is that of one of some names."""
    head, colon, _ = line.replace("：", ":").partition(":")
    bare = re.sub(r"[^\w'. -]", "", head).strip().casefold()
    return bool(colon) and bare in {name.casefold() for name in names}


def _kept(at: Performance, done: Done, drew: Drew, voice: str, count: int) -> tuple[int, ...]:
    """The tokens of the reply as the log of the voice has them."""
    logs = [
        log for key, log in at.agent._prompts._logs.items() if (key.session, key.voice) == (done.chat.session, voice)
    ]
    start = len(drew.prompt)
    return tuple(logs[0].tokens[start : start + count]) if logs else ()


def _hold(
    lines: Lines, at: Performance, drew: Drew, kept: tuple[int, ...], text: str, before: tuple[int, ...] | None
) -> None:
    """Hold the tokens that stay against those that were drawn, and a prompt against the one before."""
    told = at.model.text(kept)
    whole: tuple[int, ...] = ()
    said = ""
    for tokens, piece in drew.steps:
        if len(said + piece) > len(told):
            break
        whole, said = whole + tokens, said + piece
    if told.strip() != text.strip() or kept[: len(whole)] != whole or not drew.text.startswith(told.rstrip("\n")):
        lines.untold.append(f"{text!r} is {told!r} of {drew.text!r}")
    if before is not None:
        if drew.prompt[: len(before)] == before:
            lines.followed += 1
        else:
            lines.rewritten.append(at.model.text(drew.prompt[-40:]))
