"""Episodes at random: a seed makes the same one again. Texts are short; what they are about comes back, so that recall
finds something.
"""

import random
from collections.abc import Sequence
from typing import Any

from bench.fiction.episodes import Cast, Deed, Episode, deed_of

# How often what is done, of all.
WEIGHTS = {
    "say": 26, "whisper": 7, "ooc": 4, "speak": 9, "away": 7, "present": 8, "join": 3, "leave": 2, "witness": 6,
    "rewind": 5, "forward": 3, "switch": 4, "regenerate": 6, "edit": 5, "hide": 4, "unhide": 3, "pin": 4, "unpin": 2,
    "delete": 2, "fork": 2, "reset": 3, "undo": 2, "rename": 2, "look": 3, "rest": 4, "restart": 3, "compact": 4,
    "scene": 2, "close": 2, "set": 2, "kill": 1,
}  # fmt: skip
KINDS = tuple(WEIGHTS)
NAMES = ("Mara", "Jonas", "Captain Ilse Brandt", "Will", "Ondrej", "Sister Agnes", "Rook", "Tamsin Vale", "Øyvind")
YOU = ("Ada", "You", "Henrik", "the stranger")
ROLES = (
    "keeps the lighthouse at the end of the mole.",
    "sells rope and gossip by the harbour.",
    "came with the last ferry and will not say why.",
    "is a surgeon who has lost the licence.",
    "plays cards for a living, and badly.",
)
PRIVATE = ("", "Has a key sewn into the coat.", "Wrote the letter that nobody signed.", "Is afraid of deep water.")
GREETINGS = ("*looks up* You came, {{user}}.", "The door is open.", "Sit down; the kettle is on.", "")
THINGS = ("key", "letter", "lantern", "boat", "ledger", "ring", "map", "rope", "bell", "coin")
PLACES = ("under the stairs", "in the chapel", "behind the north wall", "on the ferry", "at the bottom of the well")
SAYINGS = (
    "{who}, the {thing} is {place}.",
    "Where did you leave the {thing}, {who}?",
    "I hid the {thing} {place} last night.",
    "What do you know of the {thing}?",
    "Somebody took the {thing}. It was {place}.",
    "{who}! Do not tell anybody about the {thing} {place}.",
    "*puts the {thing} on the table* Well?",
    "Good evening.",
    "Tell me again what happened {place}, {who}.",
)
MOST_CHATS = 3
LENGTHS = (14, 30)  # deeds of an episode
LONG = (40, 60)


def episode(seed: int, *, length: tuple[int, int] = LENGTHS) -> Episode:
    """An episode at random."""
    rng = random.Random(f"episode {seed}")
    cast = _cast(rng)
    kinds = rng.choices(KINDS, [WEIGHTS[kind] for kind in KINDS], k=rng.randint(*length))
    return of(f"random {seed}", [(kind, rng.randrange(1000)) for kind in kinds], cast)


def of(name: str, steps: Sequence[tuple[str, int]], cast: Cast | None = None) -> Episode:
    """An episode of steps: what is done, and a number that chooses to whom or what."""
    cast = cast or _cast(random.Random(name))
    people = [cast.host["name"], *([cast.guest["name"]] if cast.guest else [])]
    deeds: list[Deed] = []
    chats = 1
    for kind, number in steps:
        deed = _deed(kind, number, cast, people, chats)
        if deed["do"] == "fork":
            if chats == MOST_CHATS:
                continue
            chats += 1
        deeds.append(deed_of(**deed))
    return Episode(name=name, cast=cast, deeds=tuple(deeds))


def _cast(rng: random.Random) -> Cast:
    host, guest = rng.sample(NAMES, 2)
    with_guest = rng.random() < 0.75
    return Cast(
        host=_card(rng, host),
        guest=_card(rng, guest) if with_guest else None,
        you=rng.choice(YOU),
        scenario=rng.choice(("A storm at the tower of {{char}}.", "The inn is full and the road is closed.", None)),
    )


def _card(rng: random.Random, name: str) -> dict[str, Any]:
    greetings = [each for each in rng.sample(GREETINGS, rng.randint(1, 2)) if each]
    return {
        "name": name,
        "description": "\n\n".join(filter(None, (f"{name} {rng.choice(ROLES)}", rng.choice(PRIVATE)))),
        "personality": rng.choice(("", "Dry, patient, watchful.")),
        "examples": rng.choice(("", "“Rope is rope,” {{char}} says.")),
        "greetings": greetings,
    }


def _deed(kind: str, number: int, cast: Cast, people: list[str], chats: int) -> dict[str, Any]:
    """One deed as JSON; `people` are those who came so far, whom who joins is added to."""
    rng = random.Random(f"{kind} {number}")
    who, chat = people[number % len(people)], number // 7 % chats
    place: dict[str, Any] = {"in": chat} if chat else {}
    match kind:
        case "say":
            return {"do": "say", "text": _text(rng, people), **place}
        case "whisper":
            return {"do": "say", "text": _text(rng, people), "whisper": who, **place}
        case "ooc":
            said = rng.choice(("{} ((make this end badly))", "((slower please)) {}", "((nobody hears this))"))
            return {"do": "say", "text": said.format(_text(rng, people)), **place}
        case "speak" | "reset":
            return {"do": kind, "who": who, **place}
        case "away" | "present":
            return {"do": kind, "who": "you" if number % 9 == 0 else who, **place}
        case "leave":
            return {"do": "leave", "who": people[-1], **place}
        case "join":
            name = next((each for each in _shuffled(rng, NAMES) if each not in people), f"Number {len(people)}")
            people.append(name)
            return {"do": "join", "card": _card(rng, name), **place}
        case "witness":
            saw = [each for each in ("you", *people) if rng.random() < 0.6]
            return {"do": "witness", "turn": f"turn:{number}", "who": saw, **place}
        case "rewind":
            return {"do": "rewind", "turn": f"turn:{number}" if number % 10 else None, **place}
        case "switch":
            return {"do": "switch", "turn": number, **place}
        case "regenerate":
            return {"do": "regenerate", **({} if number % 2 else {"turn": f"reply:{number}"}), **place}
        case "edit":
            return {"do": "edit", "turn": f"message:{number}", "text": _text(rng, people), **place}
        case "hide" | "pin" | "delete":
            return {"do": kind, "turn": f"turn:{number}", **place}
        case "unhide" | "unpin":
            return {"do": kind, "turn": number, **place}
        case "fork":
            return {"do": "fork", "turn": f"turn:{number}", "what_if": number % 3 == 0, **place}
        case "scene":
            return {"do": "scene", "name": f"The {rng.choice(THINGS)}", **place}
        case "set" if len(people) > 1 and number % 2:
            to = people[(number + 1) % len(people)]
            return {
                "do": "set",
                "who": who,
                "aspect": "summary",
                "to": to,
                "text": "owes that one a great deal",
                **place,
            }
        case "set":
            aspect = rng.choice(("mood", "goals", "status"))
            return {"do": "set", "who": who, "aspect": aspect, "text": f"after the {rng.choice(THINGS)}", **place}
        case "kill":
            return {"do": "kill", **({"text": _text(rng, people)} if number % 2 else {}), **place}
        case "rename":
            return {"do": "rename", "who": who, "name": f"{rng.choice(('Old', 'Young', 'Dear'))} {who}", **place}
        case _:
            return {"do": kind, **place}


def _text(rng: random.Random, people: Sequence[str]) -> str:
    return rng.choice(SAYINGS).format(who=rng.choice(people), thing=rng.choice(THINGS), place=rng.choice(PLACES))


def _shuffled(rng: random.Random, names: Sequence[str]) -> list[str]:
    return rng.sample(names, len(names))
