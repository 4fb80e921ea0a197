"""Words that are matched whole and never by their stem: names, and words that would become stop words by it.

The word indexes cut each word to its stem, in small letters: Ines becomes "in", Will is the "will" of "I will go". So
`indexed` puts behind a text, for the index alone, each word that is written as a name, in letters that no stemmer and
no other text knows, and each word that folds otherwise than the tokenizer does it ("Straße" as "strasse").

Invariant: what `indexed` makes of a text is part of the log's version, as the index lets go of a text by its very
words. Whoever changes it, or STOP_WORDS, writes a migration that makes the indexes anew.
"""

import re
import sqlite3
import string
import threading
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache

# Words that say nothing about what is meant, those of asking too; English, for other languages frequency has to tell.
STOP_WORDS = (
    "a about according after ago all also am an and any are as at be been before being but by can could d describe "
    "described did didn do does doesn doing don done during each few for from further get got had has have having "
    "he her hers herself him himself his how i if in into is isn it its itself just kind kinds likely ll m many "
    "me mention mentioned might more most my myself no nor not now of off on once one only or other our ours "
    "ourselves out over own re s said same say she should so some sort such t tell than that the their theirs "
    "them themselves then there these they this those through to told too type types under until up use used ve "
    "very was wasn we were what when where which while who whom whose why will with would you your yours yourself "
    "yourselves"
)
STOP = frozenset(STOP_WORDS.split())
TOKENIZER = "porter unicode61 remove_diacritics 2"  # of the word indexes
CAPITAL = "A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĘĚĞĢĪĮİĶŁĻĽŃŅŇŌŐŒŘŚŞŠŢŤŪŮŰŲŹŻŽΑ-ΩА-ЯЁ"  # letters, in a class of a regular expression
# Of scripts where a word stands without blanks, or with endings that are words: where a name is no word by itself.
UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u312f\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f"
    r"\U00020000-\U0003ffff]"
)
END = "\uffff"  # of the text; what follows is for the index

_WORD = re.compile(r"[^\W_]+")
_PLAIN = string.ascii_lowercase + string.digits
_WHOLE = str.maketrans({letter: chr(0xE000 + ord(letter)) for letter in _PLAIN})
_SMALL = str.maketrans({letter: chr(0xE100 + ord(letter)) for letter in _PLAIN})
_LONGEST = 20  # letters of a word whose stem may be a stop word
_BEGINS = re.compile(r"(?:[.!?…:]\s*|\n\s*|^\s*|[\"“(*>-]\s*)\Z")
_MAY_BEGIN = frozenset(("will", "may", "don"))  # stop words that a question about somebody may begin with
_ALSO_NAMES = _MAY_BEGIN | set("an do few has just more most my no own same so such".split())  # noqa: SIM905
_VERB_OF = re.compile(
    r"['’]t\b|\s+(?:i|you|he|she|it|we|they|not|be|there|this|that|these|those|the|an?|my|your|his|her|our|their|any\w*"
    r"|some\w*|every\w*|no ?one)\b",
    re.IGNORECASE,
)
MONTHS = frozenset(
    [
        "april",
        "may",
        "june",
        "august",
        "avril",
        "mai",
        "juin",
        "juillet",
        "abril",
        "mayo",
        "junio",
        "julio",
        "juni",
        "juli",
        "maggio",
    ]
)
_BEFORE_MONTH = re.compile(
    r"(?:\b(?:in|since|until|till|last|next|this|early|late|mid|during|every|each|im|en|em|seit|bis|ab)|\d\w{0,2}\.?"
    r"(?: of)?)[\s-]+\Z",
    re.IGNORECASE,
)
_AFTER_MONTH = re.compile(r",?\s+\d")


def fold(text: str) -> str:
    """A text in small letters, the Latin ones without accents, ß as ss, wide ones as plain ones: as words compare."""
    if text.isascii():
        return text.lower()
    return "".join(map(_folded, unicodedata.normalize("NFC", text)))


def words_in(text: str) -> list[str]:
    """The words of a text, folded, in order."""
    return _WORD.findall(fold(text))


def whole(word: str) -> str:
    """A folded word as the index has it where it is a name."""
    return word.translate(_WHOLE)


def small(word: str) -> str:
    """A folded word as the index has it where it is written small and its stem would be a stop word."""
    return word.translate(_SMALL)


def is_whole(term: str) -> bool:
    """Whether a term of the index stands for a name."""
    return any("\ue000" <= letter <= "\ue07f" for letter in term)


def names_in(text: str, *, told: bool = False) -> list[str]:
    """The words that are written as names, folded: with a capital, and neither a month nor a verb that begins.

    Of what is asked, a capital tells nothing where a sentence begins, or where all letters are capitals.
    """
    text = unicodedata.normalize("NFC", text)
    if not told and text.isupper():
        return []
    found = (each for each in _WORD.finditer(text) if each[0][0].isupper() and is_name(text, each, told=told))
    words = ((fold(each[0]), each) for each in found)
    return [low for low, each in words if told or low in _MAY_BEGIN or not _begins(text, each)]


def is_name(text: str, found: re.Match[str], *, told: bool = False) -> bool:
    """Whether a word of a text that has a capital may be a name: "Will", but not of "Will you" or "in May".

    In what is `told`, a sentence may also begin with a name that most sentences with that word do not mean: "Most".
    """
    low, after = fold(found[0]), text[found.end() : found.end() + 20]
    before = text[max(0, found.start() - 12) : found.start()]
    if low in MONTHS and (_BEFORE_MONTH.search(before) or _AFTER_MONTH.match(after)):
        return False
    if low in STOP | _MAY_BEGIN and (len(low) == 1 or found[0].isupper() or _VERB_OF.match(after)):
        return False
    if low not in STOP:
        return True
    return low in (_ALSO_NAMES if told else _MAY_BEGIN) or not _begins(text, found)


def _begins(text: str, found: re.Match[str]) -> bool:
    """Whether a sentence begins with a word of a text."""
    return _BEGINS.search(text[max(0, found.start() - 12) : found.start()]) is not None


def says_whole(text: str, name: str) -> bool:
    """Whether a text has the words of a name, whole and next to each other; with a capital where the name has one."""
    wanted, text = words_in(name), unicodedata.normalize("NFC", text)
    found = list(_WORD.finditer(text))
    low = [fold(each[0]) for each in found]
    capital = name[:1].isupper()
    for at in range(len(low) - len(wanted) + 1 if wanted else 0):
        if low[at : at + len(wanted)] == wanted:
            first = found[at]
            if not capital or (first[0][0].isupper() and (len(wanted) > 1 or is_name(text, first, told=True))):
                return True
    return False


@lru_cache(1 << 16)
def becomes_stop_word(word: str) -> bool:
    """Whether a folded word, which is no stop word, has the stem of one: "ines", "wes", "ames"."""
    if word in STOP or not 2 < len(word) <= _LONGEST or not (word.isascii() and word.isalpha()):
        return False
    return _stems().of(word) in _stems().of_stop_words


def indexed(text: str | None) -> str | None:
    """A text as the word indexes have it."""
    return None if text is None else f"{text}{END}{' '.join(dict.fromkeys(_beside(text)))}"


def teach(db: sqlite3.Connection) -> None:
    """Let a fresh connection keep the word indexes, and read what they are made of."""
    db.create_function("indexed", 1, indexed, deterministic=True)


def _beside(text: str) -> Iterator[str]:
    text = unicodedata.normalize("NFC", text)
    for found in _WORD.finditer(text):
        word = found[0]
        low = fold(word)
        if word[0].isupper() and is_name(text, found, told=True):
            yield whole(low)
        elif becomes_stop_word(low):
            yield small(low)
        if not word.isascii() and low != "".join(map(_tokenized, word)):
            yield low


@lru_cache(1 << 12)
def _folded(letter: str) -> str:
    return _without_accent(unicodedata.normalize("NFKD", letter.casefold())) or letter.casefold()


@lru_cache(1 << 12)
def _tokenized(letter: str) -> str:
    """A letter as the tokenizer of the index takes it."""
    return _without_accent(unicodedata.normalize("NFD", letter.lower())) or letter.lower()


def _without_accent(parts: str) -> str:
    """The letter of a Latin one in its parts; empty for others."""
    return "".join(part for part in parts if not unicodedata.combining(part)) if parts[:1].isascii() else ""


class _Stems:
    """The stems of single words, by SQLite's own stemmer; from any thread."""

    def __init__(self) -> None:
        self._db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._lock = threading.Lock()
        self._db.execute(f"CREATE VIRTUAL TABLE asked USING fts5 (text, tokenize = '{TOKENIZER}')")
        self._db.execute("CREATE VIRTUAL TABLE stems USING fts5vocab (asked, instance)")
        self.of_stop_words = frozenset(self.of(word) for word in STOP)

    def of(self, word: str) -> str:
        with self._lock:
            self._db.execute("DELETE FROM asked")
            self._db.execute("INSERT INTO asked (rowid, text) VALUES (1, ?)", (word,))
            stem: str = self._db.execute("SELECT term FROM stems").fetchone()[0]
            return stem


@cache
def _stems() -> _Stems:
    return _Stems()
