"""Looks for many words at once in files of any kind, byte by byte, and for pieces of what was erased in texts.

A word, or a whole text, is looked for in all its forms (as it was written, in small letters, as the word indexes have
it, escaped as in JSON), whatever the case of its ASCII letters. One pass over a file serves any number of words: four
bytes of each form are looked up for every place in it, and only where they fit are all bytes compared.

A piece is a run of WORDS words or a string of CHARACTERS characters, in any case and spacing, whatever stands between
its words. Each piece that a text shares with what was erased is taken as long as it is: the words of a sentence, and
two halves of it, may all be said elsewhere, and it nowhere.
"""

import json
import os
import re
import sqlite3
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from graph.errors import LogUnreadable, MemoryFailure
from graph.sqlite import LOG, bytes_of, open_at_rest, open_reader, says_damage
from graph.whole_words import TOKENIZER, becomes_stop_word, fold, small, whole

if TYPE_CHECKING:
    from numpy.typing import NDArray


STEM = b"\xff"  # before a stem as the word indexes have it, which is looked for there; no text begins like this
LEAST = 5  # bytes of a form: fewer are found in any large file by chance
SHORTEST_TEXT = 12  # characters of a text that is looked for as a whole
CHUNK = 1 << 20
GRAM = 4
INDEXES = ("words", "learned")
_BITS = 20
_MULTIPLIER = 0x9E3779B1
_SMALL = 0x20202020  # makes small letters of four large ones
_WORD = re.compile(r"[^\W_]+")
_ASCII_WORD = re.compile(rb"[0-9a-z\x80-\xff]+")

Forms = Mapping[str, frozenset[bytes]]  # by word
Chunks = Iterable[bytes]


def words_in(texts: Iterable[str]) -> set[str]:
    """The different words of some texts, as they are written there."""
    return {word for text in texts for word in _WORD.findall(text)}


def forms_of(words: Iterable[str], *, least: int = LEAST) -> dict[str, frozenset[bytes]]:
    """The forms of each word that has at least `least` bytes; words of fewer are left out, and stems of too few."""
    listed = sorted({word for word in words if len(word.encode(errors="replace")) >= least})
    stems = stems_of(listed)
    return {word: frozenset(_forms(word, stems[word])) for word in listed}


def forms_of_texts(texts: Iterable[str]) -> dict[str, frozenset[bytes]]:
    """The forms of whole texts, also where each word of them is said elsewhere; short ones are left out."""
    whole = {stripped for text in texts if len(stripped := text.strip()) >= SHORTEST_TEXT}
    return {
        text: frozenset((*_escaped(text), json.dumps(text, ensure_ascii=False)[1:-1].encode(errors="replace").lower()))
        for text in whole
    }


def is_text(forms: frozenset[bytes]) -> bool:
    """Whether these are the forms of something the word indexes cannot have."""
    return not any(form.startswith(STEM) for form in forms)


def stems_of(words: list[str]) -> dict[str, set[str]]:
    """What the word indexes keep of each word; nothing for what they take apart."""
    found: dict[str, set[str]] = {word: set() for word in words}
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        db.execute(f"CREATE VIRTUAL TABLE t USING fts5(text, tokenize = '{TOKENIZER}')")
        db.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, instance)")
        db.executemany("INSERT INTO t (rowid, text) VALUES (?, ?)", enumerate(words))
        for term, number in db.execute("SELECT term, doc FROM v"):
            found[words[number]].add(term)
    apart = {word for word in words if becomes_stop_word(fold(word))}
    for word in apart:
        found[word] = {whole(fold(word)), small(fold(word))}  # its stem is no word of its own
    return {word: stems if len(stems) == 1 or word in apart else set() for word, stems in found.items()}


def _forms(word: str, stems: set[str]) -> Iterator[bytes]:
    said = {word, word.lower(), word.upper()}
    for each in said | {stem for stem in stems if len(stem.encode()) >= LEAST}:
        yield from _escaped(each)
    for stem in stems:
        yield STEM + stem.encode()


def _escaped(word: str) -> Iterator[bytes]:
    yield word.encode(errors="replace").lower()
    yield json.dumps(word)[1:-1].encode().lower()


def forms_of_stem(stem: str) -> frozenset[bytes]:
    """What a file may have of a stem."""
    return frozenset((STEM + stem.encode(), *_escaped(stem)))


class Finder:
    """Finds forms in bytes. What was found once is not looked for again."""

    def __init__(self, forms: Iterable[bytes]) -> None:
        import numpy as np

        self._table = np.zeros(1 << _BITS, dtype=bool)
        self._by_gram: dict[int, list[tuple[bytes, int]]] = {}  # with the place of those four bytes in each form
        self._short: set[bytes] = set()
        self._longest = 0
        for form in {form for form in forms if not form.startswith(STEM)}:
            self._longest = max(self._longest, len(form))
            if len(form) < GRAM:
                self._short.add(form)
                continue
            anchor = _anchor(form)
            gram = int.from_bytes(form[anchor : anchor + GRAM], "little") | _SMALL
            self._by_gram.setdefault(gram, []).append((form, anchor))
            self._table[(gram * _MULTIPLIER & 0xFFFFFFFF) >> (32 - _BITS)] = True

    def find(self, chunks: Chunks) -> set[bytes]:
        """The forms that are in the bytes of all chunks put together."""
        found: set[bytes] = set()
        rest = b""
        for chunk in chunks:
            data = rest + chunk
            self._find_in(data, found)
            rest = data[max(0, len(data) - self._longest + 1) :]
        return found

    def _find_in(self, data: bytes, found: set[bytes]) -> None:
        small = data.lower()
        found |= {form for form in self._short - found if form in small}
        if len(data) < GRAM or not self._by_gram:
            return
        for shift in range(GRAM):
            whole = (len(data) - shift) // GRAM
            for at, gram in self._fitting(data, shift, whole):
                place = at * GRAM + shift
                for form, anchor in self._by_gram.get(gram, ()):
                    if place >= anchor and form not in found and small.startswith(form, place - anchor):
                        found.add(form)

    def _fitting(self, data: bytes, shift: int, whole: int) -> Iterator[tuple[int, int]]:
        """Places at which four bytes fit a form, and the bytes as a number."""
        import numpy as np

        grams: NDArray[np.uint32] = np.frombuffer(data, dtype="<u4", offset=shift, count=whole) | np.uint32(_SMALL)
        hashes = (grams * np.uint32(_MULTIPLIER)) >> np.uint32(32 - _BITS)
        places = np.flatnonzero(self._table[hashes])
        yield from zip(places.tolist(), grams[places].tolist(), strict=True)


def _anchor(form: bytes) -> int:
    """Where the longest word of a form begins: texts begin alike more often than they have long words in common."""
    longest = max(_ASCII_WORD.finditer(form), key=lambda found: found.end() - found.start(), default=None)
    return min(longest.start(), len(form) - GRAM) if longest is not None else 0


def look(folder: Path, forms: Forms, *, leave_out: Iterable[Path] = ()) -> Iterator[tuple[Path, set[str] | None]]:
    """Every file under `folder`, and the words that are in it; None for what cannot be looked into, and may hold any.

    That is a file or a folder that cannot be read, and what a link leads to.
    """
    finder, missed = Finder(form for each in forms.values() for form in each), list[Path]()
    for path in files_under(folder, leave_out=leave_out, missed=missed):
        try:
            yield path, look_into(path, forms, finder)
        except OSError:
            yield path, None
    for path in missed:
        yield path, None


def look_into(path: Path, forms: Forms, finder: Finder | None = None) -> set[str]:
    """The words that are in a file; of a log, also those of its indexes; none where it is gone. Raises OSError."""
    finder = finder or Finder(form for each in forms.values() for form in each)
    try:
        found = finder.find(_chunks(path))
    except FileNotFoundError:
        return set()
    words = {word for word, each in forms.items() if not each.isdisjoint(found)}
    return words | _indexed(path, {word: each for word, each in forms.items() if word not in words})


def files_under(folder: Path, *, leave_out: Iterable[Path] = (), missed: list[Path] | None = None) -> Iterator[Path]:
    """All regular files, in order; links are not followed. In `missed` is what was not looked into, but is there."""
    left, passed_by = set(leave_out), [] if missed is None else missed

    def leads_out(path: Path) -> bool:
        return path.is_symlink() and not path.resolve().is_relative_to(folder.resolve())

    def note(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            passed_by.append(Path(error.filename))

    for root, folders, names in os.walk(folder, onerror=note):
        folders[:] = sorted(name for name in folders if Path(root, name) not in left)
        passed_by += [path for path in (Path(root, name) for name in folders) if leads_out(path)]
        for path in (Path(root, name) for name in sorted(names)):
            try:
                if path in left or not path.is_file():
                    continue
            except PermissionError:
                passed_by.append(path)
                continue
            if leads_out(path):
                passed_by.append(path)
            elif not path.is_symlink():
                yield path


def _chunks(path: Path) -> Iterator[bytes]:
    if path.name.startswith(LOG):
        yield from bytes_of(path, CHUNK)
        return
    with path.open("rb", buffering=0) as file:
        while chunk := file.read(CHUNK):
            yield chunk


def _indexed(path: Path, forms: Forms) -> set[str]:
    """The words that the word indexes of a log still know; the bytes of those are shortened by what they share."""
    stems = {word: [form[1:].decode() for form in each if form.startswith(STEM)] for word, each in forms.items()}
    found = set[str]()
    if path.suffix != ".sqlite" or not any(stems.values()):
        return found
    try:
        with closing(open_reader(path) if path.name == LOG else open_at_rest(path, but_wal=True)) as db:
            for index in INDEXES:
                db.execute(f"CREATE VIRTUAL TABLE temp.terms_of_{index} USING fts5vocab(main, {index}, row)")
                known = f"SELECT 1 FROM terms_of_{index} WHERE term = ?"
                found |= {word for word in stems if any(db.execute(known, (stem,)).fetchone() for stem in stems[word])}
    except (sqlite3.DatabaseError, MemoryFailure) as error:  # no log, or one that is only being made
        if isinstance(error, LogUnreadable) or not says_damage(error):
            raise OSError(f"{path} cannot be read just now: {error}") from error
    return found


WORDS = 4
CHARACTERS = 12


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
