"""The steps of a reflection beside its observations: names by rule, significance, reinforcement, the title.

A name is a word with a capital (or several) that does not begin a sentence, unless it is known or stands elsewhere in
the turn too; what it names is told by the words before it: "my sister Anna", "in Berlin", "my dog Rex", "at Siemens".
"""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agent.language.sentences import ADJ, KIN, LINK, PETS, QUOTED
from agent.language.words import fold, wordset
from agent.reflection.likeness import Embed, echoes
from agent.reflection.material import Material
from agent.reflection.statements import told
from agent.text import propose_title, verbatim
from graph.events import EntityNoted, ObservationReinforced, Role, SessionTitled, TurnRated
from graph.ids import new_id
from graph.memory import Memory
from graph.values import NearObservation, Observation, Session, Turn
from graph.visibility import PERSONAL
from graph.whole_words import MONTHS, is_name
from models.protocols import Generator

Category = Literal["person", "place", "thing", "group"]
LONGEST = 20_000  # characters that are looked at
WORD = r"[A-ZÀ-ÞĀ-Ž][\w’'-]*[a-zà-ÿ\d][\w’-]*"
SEQUENCE = re.compile(rf"(?<![\w’'-]){WORD}(?: (?:{WORD}|of|de|da|van|von|der|la)(?= {WORD})| {WORD}){{0,4}}")
STOP = wordset(
    "monday tuesday wednesday thursday friday saturday sunday january february march"
    " april may june july august september october november"
    " december mon tue wed thu fri sat sun jan feb mar apr jun jul aug sep sept oct"
    " nov dec i im ive id ill ok okay god jesus christmas easter"
    " halloween thanksgiving hanukkah ramadan english german french spanish italian"
    " portuguese dutch russian chinese japanese korean arabic"
    " hindi latin greek polish turkish swedish norwegian danish finnish american british"
    " european asian african indian canadian australian"
    " irish scottish mexican brazilian christian jewish muslim catholic buddhist mr"
    " mrs ms dr prof hi hey hello thanks thank yes no wow"
    " yeah sorry please well mom dad mum grandma grandpa aunt uncle the a an my our"
    " your his her we you he she it they this that these"
    " those what who where when why how so and but or if then now today tomorrow yesterday"
    " am pm tv ai usa-based lol haha btw fyi dna cv"
    " internet web wifi user assistant"
)
PLACE = re.compile(
    r"\b(?:in|to|from|near|around|outside|through|across|leaving|visit(?:ed|ing)?|toward"
    r"|towards)\s+(?:the )?(?:(?:north|south|east|west|downtown|central|old)\w* )?$",
    re.I,
)
TO_PERSON = re.compile(
    r"\b(?:talk|talked|talking|spoke|speak|listen|said|write|wrote|married|engaged|gave"
    r"|give|introduced|explained|thanks|letter|according|happened) to\s+$|\bfrom my\b",
    re.I,
)
PERSON = re.compile(
    rf"\b(?:(?:my|our|his|her|their) (?:(?:{ADJ}) )*(?:{KIN}),?|friend|named|called|mr\.?"
    rf"|mrs\.?|ms\.?|dr\.?|dating|married|met|i am|i['’]m|name is|name['’]s|call me)\s+$",
    re.I,
)
PET = re.compile(rf"\b(?:(?:my|our|his|her|their|the) (?:\w+ )?(?:{PETS}),?|(?:{PETS}),? (?:named|called))\s+$", re.I)
GROUP = re.compile(
    r"\b(?:work(?:s|ed|ing)? (?:at|for|with)|job at|employed (?:at|by)|intern(?:ed|ing)?"
    r" at|joined|studied at|stud(?:y|ies|ying) at|hired by|left|member of|graduated from"
    r"|university of)\s+(?:the )?$",
    re.I,
)
GROUPS = re.compile(
    r"\b(?:university|college|school|institute|inc|ltd|gmbh|corp|company|club|church"
    r"|band|bank|hospital|team|association|foundation|party|union)\b",
    re.I,
)
LIVES = re.compile(
    r"^(?:['’]s (?:name|birthday|wedding|house|mom|wife|husband|sister|brother|job)|,? (?:who|is my (?:"
    + KIN
    + r")|(?:lives|works|says|said|told|loves|likes|and i)\b))",
    re.I,
)
_WORD = re.compile(r"[^\W_]+")
ENDS = re.compile(r"(?:[.!?…:]\s*|\n\s*|^\s*|[\"“(]\s*)$")


@dataclass(frozen=True, slots=True)
class Named:
    """A name as it was written, and what it is the name of."""

    name: str
    category: Category


def named(text: str, known: Sequence[str]) -> list[Named]:
    """The names in a text, once each, in order; `known` are names of people that may also begin a sentence."""
    plain = LINK.sub(" ", QUOTED.sub(lambda match: " " * len(match[0]), text[:LONGEST]))
    people = {fold(name) for name in known}
    found = list(_sequences(plain))
    elsewhere = {fold(name) for name, begins, _, _ in found if not begins}
    names: dict[str, Named] = {}
    for name, begins, before, after in found:
        key = fold(name)
        if key in names or (begins and key not in people and key not in elsewhere and not LIVES.match(after)):
            continue
        category = "person" if key in people else _category(name, before, after)
        if category is not None and (category == "person" or key not in MONTHS):
            names[key] = Named(name, category)
    return list(names.values())


def _sequences(text: str) -> Iterable[tuple[str, bool, str, str]]:
    """Words with a capital that stand together, whether they begin a sentence, and what is before and after them."""
    for match in SEQUENCE.finditer(text):
        begins = ENDS.search(text[max(0, match.start() - 3) : match.start()]) is not None
        words = match[0].split(" ")
        start = match.start()
        while words and (_is_silent(text, start, words[0]) or words[0] in ("of", "de", "da", "van", "von")):
            start += len(words[0]) + 1
            begins = False
            words = words[1:]
        while words and _is_silent(text, start + len(" ".join(words)) - len(words[-1]), words[-1]):
            words = words[:-1]
        name = re.sub(r"['’]s$", "", " ".join(words)).rstrip("'’-")
        if len(name) > 1 and name.upper() != "I":
            end = start + len(name)
            yield name, begins, text[max(0, start - 40) : start], text[end : end + 30]


def _is_silent(text: str, at: int, word: str) -> bool:
    """Whether a word with a capital is no name: a month where a person could have that name too."""
    low = fold(word).split("'")[0].replace("’", "")
    found = _WORD.match(text, at)
    return low in STOP and not (low in MONTHS and found is not None and is_name(text, found))


def _category(name: str, before: str, after: str) -> Category | None:
    """What a name is the name of, by the words around it; None where they do not tell."""
    if PET.search(before):
        return "thing"
    if PERSON.search(before) or TO_PERSON.search(before) or LIVES.match(after):
        return "person"
    if GROUP.search(before) or GROUPS.search(name):
        return "group"
    return "place" if PLACE.search(before) and "'" not in after[:1] else None


STEP = 0.02  # what an echo adds to the confidence
MOST_NAMES = 12  # of one turn
LONGEST_ECHOED = 4000  # characters of a message that are compared


def note_names(memory: Memory, material: Material) -> tuple[list[EntityNoted], dict[str, str]]:
    """The names in people's words, and their ids: an entity or a speaker that is known keeps its own."""
    people = [speaker for speaker in material.speakers if speaker[:1].isupper()]
    found = [(turn, each) for turn in material.said for each in named(turn.text or "", people)[:MOST_NAMES]]
    ids = memory.readings.entities({each.name for _, each in found}, world=material.world)
    folded = {name.casefold(): id for name, id in ids.items()}
    events: dict[tuple[str, str], EntityNoted] = {}
    for turn, each in found:
        id = folded.setdefault(each.name.casefold(), new_id())
        noted = EntityNoted(entity=id, category=each.category, by_turn=turn.id, text=each.name)
        events.setdefault((id, turn.id), noted)
    return list(events.values()), {each.name: folded[each.name.casefold()] for _, each in found}


async def rate_turns(memory: Memory, material: Material, known: Mapping[str, int], embed: Embed) -> list[TurnRated]:
    """How much people's words matter, where nobody has judged that yet; `known` is what was found on the way."""
    said = [turn for turn in material.said if turn.role == Role.USER]
    judged = await asyncio.to_thread(memory.readings.judged, [turn.id for turn in said])
    rated = []
    for turn in (turn for turn in said if turn.id not in judged):
        matters = known[turn.id] if turn.id in known else (await told(turn.text or "", embed)).significance
        rated.append(TurnRated(turn=turn.id, significance=matters, by="rule"))
    return rated


def echoed(
    memory: Memory, turns: Iterable[Turn], *, world: str, project: str | None, step: float = STEP
) -> list[ObservationReinforced]:
    """Active observations that turns echo, each by each turn once. Raises ValueError for a negative step."""
    if step < 0:
        raise ValueError(f"a reinforcement makes nothing less sure, and {step} would")
    events: list[ObservationReinforced] = []
    now: dict[str, float] = {}
    for turn in turns:
        text = (turn.text or "")[:LONGEST_ECHOED]
        near = memory.near(text, vector=None, world=world, project=project) if text.strip() else []
        for known in _echoes(near, turn, text, project):
            if _reinforced_by(memory, known, turn, world):
                continue
            before = now.get(known.id, known.confidence)
            after = now[known.id] = min(1.0, before + step)
            events.append(
                ObservationReinforced(observation=known.id, by_turn=turn.id, step=step, before=before, after=after)
            )
    return events


def _echoes(near: Sequence[NearObservation], turn: Turn, text: str, project: str | None) -> list[Observation]:
    """What a turn echoes of others' making: it is no echo of what was made from its own words."""
    found = []
    for known in (each.observation for each in near):
        here = known.project == project or (known.project is None and known.kind in PERSONAL)
        own = turn.id in known.sources or turn.id in known.supports
        if known.status == "active" and here and not own and known.text and echoes(text, known.text):
            found.append(known)
    return found


def _reinforced_by(memory: Memory, known: Observation, turn: Turn, world: str) -> bool:
    if not known.reference_count:
        return False
    proofs = memory.readings.memory(known.id, world=world).proofs.get(known.id, ())
    return any(proof.id == turn.id and proof.relation == "REINFORCED_BY" for proof in proofs)


async def make_title(session: Session, material: Material, generator: Generator) -> SessionTitled | None:
    """The model's title for a chat that has only its first words for one, from its first exchange. Raises RunError."""
    if not material.said or not material.replies or not untitled(session, material):
        return None
    first, reply = material.said[0], material.replies[0]
    better = await propose_title(generator, first.text or "", reply.text or "")
    return SessionTitled(session=session.id, sources=(first.id, reply.id), text=better) if better is not None else None


def untitled(session: Session, material: Material) -> bool:
    """Whether an exchange is a chat's first, and the chat is called by its first words."""
    first = material.said[0]
    begins = first.parent is None and first.session == session.id and material.instead_of is None
    named_already = session.named_by_user or session.deleted or session.name != verbatim(first.text or "")
    return begins and bool(material.replies[0].text) and not named_already
