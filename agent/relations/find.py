"""Relationships found in what a person said, of those sentences that state something in earnest."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from itertools import pairwise

from agent.language.doubt import FICTION, GIVEN, JOKE, LATER_FICTION, LAUGH, TAKEN_BACK, WRITE, injected, withdrawn
from agent.language.sentences import sentences
from agent.relations.clauses import Clauses, FoundRelation
from agent.relations.naming import Known, Naming
from agent.relations.times import without_times
from agent.relations.words import Language, Token, language_of
from graph.relations import kinds

LONGEST = 4_000  # characters that are looked at
FEW = {"unsure": 5, "comments": 4}  # words, to its end, of a sentence that says more than that the rest is doubtful
TAG = 4  # words that are no question of their own: "isn't she?"
SUBJECTS = ("speaker", "mine", "he", "she", "his", "hers", "determiners")
HYPOTHETICAL, ANY_DOUBT = ("hypotheticals",), ("hypotheticals", "doubts")


def find_relations(text: str, *, speaker: str, said_at: date) -> list[FoundRelation]:
    """The relationships that a text surely tells, in its order; `speaker` is the end that "I" and "my" mean."""
    found: dict[tuple[object, ...], FoundRelation] = {}
    read = [
        (clauses.known.kin, each)
        for clauses in earnest(text, speaker=speaker, said_at=said_at)
        for each in clauses.read()
    ]
    for named, told in read:  # "my nan …, her name is Dot"
        each = replace(told, subject=named.get(told.subject, told.subject), object=named.get(told.object, told.object))
        known = found.get(_key(each))
        if known is None or ((each.since or each.until) and not (known.since or known.until)):
            found[_key(each)] = each if known is None else replace(each, word=known.word)
    return list(found.values())


def earnest(text: str, *, speaker: str, said_at: date, doubts: Sequence[str] = ANY_DOUBT) -> Iterator[Clauses]:
    """The sentences that state something in earnest, each to be read before the next; of the others only the names.

    Nothing is quoted, asked, made up, taken back or supposed in them; `doubts` are the roles of words that leave a
    sentence out.
    """
    text = text[:LONGEST]
    words = language_of(text)
    known = Known(speaker, words)
    said = sentences(_without_heading(text, words))
    if injected(text) or text.isupper() or any(_of_letter(words.tokens(each.text[:80]), words) for each in said):
        return
    known.small |= words.small_names(text) if words.option("small_names") else set()
    start = 0
    for sentence, following in pairwise([*said, None]):
        if sentence is None:
            continue
        plain = sentence.plain
        tokens, times = without_times(words.tokens(plain), words, said_at)
        if FICTION.search(plain) or GIVEN.search(plain) or WRITE.search(plain) or _of_tale(tokens, words):
            return
        naming = Naming(_before_question(tokens, words), words, known, start)
        kept = not _jokes(plain) and not _withdrawn(following.plain if following else "", words)
        if kept and _states(naming.tokens, words, doubts):
            yield Clauses(naming, words, known, times, sentence.text, _doubted(naming.tokens, words))
        else:
            naming.named()
        start += len(tokens) + 1


def _without_heading(text: str, words: Language) -> str:
    """A text that begins with "Quick question:" or the like, which is nobody who speaks, with a comma there."""
    head, colon, rest = text.partition(":")
    last = words.tokens(head[:40])[-1:]
    listed = (
        len(named := words.tokens(rest[:40])[:2]) and named[0].capital and not named[-1].word
    )  # "Wife: Ana. Cat: Bo."
    kin = last and (last[0].low,) in words.nouns and not listed
    heading = colon and len(head) < 40 and last and (words.has("headings", last[0].low) or kin)
    return f"{head},{rest}" if heading and rest[:1] == " " else text


def _jokes(plain: str) -> bool:
    """Whether somebody says so, or laughs at first or more than once: a "lol" at the end takes nothing back."""
    return bool(LAUGH.match(plain) or JOKE.search(LAUGH.sub(" ", plain))) or len(LAUGH.findall(plain)) > 1


def _withdrawn(following: str, words: Language) -> bool:
    """Whether what is said next takes back what was said; "It's my second year there" does not."""
    plain = LAUGH.sub(" ", following).strip()
    match = LATER_FICTION.match(plain)
    tokens = words.tokens(match[0])[-2:] if match else []
    personal = any(words.has(role, token.low) for token in tokens for role in ("he", "she", "they", "mine"))
    told = words.tokens(plain)
    if personal and not any(_stands(told, at, "unsure", words) for at in range(len(told))):
        return bool(JOKE.search(plain) or TAKEN_BACK.match(plain))
    return withdrawn(plain)


def _key(found: FoundRelation) -> tuple[object, ...]:
    ends: tuple[object, ...] = (found.subject, found.object)
    if kinds()[found.kind].symmetric:
        ends = (frozenset(ends),)
    return (*ends, found.kind, found.polarity, found.ended)


def _of_letter(tokens: Sequence[Token], words: Language) -> bool:
    """Whether a sentence begins or ends a letter: "Dear Ada, …", "Best, Tim", "From: Tim"."""
    if len(tokens) < 2:
        return False
    first, next_ = tokens[0].low, tokens[1]
    signed = words.has("signs", first) and len(tokens) < 5 and any(token.low == "," for token in tokens[1:3])
    return (
        signed or (words.has("letters", first) and next_.capital) or (words.has("headers", first) and next_.low == ":")
    )


def _states(tokens: Sequence[Token], words: Language, doubts: Sequence[str]) -> bool:
    """Whether a sentence states something: no question, condition, story or comparison."""
    if not tokens or any(token.low in "?¿" for token in tokens) or _asks(tokens, words):
        return False
    lows = [token.low for token in tokens]
    if words.has("within", lows[0]) and "," in lows and tokens[1].capital and not words.starts("places", tokens, 1):
        return False  # "In Hamlet, …"
    titled = len(tokens) > 3 and all(token.capital for token in tokens if token.word)
    begin = words.starts("leads", tokens, 0)
    rest = range(begin, len(tokens))
    return not titled and not any(_stands(tokens, at, role, words) for at in rest for role in doubts)


def _asks(tokens: Sequence[Token], words: Language) -> bool:
    """Whether a sentence begins as a question does: "is Ada …", "when did …", but not "when I …" or "was at …"."""
    first, next_ = tokens[0].low, tokens[1] if len(tokens) > 1 else tokens[0]
    helps = any(words.has("helping", lemma) for lemma, _ in words.forms.get(next_.low, ()))
    if words.has("asks_helped", first):
        return helps or words.has("asks", next_.low)
    subject = next_.capital or any(words.has(role, next_.low) for role in (*SUBJECTS, "they", "who", "subjects"))
    asks = words.has("asks", first) and not words.starts("implied", tokens, 0)
    return asks and (subject or not words.has("asks_of", first))


def _before_question(tokens: Sequence[Token], words: Language) -> Sequence[Token]:
    """What is stated before a question: "My boss Ada is leaving, what do I give her?", but not ", isn't she?"."""
    if not tokens or tokens[-1].low != "?":
        return tokens
    for at in range(3, len(tokens) - TAG):
        opened = words.has("joins", tokens[at - 1].low) or not tokens[at - 1].word
        if opened and words.has("asks_on", tokens[at].low) and not any(token.low == "?" for token in tokens[:at]):
            return tokens[: at - 1]
    return tokens


def _of_tale(tokens: Sequence[Token], words: Language) -> bool:
    """Whether a book or film is told of: "Watching The Crown." """
    size = words.starts("tales", tokens, 0)
    return bool(size) and len(tokens) > size and tokens[size].capital


def _doubted(tokens: Sequence[Token], words: Language) -> list[bool]:
    """Which tokens are somebody's opinion, word or plan.

    What is reported goes on to the end of the sentence, a wish only to the next clause with a subject. What comes
    before reports and comments is doubted as well, but for what is joined to more: "I work with Bob, and Ada says …",
    "My boss is Carla, I would like …".
    """
    doubted, carried, size = [False] * len(tokens), "", len(tokens)
    starts = [0, *(at for at in range(1, size) if not tokens[at].word or words.has("joins", tokens[at].low)), size]
    for start, end in pairwise(starts):
        joined = words.has("joins", tokens[start].low)
        said = start + (joined or not tokens[start].word)
        told = [role for role in (*FEW, "hedges") if any(_stands(tokens, at, role, words) for at in range(said, end))]
        apart = said < end and not words.has("complements", tokens[start].low)
        new = apart and (tokens[said].capital or any(words.has(role, tokens[said].low) for role in SUBJECTS))
        wish = new and any(words.starts("wishes", tokens, said + after) for after in (1, 2))
        if told and told[0] in FEW and not ((joined or wish) and size - said >= FEW[told[0]]):
            doubted[:start] = [True] * start
        carried = "unsure" if "unsure" in (carried, *told) else "hedges" if told or (carried and not new) else ""
        doubted[start:end] = [bool(carried)] * (end - start)
    return doubted


def _stands(tokens: Sequence[Token], at: int, role: str, words: Language) -> bool:
    """Whether a word or phrase of a role begins at a token; a name in the midst of a sentence is none."""
    size = words.starts(role, tokens, at)
    sure = words.starts("sure", tokens, at) > size
    return not sure and (size > 1 or (size == 1 and not (at and tokens[at].capital)))
