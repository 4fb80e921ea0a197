"""Whether a sentence is borne out by the words it is said to come from: names, numbers, negation, most other words.

The sentence may be in the third person ("The user's sister Anna is a nurse" from "my sister Anna's a nurse"). Likeness
of vectors can make up for words, as a model may say it otherwise; never for names, numbers, family or negation.
Linear in the sources.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent.language.sentences import QUOTED
from agent.language.words import MONTHS, NEGATORS, NUMBERS, content, fold, numbers, stem, tells, tokens, wordset

MOST = 30  # words
ENOUGH = 0.6  # of the words
VOUCHED = 0.7  # cosine: with it a third of the words is enough
LEAST_VOUCHED = 0.34
LETTERS, WORDS = 0.3, 0.6  # the share of letters, and of letters and digits, of a sentence: "I'm 30 now!!"
FRAME = wordset(
    "user speaker person people said say state mention tell told report describe express indicate note"
    " call name refer individual currently that who which own someone thing longer anymore year old age"
    " der die das ein eine nutzer benutzer nutzerin benutzerin person utilisateur utilisatrice le la un une el"
    " usuario usuaria utente il lo o a al de het een gebruiker gebruikster utilizador utilizadora"
    " ich mich mir mein meine wir unser je me moi mon ma mes nous yo mi mis nosotros io mio mia noi eu meu minha nos"
    " einen einem einer eines habe bin sind un une des du stimmt stimm c'est pas vrai no es verdad e vero"
    " ik mij mijn wij onze ons usuario se si gli lui lei ella su sus suo sua seu zijn haar son sa"
    " ses ihr ihre sein seine ist est"
)
# What says the same of a person: one of a group in the sources bears out the others.
GROUPS = (
    "live reside home move relocate settle base",
    "work job employ employee profession career occupation",
    "like love enjoy adore fond favorite favourite prefer fan preference keen passionate"
    " hate dislike stand detest loathe despise",
    "study student learn major",
    "have own possess get got adopt pet",
    "plan intend want hope aim goal dream go will",
    "start begin began new take",
    "stop quit give gave leave left former",
    "marry wedding marriage",
    "bear birthday birth born",
    "mother mom mum mama",
    "father dad papa",
    "child kid",
    "allergic allergy",
    # The same verb of the speaker and of "the user", in other languages.
    "vive vivo vivir vis vit habite",
    "mora moro",
    "abita abito",
    "wohne wohnt woon woont lebe lebt",
    "heisse heisst heet",
    "llamo llama",
    "chiamo chiama",
    "chamo chama",
    "appelle appelles",
    "trabajo trabaja trabalho trabalha lavoro lavora travaille travaill",
    "arbeite arbeitet werk werkt",
    "tengo tiene tenho tem ho ha",
    "sou soy sono suis",
    "gosto gosta",
    "amo ama",
    "odio odia odeio odeia",
    "hablo habla falo fala parlo parla spreche spricht",
    "estudio estudia estudo estuda studio studia studiere studiert",
    "toco toca",
    "juego juega jogo joga gioco gioca",
    "bebo bebe bevo beve trinke trinkt",
    "como come mangio mangia esse isst",
    "habe hat heb heeft",
    "mag magst mogen",
    "conduzco conduce guido guida fahre fahrt",
)
KIN = wordset(
    "mother mom mum father dad sister brother son daughter wife husband partner girlfriend boyfriend aunt"
    " uncle cousin nephew niece grandmother grandma grandfather grandpa child kid twin boss colleague"
    " friend neighbor neighbour roommate fiance fiancee dog cat"
)
DISLIKED = wordset("hate dislike loathe detest avoid refuse lack despise")
ADVERSE = DISLIKED | wordset("unable stand")  # "can't stand"
PROMPT = re.compile(
    r"[{}\[\]<>|=;`\\]|\b(?:json|schema|system prompt|instructions?|the prompt|observations?"
    r"|respond with|output|you are|you must|the assistant"
    r"|language model|as an ai|memory (?:id|number)|conversation (?:between|about)|no"
    r" (?:new )?(?:information|facts)|example)\b",
    re.I,
)
CLAUSE = re.compile(r"[,;:.!?…\n]+|\s[-–—]\s|\b(?:but|and|because|although|while|since|so)\b", re.I)
GIVEN_UP = re.compile(r"\bused to\b|\b(?:gave|given|give) up\b(?! on\b)")
CAPITAL = re.compile(r"[^\W\d_][\w’'-]*")
VERB_NEXT = re.compile(
    r"\s*(?:['’]s\b|(?:is|are|was|were|has|had|lives?|works?|loves?|likes?|and|will|moved"
    r"|got|plays?|hates?|wants?|who)\b)"
)
OPENINGS = wordset(
    "the user users user's user’s their his her my our she he they it we i a an this that speaker der die"
    " das nutzer benutzer nutzerin le la un une el il lo o de het een"
)


@dataclass(frozen=True, slots=True)
class Grounding:
    """`lacking`: what of the text is not in its sources. `overlap`: the share of its words that are, 0-1."""

    grounded: bool
    lacking: tuple[str, ...]
    overlap: float


def ground(text: str, sources: Sequence[str], *, cosine: float | None, known: Sequence[str] = ()) -> Grounding:
    """Check `text` against its sources; `known` are names it may use though nobody said them (the speakers')."""
    if not _sentence(text):
        return Grounding(False, (), 0.0)
    said = "\n".join(sources)
    lacking = [*_names(text, said, known), *sorted(numbers(text) - numbers(said) - _months(said))]
    stems = _widened(said)
    words = [word for word in content(text) if word not in FRAMED and word not in _stems(known)]
    missing = [word for word in words if not _there(word, stems)]
    lacking += [word for word in missing if word in KINDRED]
    if not agrees(text, sources):
        lacking.append("not")
    overlap = 1 - len(missing) / len(words) if words else 1.0
    vouched = cosine is not None and cosine >= VOUCHED and overlap >= LEAST_VOUCHED
    anything = bool(words or numbers(text) or _capitals(text))
    grounded = anything and not lacking and (overlap >= ENOUGH or vouched)
    return Grounding(grounded, tuple(dict.fromkeys(lacking + missing)), overlap)


FRAMED = frozenset(stem(word) for word in FRAME)
KINDRED = frozenset(stem(word) for word in KIN)
ADVERSES = frozenset(stem(word) for word in ADVERSE)
UNDONE = frozenset(stem(word) for word in DISLIKED)
UNDOES = 3  # words before a dislike in which it may be denied
IMPLIED = tuple(
    (frozenset(map(stem, words.split(" "))), frozenset(map(stem, meant.split(" "))))
    for words, meant in (
        ("quit resign fire hire join retire leave left", "work job"),
        ("wife husband spouse", "marry spouse partner"),
        ("girlfriend boyfriend fiance fiancee", "partner relationship"),
        ("soy", "llama"),
        ("sono", "chiama"),
        ("sou", "chama"),
        ("bin", "heisst"),
        ("suis", "appelle"),
    )
)
KINDS = tuple(frozenset(stem(word) for word in group.split(" ")) for group in GROUPS)


def _sentence(text: str) -> bool:
    """Whether a text is one statement in words, short enough: no code, no prompt, no question."""
    words = text.split(maxsplit=MOST + 1)
    if not 2 <= len(words) <= MOST and not (words and not text.isascii()):
        return False
    if len(words) > MOST or len(text) > 400 or PROMPT.search(text) or text.rstrip().endswith(("?", "？")):
        return False
    marks = sum(not char.isspace() for char in text)
    letters = sum(char.isalpha() for char in text)
    return letters >= LETTERS * marks and letters + sum(char.isdigit() for char in text) >= WORDS * marks


def _names(text: str, said: str, known: Iterable[str]) -> list[str]:
    """The names of a text that its sources do not have."""
    there = {*tokens(said), *(word for name in known for word in tokens(name))}
    return [name for name in _capitals(text) if not all(word in there for word in tokens(name))]


def _capitals(text: str) -> list[str]:
    """Words with a capital; at the beginning of a sentence only where a verb or a possessive follows."""
    found, begins = [], True
    for match in CAPITAL.finditer(text):
        word = match[0]
        folded = fold(word)
        if word[0].isupper() and folded not in OPENINGS and tells(tokens(word)[0] if tokens(word) else folded):
            first = begins and not VERB_NEXT.match(text, match.end()) and "'" not in word and "’" not in word
            if not first and folded not in NUMBERS:
                found.append(word)
        begins = text[match.end() : match.end() + 1] in (".", "!", "?")
    return found


def _months(said: str) -> set[str]:
    """The numbers of the months that are named, so that "2026-05-03" is borne out by "3 May 2026"."""
    return {number for word in tokens(said) if (number := MONTHS.get(word))}


def _widened(said: str) -> set[str]:
    """The stems of the sources, and all that says the same as one of them."""
    stems = set(content(said))
    spoken = {stem(word) for word in tokens(said)}
    if re.search(r"\b(?:i['’]?m|i am|is|works?) (?:an? |now )", said, re.I):
        stems.add(stem("work"))  # "I'm a nurse": works as a nurse
    for words, meant in IMPLIED:
        if words & spoken:
            stems |= meant
    for group in KINDS:
        if group & stems:
            stems |= group
    return stems


def _there(word: str, stems: set[str]) -> bool:
    """Whether a stem is there, but for an ending of one or two letters, as other languages have them."""
    return word in stems or (len(word) > 4 and (word[:-1] in stems or (len(word) > 5 and word[:-2] in stems)))


def _stems(names: Iterable[str]) -> set[str]:
    return {word for name in names for word in content(name)}


def agrees(text: str, sources: Sequence[str]) -> bool:
    """Whether each part of the text is negated as the part of the sources that is nearest to it, or stands there."""
    parts = [part for source in sources for part in CLAUSE.split(QUOTED.sub(" ", source))]
    if any(verbatim(text, source) for source in sources):
        return True
    before = False  # "no meat and fish": a bare word may still be of what was denied before it
    for clause in CLAUSE.split(text):
        bare = before and len(content(clause)) < 2
        if not _as_negated(clause, parts) and not (bare and _as_negated(f"not {clause}", parts)):
            return False
        before = denies(clause) or bare
    return True


def verbatim(text: str, source: str) -> bool:
    """Whether a source has the text word for word, not cut off from a negation before it."""
    wanted, said = f" {' '.join(tokens(text))} ", f" {' '.join(tokens(QUOTED.sub(' ', source)))} "
    at = said.find(wanted)
    return at >= 0 and bool(wanted.strip()) and not NEGATORS.intersection(said[:at].split()[-2:])


def _as_negated(clause: str, parts: Iterable[str]) -> bool:
    wanted = {word for word in content(clause) if word not in FRAMED} - ADVERSES
    best, polarities = 0, set[bool]()
    for part in parts:
        share = len(wanted & set(content(part)))
        if share > best:
            best, polarities = share, set()
        if share == best and share:
            polarities.add(denies(part))
    return not polarities or denies(clause) in polarities


def denies(text: str) -> bool:
    """Whether a text says what is not, or what is disliked or given up."""
    words = tokens(text)
    for at, word in enumerate(words):  # "I don't hate it any more" says neither
        if stem(word) in UNDONE and not NEGATORS.isdisjoint(words[max(at - UNDOES, 0) : at]):
            return False
    adverse = any(stem(word) in ADVERSES for word in words)
    given_up = GIVEN_UP.search(" ".join(words)) is not None
    return adverse or given_up or any(word in NEGATORS for word in words)
