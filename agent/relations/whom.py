"""Who is meant by a word of relationship: "my sister", "Ada's boss"."""

from collections.abc import Sequence
from datetime import date

from agent.relations.naming import Kin
from agent.relations.relating import ME, YOU, Origin, Relating
from agent.relations.words import Language, Noun, Token, language_of
from graph.errors import Ambiguous
from graph.events import MAIN_WORLD
from graph.readings.memory import MemoryReadings
from graph.values import CalledBy

LONGEST = 2_000  # characters of a text that are read
WORDS = 5  # tokens of the longest word of relationship: mother-in-law

LONGEST_NAME = 6  # words of somebody's sister: "Mary Ann Smith's best friend"


def kin_of(words: str, language: Language | None = None) -> Kin | None:
    """Somebody's sister or boss, as a name is typed; None for any other words."""
    language = language or language_of(words)
    tokens = language.tokens(" ".join(words.split()))
    for at, token in enumerate(tokens):
        mine = at == 0 and language.has("mine", token.low)
        if not mine and not (at > 0 and token.low == "'s"):
            continue
        noun = language.nouns.get(tuple(each.low for each in tokens[at + 1 :]))
        if noun is not None and not noun.plural:
            return Kin(YOU if mine else " ".join(each.text for each in tokens[:at]), noun.word)
    return None


def whom(readings: MemoryReadings, name: str, *, world: str = MAIN_WORLD, project: str | None = None) -> str:
    """The name of who is meant, where exactly one is known to be; else the words as they are. Blocks.

    An alias that was given by hand goes before what the words say.
    """
    if name.strip().casefold() in ME and not readings.called(name, world=world):
        return YOU
    kin = kin_of(name)
    if kin is None or readings.called(name, world=world):
        return name
    told = Origin("", date.today(), world=world, project=project)
    return Relating(readings).of_word(kin.owner, kin.word, told) or name


def meant(readings: MemoryReadings, name: str, *, world: str = MAIN_WORLD, project: str | None = None) -> str:
    """The same, for what is asked of one. Blocks.

    Raises Ambiguous where several are called so whom a person told apart, or are the owner's sisters.
    """
    found = whom(readings, name, world=world, project=project)
    if several := readings.told_apart(found, world=world):
        each = "; ".join(f"{one.name} ({one.kind}, {one.id})" for one in several[:5])
        raise Ambiguous(f"{len(several)} are called “{found[:60]}”: {each}. Nothing was changed. Give the id of one.")
    kin = kin_of(name) if found == name and not readings.called(name, world=world) else None
    if kin is not None:
        told = Origin("", date.today(), world=world, project=project)
        if len(all := sorted(Relating(readings).all_of_word(kin.owner, kin.word, told))) > 1:
            raise Ambiguous(f"“{name[:60]}” may be {' or '.join(all[:5])}. Nothing was changed. Give the name of one.")
    return found


def named(readings: MemoryReadings, text: str, *, world: str = MAIN_WORLD) -> str:
    """A question with the names in place of its words of relationship ("my sister"), where each means exactly one.

    Blocks.
    """
    language, words, found, at = language_of(text), text.split(), list[str](), 0
    while at < len(words):
        for size in range(min(LONGEST_NAME, len(words) - at), 1, -1):
            said = " ".join(words[at : at + size])
            bare = said.rstrip("?!.,;:").removesuffix("'s")
            if kin_of(bare, language) is not None and (name := whom(readings, bare, world=world)) != bare:
                found.append(name + said[len(bare) :])
                at += size
                break
        else:
            found.append(words[at])
            at += 1
    return " ".join(found)


def called_in(text: str) -> tuple[CalledBy, ...]:
    """Everybody whom a text means by what they are to somebody: "my older sister", "Ada's boss"; each once."""
    read = " ".join(text[:LONGEST].split())
    language = language_of(read)
    tokens = language.tokens(read)
    found: dict[CalledBy, None] = {}
    for at, token in enumerate(tokens):
        owner = YOU if language.has("mine", token.low) else _owner(tokens, at) if token.low == "'s" else ""
        noun = _noun(language, tokens, at + 1) if owner else None
        if noun is not None:
            found[CalledBy(owner, noun.word, noun.kind, noun.turned)] = None
    return tuple(found)


def kinds_in(text: str) -> frozenset[str]:
    """The kinds of relationship that a text's verbs tell of or ask for: "who works with Ada?", "where does Ada live?".

    Of a verb's phrases those count whose other words follow; where none do, all that only a preposition is missing of.
    """
    read = " ".join(text[:LONGEST].split())
    language = language_of(read)
    tokens, found, known = language.tokens(read), set[str](), set[str]()
    for at, token in enumerate(tokens):
        new = {lemma for lemma, _ in language.forms.get(token.low, ())} - known
        known |= new  # whatever follows it later follows it now
        after = {each.low for each in tokens[at + 1 :]} if new else set()
        for lemma in new:
            told = {phrase: {*phrase.words[1:]} - {"~"} for phrase in language.phrases.get(lemma, ())}
            whole = {phrase.kind for phrase, rest in told.items() if rest <= after}
            if not whole and not language.has("helping", lemma) and not language.has("gets", token.low):
                whole = {phrase.kind for phrase, rest in told.items() if len(rest) < 2 and "*" not in rest}
            found |= whole
    return frozenset(found)


def _owner(tokens: Sequence[Token], at: int) -> str:
    """The name that ends before a possessive."""
    first = at
    while first > 0 and tokens[first - 1].capital:
        first -= 1
    return " ".join(each.text for each in tokens[first:at])


def _noun(language: Language, tokens: Sequence[Token], start: int) -> Noun | None:
    """The word of relationship that stands there, maybe after one other word ("older")."""
    for first in (start, start + 1):
        lows = [each.low for each in tokens[first : first + WORDS]]
        for size in range(len(lows), 0, -1):
            if (noun := language.nouns.get(tuple(lows[:size]))) is not None:
                return noun
    return None
