"""Nonces: a word in everything that is said, answered, noted, or told in a card, to be known wherever it stands.

What is said by deed 7 has `nonceu7z`, the reply to it `noncer7z`, notes in it `noncen7k0z`, what a reply says for
another, and is cut, `noncex7z`, what it sets of somebody's mind `noncei7z`. The first paragraph of card 1, which
everybody knows, has `nonceo1z`, all else in it `noncep1z`.
"""

import re
from collections.abc import Iterable
from typing import Any

from bench.fiction.episodes import Cast, Compact, Deed, Edit, Episode, Inner, Join, Kill, Say, card_of

NONCE = re.compile(r"nonce[a-z]\d+(?:k\d+)?z")
OPEN = re.compile(r"nonceo(\d+)z")
NOTE = re.compile(r"\)\)")
OF_THINGS = (
    "the tide the harbour a lantern three gulls an old rope the chapel wet stones a kettle the ledger her brother "
    "salt bread the north wall a broken oar the ferry candle smoke an empty chair the bell a letter the frost"
)
WORDS = OF_THINGS.split()
LONG = 260  # words that pass the high-water mark with what is there already
JOINED = 100  # the number of the card of deed 0; host and guest have 0 and 1


def found(texts: Iterable[str | None]) -> set[str]:
    """The nonces in some texts."""
    return {nonce for text in texts if text for nonce in NONCE.findall(text)}


def of(kind: str, number: int, more: int = 0) -> str:
    """A nonce; `more` for the second of its kind and so on."""
    return f"nonce{kind}{number}k{more}z" if more else f"nonce{kind}{number}z"


def marked(episode: Episode) -> Episode:
    """An episode whose words all have their nonces, and whose deeds their numbers."""
    deeds = tuple(_marked(deed, at if deed.n is None else deed.n) for at, deed in enumerate(episode.deeds))
    host, guest = _card(episode.cast.host, 0), episode.cast.guest
    cast = episode.cast.model_copy(update={"host": host, "guest": guest and _card(guest, 1)})
    return episode.model_copy(update={"cast": Cast.model_validate(cast.model_dump()), "deeds": deeds})


def _marked(deed: Deed, n: int) -> Deed:
    match deed:
        case Compact():
            long = " ".join(WORDS[(n * 7 + at * at) % len(WORDS)] for at in range(LONG))
            return Say.model_validate({"text": f"{long}.\n{of('u', n)}.", "as": deed.label, "in": deed.chat, "n": n})
        case Say() | Edit() | Kill(text=str()):
            assert deed.text is not None
            return deed.model_copy(update={"text": said(deed.text, n), "n": n})
        case Inner() if NONCE.search(deed.text) is None:
            return deed.model_copy(update={"text": f"{deed.text} {of('i', n)}", "n": n})
        case Join():
            return deed.model_copy(update={"card": _card(deed.card, JOINED + n), "n": n})
        case _:
            return deed.model_copy(update={"n": n})


def said(text: str, n: int) -> str:
    """What somebody says with its nonce, and a nonce in each note of it. What has one stays as it is."""
    if NONCE.search(text):
        return text
    notes = 0

    def note(_: re.Match[str]) -> str:
        nonlocal notes
        notes += 1
        return f" noncen{n}k{notes - 1}z))"

    with_notes = NOTE.sub(note, text)
    speech = re.sub(r"\(\(.*?\)\)", "", with_notes, flags=re.DOTALL).strip()
    return f"{with_notes}\n{of('u', n)}." if speech else with_notes


def _card(given: dict[str, Any], number: int) -> dict[str, Any]:
    """A card with a nonce in what everybody knows of somebody, and in what only they know."""
    place = given["data"] if isinstance(given.get("data"), dict) else given
    description = place.get("description") or f"Somebody called {card_of(given).name}."
    if NONCE.search(description):
        return given
    first, _, rest = description.strip().partition("\n\n")
    private = f"Nobody else knows the word {of('p', number)}."
    changed = {**place, "description": "\n\n".join(filter(None, (f"{first} ({of('o', number)})", rest, private)))}
    for field in ("personality", "examples", "mes_example", "system_prompt", "post_history_instructions"):
        if place.get(field):
            changed[field] = f"{place[field]} {private}"
    return {**given, "data": changed} if place is not given else changed
