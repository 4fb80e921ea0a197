"""The questions about worlds and about what is kept, for whoever can take a snapshot of the log."""

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import islice

from graph.events import MAIN_WORLD
from graph.projection.paths import Paths
from graph.readings import kept, references, worlds
from graph.readings.kept import versions
from graph.readings.quoted import Believed, believed
from graph.readings.rows import session_by_id, turns_of
from graph.values import Chunk, CoreBlock, Document, Project, Reference, Turn, World
from graph.visibility import EVERYONE, Viewer


class WorldReadings(ABC):
    """Main, the stories and the what-ifs, and which turns they see, as the log has it."""

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[sqlite3.Connection]:
        """A reading connection of one's own, in one snapshot of the log. For this package only."""

    def worlds(self) -> list[World]:
        """Main, then stories and what-ifs, the oldest first; those whose sessions were all deleted are left out."""
        with self.snapshot() as db:
            return [_named(db, world) for world in worlds.worlds(db)]

    def world(self, id: str) -> World:
        """A world by its id, the first 6 or more characters of it, or a session in it. Raises NotFound or Ambiguous."""
        with self.snapshot() as db:
            return _named(db, worlds.world_by(db, id))

    def world_of(self, session: str) -> str:
        """The id of the world a session is in; main's where there is no such session."""
        with self.snapshot() as db:
            return worlds.world_of(db, session) or MAIN_WORLD

    def sees(self, world: str, turns: Iterable[str]) -> set[str]:
        """Those of the turns that a world sees: on its paths or inherited, and neither hidden nor deleted."""
        with self.snapshot() as db:
            paths = Paths(db)
            return {turn for turn in turns if paths.sees(turn, world)}


def _named(db: sqlite3.Connection, world: World) -> World:
    return replace(world, name=session_by_id(db, world.session).name) if world.session is not None else world


class KeptReadings(WorldReadings):
    """Core blocks, projects, documents, references, notes and significance, as the log has them."""

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

    def attached(self, session: str, *, at: str | None = None) -> list[Reference]:
        """What a session refers to on the path to its head, or to turn `at`, in the order in which it was attached.

        An empty `at` is the place before the first message.
        """
        with self.snapshot() as db:
            return references.attached(db, session, at)

    def references(self, ids: Iterable[str]) -> dict[str, Reference]:
        """References by their ids, also those that were dropped."""
        with self.snapshot() as db:
            return references.references(db, ids)

    def authors(self) -> dict[str, str]:
        """The entities that wrote something which a session refers to, by their DIDs."""
        with self.snapshot() as db:
            return references.authors(db)

    def writers(self, reference: str) -> dict[str, str | None]:
        """Who wrote what lies at a reference, as it is known: DIDs, with what each is noted to be called."""
        with self.snapshot() as db:
            return references.writers(db, reference)

    def written_by(self, entity: str) -> list[Reference]:
        """What somebody wrote of all that sessions refer to, the newest first."""
        with self.snapshot() as db:
            return references.written_by(db, entity)

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
            return kept.significance(db, world)

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
