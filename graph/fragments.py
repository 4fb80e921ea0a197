"""Which of some short texts quote what was erased: a piece of it that nothing that is kept has.

A piece is a run of WORDS words or a string of CHARACTERS characters, in any case and spacing, whatever stands between
its words. Each piece that a text shares with what was erased is taken as long as it is: the words of a sentence, and
two halves of it, may all be said elsewhere, and it nowhere.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator

WORDS = 4
CHARACTERS = 12
_WORD = re.compile(r"[^\W_]+")


def folded(text: str) -> str:
    """The words of a text in small letters without accents, with one blank before and after each."""
    if not text.isascii():
        text = "".join(each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def shared(texts: Collection[str], erased: Iterable[str]) -> dict[str, set[str]]:
    """The longest pieces, folded, that each text has in common with something erased; texts without one are left out.

    What is erased may be much, the texts are few: it is read once, for what is in any of them.
    """
    folds = {text: folded(text) for text in texts}
    wanted = {gram for fold in folds.values() for gram in _grams(fold)}
    read = [fold for fold in map(folded, erased) if any(gram in wanted for gram in _grams(fold))] if wanted else []
    there = {gram for fold in read for gram in _grams(fold)} & wanted
    whole = "\n".join(read)
    found = {
        text: set(_longest(fold, whole))
        for text, fold in folds.items()
        if any(gram in there for gram in _grams(fold))
    }  # fmt: skip
    return {text: pieces for text, pieces in found.items() if pieces}


def kept_of(pieces: Collection[str], kept: Iterable[str]) -> set[str]:
    """Those of the pieces that something kept has too."""
    left = set(pieces)
    for text in kept if left else ():
        fold = folded(text)
        left -= {piece for piece in left if piece in fold}
        if not left:
            break
    return set(pieces) - left


def _grams(fold: str) -> Iterator[str]:
    """The shortest pieces of a folded text."""
    inner = fold.strip()
    for at in range(len(inner) - CHARACTERS + 1):
        yield inner[at : at + CHARACTERS]
    words = inner.split()
    for at in range(len(words) - WORDS + 1):
        yield f" {' '.join(words[at : at + WORDS])} "


def _longest(fold: str, whole: str) -> Iterator[str]:
    """What a folded text has in common with others, each part of it as long as can be, if that is a piece."""
    end = 0
    for begin in range(len(fold)):
        before, end = end, max(end, begin)
        while end < len(fold) and fold[begin : end + 1] in whole:
            end += 1
        if end > before and _is_piece(fold[begin:end]):
            yield fold[begin:end]


def _is_piece(part: str) -> bool:
    return len(part.strip()) >= CHARACTERS or part.count(" ") > WORDS
