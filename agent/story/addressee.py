"""Whom a message of a story is said to, read off its words; no model is asked.

1. Whoever is called: "@Mara", or a name set off with nothing but words of address beside it ("Tell Jonas I'm fine,
   Mara", "Hey Mara! …", "Well, Mara, …"), at either end of a sentence or between. The last call of a message counts,
   and of one sentence the first. An action that turns to one calls too, for what is said after it ("*turns to Jonas*
   Are you well?"); without asterisks so does what is told around direct speech ('"Come," I tell Jonas.').
2. Else the only one who is named. "Mara's book" names nobody: it is said of Mara, hardly to her.
3. Else the host, `unsure` where others are present: several are named, or called at once, or none is.

A name in a list, or explained ("Mara, who was tired, slept"), is no call. A name that is a word too (Will, Rose) calls
in any case, but names only with a capital that is not that of a sentence's first word.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Literal

from agent.language.words import stem
from agent.story.names import Named, Names, Part, Token
from agent.story.telling import How, pieces
from agent.story.words import common, phrases

APPOSED = 6  # tokens of an explanation of who somebody is


SEVERAL = "\0several"  # no id


@dataclass(frozen=True, slots=True)
class Addressee:
    """Who is spoken to, by which rule; `unsure` where the rule only falls back on the host and others are present."""

    id: str
    rule: Literal["vocative", "named", "host"]
    unsure: bool


@dataclass(frozen=True, slots=True)
class _Chunk:
    """The tokens between two marks, and the mark after them."""

    tokens: tuple[Token, ...]
    mark: str


def addressed(text: str, members: Sequence[Named], *, host: str) -> Addressee:
    """Whom a message is said to, of the `members` present besides the speaker.

    `host` is an id; where the host is away it stands for the first of the members. Who is alone with the speaker is
    spoken to, whatever is said.
    """
    host = host if not members or any(member.id == host for member in members) else members[0].id
    names = Names(members, common=common(), honorifics=_honorifics())
    parts = [(piece.how, names.tokens(piece.text)) for piece in pieces(text)]
    tokens = [token for _, each in parts for token in each if token.part is Part.NAME]
    call = _at(tokens) or _call(parts)
    named = {id_ for token in tokens if token.sure and not token.possessive for id_ in token.ids}
    alone = len(members) < 2
    if call is not None and call != SEVERAL:
        return Addressee(call, "vocative", False)
    if call is None and len(named) == 1:
        return Addressee(named.pop(), "named", False)
    return Addressee(host, "host", not alone)


@cache
def _honorifics() -> frozenset[str]:
    return phrases("address", "honorifics").words


def _at(tokens: Sequence[Token]) -> str | None:
    """Whoever "@" calls."""
    return _one({id_ for token in tokens if token.called for id_ in token.ids})


def _one(ids: set[str]) -> str | None:
    """The only one, SEVERAL, or None where there is nobody."""
    return next(iter(ids)) if len(ids) == 1 else SEVERAL if ids else None


def _call(parts: Sequence[tuple[How, list[Token]]]) -> str | None:
    """Whoever is called last, or turned to for what is said last."""
    found: str | None = None
    turned: str | None = None
    open_ = False  # whether a sentence with a call goes on after an action
    for how, tokens in parts:
        if how != "said":
            turned = _turned(tokens) or turned
        elif any(token.part in (Part.NAME, Part.WORD) for token in tokens):
            call = _called(tokens)
            if call is not None:
                found, turned = call, None
            elif turned is not None and not open_:
                found = turned
            open_ = call is not None and tokens[-1].part is not Part.END
    told = (_called(tokens) for how, tokens in reversed(parts) if how == "told")
    return found or turned or next((call for call in told if call is not None), None)


def _called(tokens: Sequence[Token]) -> str | None:
    """Whoever the last sentence that calls somebody calls."""
    found: str | None = None
    alone = False  # whether the sentence before was nothing but a call
    for sentence in _sentences(tokens):
        call = _of_sentence(sentence)
        bare = call is not None and len(sentence) == 1
        if call is not None:
            found = SEVERAL if alone and bare and call != found else call
        alone = bare
    return found


def _sentences(tokens: Sequence[Token]) -> Iterator[list[_Chunk]]:
    chunks: list[_Chunk] = []
    chunk: list[Token] = []
    for token in (*tokens, Token(Part.END, "", "", 0, 0)):
        if token.part in (Part.NAME, Part.WORD):
            chunk.append(token)
            continue
        if chunk:
            chunks.append(_Chunk(tuple(chunk), token.text))
            chunk = []
        elif chunks:
            chunks[-1] = _Chunk(chunks[-1].tokens, token.text)
        if token.part is Part.END and chunks:
            yield chunks
            chunks = []


def _of_sentence(chunks: Sequence[_Chunk]) -> str | None:
    """Whoever a sentence calls: names set off first, else one that a greeting or a question to "you" goes with."""
    before: tuple[int, str] | None = None
    for at, chunk in enumerate(chunks):
        call = _only_names(chunk.tokens)
        if call is None or _explained(chunks, at) or _listed(chunks, at):
            continue
        if before is None:
            before = at, call
        elif before[0] == at - 1 and call != before[1]:
            return SEVERAL
    if before is not None:
        return before[1]
    return next((call for chunk in chunks if (call := _hailed(chunk.tokens)) is not None), None)


def _only_names(tokens: Sequence[Token]) -> str | None:
    """Whoever is named between two marks, where only words of address stand beside the names."""
    ids: set[str] = set()
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.part is Part.NAME and not token.possessive:
            ids |= token.ids
            at += 1
            continue
        roles = ("endearments", "joins") if ids else ("calls", "leads", "titles")
        size = max(phrases("address", role).of(tokens, at) for role in roles)
        if not size:
            return None
        at += size
    return _one(ids)


def _explained(chunks: Sequence[_Chunk], at: int) -> bool:
    """Whether it is said who a name is: "Mara, who …", "Mara, the cook, …", "my sister, Mara, …"."""
    if at > 0 and at + 1 < len(chunks) and _is_role(chunks[at - 1].tokens):
        return True
    if at + 1 == len(chunks):
        return False
    after = chunks[at + 1].tokens
    if phrases("address", "relatives").of(after, 0):
        return "?" not in chunks[-1].mark
    articled = phrases("address", "articles").of(after, 0) or after[0].possessive
    within = at + 2 < len(chunks) and len(after) <= APPOSED
    return within and (bool(articled) or _is_role(after))


def _is_role(tokens: Sequence[Token]) -> bool:
    """Whether tokens are such as "my little sister"."""
    return (
        1 < len(tokens) <= APPOSED
        and phrases("address", "determiners").of(tokens, 0) > 0
        and phrases("address", "roles").of(tokens, len(tokens) - 1) > 0
    )


def _listed(chunks: Sequence[_Chunk], at: int) -> bool:
    """Whether a name is one of several: "Peter, Mara, and Jonas", "Mara, Jonas and I", "… And Mara?"."""
    joins = phrases("address", "joins")
    if joins.of(chunks[at].tokens, 0) and (at > 0 or "?" in chunks[at].mark):
        return True
    if at + 1 == len(chunks) or "," not in chunks[at].mark:
        return False
    after = chunks[at + 1].tokens
    if after[0].part is Part.NAME:
        return len(after) > 1 and bool(joins.of(after, 1)) and after[0].ids != chunks[at].tokens[-1].ids
    if not joins.of(after, 0) or len(after) < 2:
        return False
    named = after[1].part is Part.NAME or (after[1].capital and len(after[1].text) > 1)
    return named or phrases("address", "determiners").of(after, 1) > 0


def _hailed(tokens: Sequence[Token]) -> str | None:
    """Whoever a greeting stands before ("hey Mara what's up"), or a question to "you" goes with ("Mara can you …")."""
    at, greeted = 0, False
    while at < len(tokens) and tokens[at].part is Part.WORD:
        calls, leads = (phrases("address", role).of(tokens, at) for role in ("calls", "leads"))
        if not calls and not leads:
            return None
        greeted = greeted or calls > 0
        at += max(calls, leads)
    if at == len(tokens) or tokens[at].possessive or not tokens[at].sure:
        return None
    ids, after = set(tokens[at].ids), tokens[at + 1 :]
    if phrases("address", "joins").of(after, 0):
        return SEVERAL if greeted and len(after) > 1 and after[1].part is Part.NAME else None
    return _one(ids) if greeted or _asked(after) else None


def _asked(after: Sequence[Token]) -> bool:
    """Whether words go on after a name as what is said to "you" does: "what do you …", "can you …", "you …"."""
    you = phrases("address", "you", "english")
    if you.of(after, 0) or phrases("address", "please", "english").of(after, 0):
        return True
    if phrases("address", "helps", "english").of(after, 0):
        return you.of(after, 1) > 0
    to_you = any(you.of(after, at) for at in range(len(after)))
    return to_you and phrases("address", "asks", "english").of(after, 0) > 0


def _turned(tokens: Sequence[Token]) -> str | None:
    """Whoever an action turns to last."""
    found: str | None = None
    for chunks in _sentences(tokens):
        first = chunks[0].tokens[0]
        if first.part is Part.NAME and not first.possessive:
            continue  # somebody else turns
        gazing = any(_plays("gaze", token) for chunk in chunks for token in chunk.tokens)
        for clause in (clause for chunk in chunks for clause in _clauses(chunk.tokens)):
            found = _faced(clause, gazing=gazing) or found
    return found


def _clauses(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Tokens cut before words that join, unless they join names."""
    joins = phrases("address", "joins")
    cuts = [at for at in range(1, len(tokens) - 1) if joins.of(tokens, at) and tokens[at + 1].part is Part.WORD]
    for start, end in pairwise([0, *cuts, len(tokens)]):
        yield tokens[start:end]


def _faced(clause: Sequence[Token], *, gazing: bool) -> str | None:
    """Whoever the one doing something turns to in it; eyes rest on whom they turn to."""
    faced: set[str] = set()
    for at, token in enumerate(clause):
        if token.part is Part.WORD and _plays("not", token):
            return None
        if token.part is Part.NAME:
            if _before(clause, at, "away"):
                return None
            gazed = gazing and _before(clause, at, "on")
            if gazed or _is_faced(clause, at) or (faced and phrases("address", "joins").of(clause, at - 1)):
                faced |= token.ids
    call = _one(faced)
    return None if call == SEVERAL else call


def _is_faced(clause: Sequence[Token], at: int) -> bool:
    if clause[at].possessive:
        return any(_plays("body", token) for token in clause[at + 1 : at + 3])
    return _before(clause, at, "toward") or _before(clause, at, "turning")


def _before(clause: Sequence[Token], at: int, role: str) -> bool:
    """Whether a word with a role stands before a name, or before its article or title."""
    while at > 0 and clause[at - 1].part is Part.WORD:
        at -= 1
        if _plays(role, clause[at]):
            return True
        if not any(phrases("address", each).of(clause, at) for each in ("determiners", "titles")):
            return False
    return False


def _plays(role: str, token: Token) -> bool:
    return stem(token.low) in _stems(role) if role in ("turning", "not") else token.low in phrases("action", role).words


@cache
def _stems(role: str) -> frozenset[str]:
    return frozenset(map(stem, phrases("action", role).words))
