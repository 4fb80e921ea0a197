"""The questions about what is kept besides the conversation, for whoever can take a snapshot of the log."""

from collections.abc import Iterable
from itertools import islice

from graph import kept
from graph.beliefs import Chunk, CoreBlock, Document, Project
from graph.events import MAIN_WORLD
from graph.quoted import Believed, believed
from graph.rows import turns_of
from graph.values import Turn
from graph.versions import versions
from graph.visibility import EVERYONE, Viewer
from graph.world_readings import WorldReadings


class KeptReadings(WorldReadings):
    """Core blocks, projects, documents, notes and significance, as the log has them."""

    def blocks(self, world: str = MAIN_WORLD, *, project: Viewer = EVERYONE) -> list[CoreBlock]:
        """The core blocks of a world that say anything, by name; a what-if has those it found where it left, too.

        Of those, the ones that a chat of a `project`, or of none, sees: its own version of one in the place of that
        for all. One that was made from words which were taken away since is read as it was before.
        """
        with self.snapshot() as db:
            return kept.blocks(db, world, project)

    def block_versions(self, seqs: Iterable[int], *, world: str | None = None, project: Viewer = EVERYONE) -> set[int]:
        """Those of some versions of core blocks that a prompt may go on holding, later ones or not.

        A prompt of `world`, or (None) of the one that each was written in, in a chat of a `project`, or of none.
        """
        with self.snapshot() as db:
            return versions(db, seqs, world, project)

    def projects(self) -> list[Project]:
        """Every project that was made or that a session belongs to, by name."""
        with self.snapshot() as db:
            return kept.projects(db)

    def documents(self) -> list[Document]:
        """The documents as they were read last, the newest reading first."""
        with self.snapshot() as db:
            return kept.documents(db)

    def document(self, id: str) -> Document:
        """One document as it was read last. Raises NotFound, also for one that was removed."""
        with self.snapshot() as db:
            return kept.document(db, id)

    def document_chunks(self, document: str) -> list[Chunk]:
        """The chunks of a document as it was read last, in order. Raises NotFound."""
        with self.snapshot() as db:
            return kept.document_chunks(db, document)

    def chunk_hashes(self, document: str) -> dict[bytes, str]:
        """Chunk by content hash of its whole text, of all that was ever read of a document; {} for an unknown one."""
        with self.snapshot() as db:
            return kept.chunk_hashes(db, document)

    def held_chunks(self, document: str) -> list[str]:
        """The ids of the chunks that a document holds as it was read last, in order; [] for an unknown one."""
        with self.snapshot() as db:
            return kept.held_chunks(db, document)

    def chunks(self, ids: Iterable[str], *, project: Viewer = EVERYONE) -> dict[str, Chunk]:
        """Those of the chunks that their document holds as it was read last, by their ids.

        Of those, the ones that a chat of a `project`, or of none, sees.
        """
        with self.snapshot() as db:
            return kept.chunks(db, ids, project)

    def believed(
        self, ids: Iterable[str], *, world: str | None = None, project: Viewer = EVERYONE
    ) -> dict[str, Believed]:
        """Those of the observations that a prompt may quote, with whose words they are, by their ids.

        A prompt of `world`, or (None) of the one that each was learned in, in a chat of a `project`, or of none.
        """
        with self.snapshot() as db:
            return believed(db, ids, world, project)

    def significance(self, world: str = MAIN_WORLD) -> dict[int, int]:
        """How many turns that a world sees were rated 0, 1, 2 and 3."""
        with self.snapshot() as db:
            return {rating: sum(1 for _ in kept.rated(db, rating, world)) for rating in range(4)}

    def rated(self, significance: int, limit: int, *, world: str = MAIN_WORLD) -> list[Turn]:
        """Turns that a world sees and that were rated so, the newest first."""
        with self.snapshot() as db:
            return turns_of(db, list(islice(kept.rated(db, significance, world), max(limit, 0))))

    def notes_session(self, project: str | None, *, world: str = MAIN_WORLD, client: str = "notes") -> str | None:
        """The session that keeps what is stated by hand in a world, of a project or of none; None before the first.

        With another `client`, what that one states.
        """
        with self.snapshot() as db:
            return kept.notes_session(db, project, world, client)
