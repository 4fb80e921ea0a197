"""Works off what was erased and still lies in the memory's own files: word indexes, vectors, graph, log.

Invariants:
- `purge` can be broken off at any moment, by an error of `progress` too, and done again from its beginning; what it has
  done already costs nothing then. `purge_done` is the last step and the only one that says so.
- The lock of the writer is held for some milliseconds at a time, and let go of for as long in between.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain
from pathlib import Path

from graph import fragments, purging
from graph.absence import INDEXES, Forms, forms_of, forms_of_texts, is_text, stems_of, words_in
from graph.copies import purge_copy
from graph.files import LOG
from graph.follower import Follower
from graph.log import Log
from graph.querying.workers import QueryWorkers
from graph.reading import LogReader
from graph.values import Progress

Tell = Callable[[Progress], None]
BREATH_S = 0.002  # in which whoever waits for the lock gets it
VECTORS_AT_ONCE = 500


class Cleansing:
    """The part of the memory that purges. All methods block, in any thread but for one purge at a time."""

    _folder: Path
    _log: Log
    _reader: LogReader
    _graph: Follower
    _apart: QueryWorkers
    _writing: threading.Lock

    def purging(self) -> dict[int, str]:
        """The events whose texts wait to be purged, with the texts."""
        with self._reader.snapshot() as db:
            return purging.waiting(db)

    def purge_words(self, seqs: Collection[int] | None = None) -> dict[str, frozenset[bytes]]:
        """The words of erased texts (None: of all that wait) in the forms that are in nothing that is kept.

        Beside them each text as a whole: its words may all be said elsewhere, and it nowhere.
        """
        texts = [text for seq, text in self.purging().items() if seqs is None or seq in seqs]
        return self.unkept(forms_of_texts(texts) | forms_of(words_in(texts)), seqs)

    def unkept(self, forms: Forms, seqs: Collection[int] | None = None) -> dict[str, frozenset[bytes]]:
        """Some words in those forms that are in nothing that is kept.

        What waits to be purged counts as kept, but for the events that are being purged (None: all).
        """
        waiting = [] if seqs is None else [text for seq, text in self.purging().items() if seq not in seqs]
        with self._reader.snapshot() as db:
            stems = set(purging.kept_stems(db, (word for word, each in forms.items() if not is_text(each))))
        stems.update(stem for each in stems_of(sorted(words_in(waiting))).values() for stem in each)
        return purging.unkept(
            forms, chain(self._kept(), (f"{text}\n".encode(errors="replace") for text in waiting)), stems
        )

    def that_quote(self, texts: Collection[str], seqs: Collection[int], also_kept: Iterable[str] = ()) -> set[str]:
        """Those of some short texts that quote what is erased in these events, and nothing that is kept says."""
        waiting = self.purging()
        found = fragments.shared(texts, (text for seq, text in waiting.items() if seq in seqs))
        others = (text for seq, text in waiting.items() if seq not in seqs)
        kept = chain(also_kept, others, (page.decode(errors="replace") for page in self._kept()))
        said = fragments.kept_of(set().union(*found.values()), kept)
        return {text for text, pieces in found.items() if pieces - said}

    def purge(self, progress: Tell) -> None:
        """Leave nothing of what is erased in word indexes, vectors and graph. Raises LogUnwritable or GraphFailure."""
        for index in INDEXES:
            self._rewrite(index, progress)
        self._drop_vectors(progress)
        self._graph.purge(progress)
        self._apart.erased()  # a copy that was made of the graph before

    def purge_done(self, seqs: Collection[int]) -> bool:
        """These texts are nowhere else: let go of them, and leave no byte in the log's own files.

        False while somebody reads the log, who keeps it as it was: it is to be tried again. Raises LogUnwritable.
        """
        with self._writing:
            self._log.blank(seqs)
        if not purging.empty_wal(self._folder / LOG):
            return False
        with self._writing:
            self._log.forget_purged(seqs)
        return True

    def purge_copy(self, path: Path) -> int:
        """Erase in a copy of this log what was erased here since, for good. How many events had to be.

        Raises LogDamaged or LogUnwritable where that cannot be done.
        """
        return purge_copy(path, self._folder)

    def compact_log(self) -> None:
        """Write the log's file anew, where a page kept a byte of what is gone; nobody writes meanwhile."""
        with self._writing:
            self._log.compact()
        purging.empty_wal(self._folder / LOG)

    def _rewrite(self, index: str, progress: Tell) -> None:
        first, done = True, 0
        while True:
            progress(Progress("purging", done, 0))
            with self._writing:
                more = self._log.rewrite_words(index, first=first)
            if not more:
                return
            first, done = False, done + 1
            self._breathe()

    def _drop_vectors(self, progress: Tell) -> None:
        with self._reader.snapshot() as db:
            ids = purging.leftover_vectors(db)
        for at in range(0, len(ids), VECTORS_AT_ONCE):
            progress(Progress("purging", at, len(ids)))
            with self._writing:
                self._log.drop_vectors(ids[at : at + VECTORS_AT_ONCE])
            self._breathe()

    def _breathe(self) -> None:
        """Let others have the lock: one that is taken again at once is never theirs."""
        threading.Event().wait(BREATH_S)

    def _kept(self) -> Iterator[bytes]:
        """All that is kept, in pages, each of a snapshot of its own: a long one would hold up the log."""
        with self._reader.snapshot() as db:
            yield b"".join(purging.kept_beside(db))
        last = 0
        while True:
            with self._reader.snapshot() as db:
                last, page = purging.kept_by(db, after=last)
            if not last:
                return
            yield page
