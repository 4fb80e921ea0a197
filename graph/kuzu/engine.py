"""The engine under the graph, which is Kuzu: the one file that knows its Python interface, and the arrow it copies.

To put another that speaks the same Cypher in its place is to write this file anew. What the store (graph/kuzu/store.py)
and the process of people's queries (graph/console/worker.py) use of an engine is what has no underscore here, and
tests/graph/kuzu/test_conformance.py holds what it has to answer.

Both libraries are imported when they are first used: every start would pay for them.
"""

import ctypes
import locale
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import kuzu
    from pyarrow import Table as Table

# All errors are RuntimeError; a damaged file also brings those of the C++ library, which arrive as the others.
ERRORS = (RuntimeError, MemoryError, ValueError, IndexError)
COMPANIONS = ("", ".wal", ".tmp", ".lock", ".shadow")  # what the engine calls the files of a graph, beyond its name
PAGE_ROWS = 1_000


class SeveralStatements(Exception):
    """What was run was more than one statement."""


def load() -> None:
    """Bring the engine in, for whoever can open no file afterwards.

    It finds its functions in capitals, as the locale has them: in Turkish that of "i" is not "I", and it finds few.
    """
    import kuzu  # noqa: F401

    if ctypes.CDLL(None).toupper(ord("i")) != ord("I"):
        for plain in ("C", "C.UTF-8"):  # the latter is not everywhere
            with suppress(locale.Error):
                locale.setlocale(locale.LC_CTYPE, plain)


def why(error: BaseException) -> Literal["time", "memory", "query"]:
    """What kept a statement from its end, by the words of the error, which are all there is."""
    text = str(error)
    if "Interrupted" in text or "timeout" in text.lower():
        return "time"
    return "memory" if isinstance(error, MemoryError) or "bad_alloc" in text or "buffer pool" in text else "query"


def wal_of(path: Path) -> Path:
    """The write-ahead log beside a graph."""
    return path.with_name(f"{path.name}.wal")


def columns(values: Mapping[str, Sequence[Any]], types: Mapping[str, str]) -> "Table":
    """Rows given by column, as `Connection.copy` takes them; of types as the tables are declared with them."""
    import pyarrow

    arrow = {
        "STRING": pyarrow.string(),
        "INT64": pyarrow.int64(),
        "BOOL": pyarrow.bool_(),
        "DOUBLE": pyarrow.float64(),
    }
    return pyarrow.table({name: pyarrow.array(column, arrow[types[name]]) for name, column in values.items()})


def release_unused() -> None:
    """Return to the system what the columns took that were copied."""
    import pyarrow

    pyarrow.default_memory_pool().release_unused()


class Database:
    """An open file; `most_bytes` of address space, a power of two, for it and `pool_bytes` of memory for its pages.

    It never checkpoints by itself. Raises ERRORS, as all methods here do.
    """

    def __init__(
        self, path: Path, *, pool_bytes: int, most_bytes: int, threads: int = 0, read_only: bool = False
    ) -> None:
        load()
        import kuzu

        self._database = kuzu.Database(
            path,
            buffer_pool_size=pool_bytes,
            max_db_size=most_bytes,
            max_num_threads=threads,
            read_only=read_only,
            auto_checkpoint=False,
        )

    def connect(self, *, threads: int = 0) -> "Connection":
        """A connection; 0 threads are as many as the database may have."""
        import kuzu

        return Connection(kuzu.Connection(self._database, num_threads=threads))

    def close(self) -> None:
        self._database.close()


MOST_PREPARED = 64  # statements of one connection


class Connection:
    """One statement at a time, one transaction at a time; `interrupt` is for any thread."""

    def __init__(self, connection: "kuzu.Connection") -> None:
        self._connection = connection
        self._prepared: dict[str, kuzu.PreparedStatement] = {}

    def execute(
        self,
        statement: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        timeout_s: float | None = None,
        keep: bool = False,
    ) -> "Result":
        """Run a statement, from now on for `timeout_s` at most; `keep` it prepared for the next time.

        Raises ERRORS or SeveralStatements.
        """
        if timeout_s is not None:
            self._connection.set_query_timeout(max(1, round(timeout_s * 1000)))
        result = self._connection.execute(self._kept(statement) if keep else statement, dict(parameters or {}))
        if isinstance(result, list):
            raise SeveralStatements("One statement at a time, please.")
        return Result(result)

    def _kept(self, statement: str) -> "kuzu.PreparedStatement":
        """The statement prepared, which is a third of the time of a small one."""
        if statement not in self._prepared:
            from kuzu import PreparedStatement

            if len(self._prepared) >= MOST_PREPARED:
                self._prepared.clear()
            self._prepared[statement] = PreparedStatement(self._connection, statement)
        return self._prepared[statement]

    def begin(self) -> None:
        """Begin a transaction that writes."""
        self._connection.execute("BEGIN TRANSACTION")

    def commit(self) -> None:
        self._connection.execute("COMMIT")

    def roll_back(self) -> None:
        try:
            self._connection.execute("ROLLBACK")
        except RuntimeError as e:
            if "No active transaction" not in str(e):  # an error in a statement has rolled back already
                raise

    def copy(self, table: str, rows: "Table", *, ends: tuple[str, str] | None = None) -> None:
        """Load rows into a table; `ends` as of `GraphStore.copy`."""
        which = f" (from='{ends[0]}', to='{ends[1]}')" if ends is not None else ""
        self.execute(f"COPY `{table}` FROM $batch{which}", {"batch": rows}).close()

    def walk_up_to(self, steps: int) -> None:
        """Let a walk without an end take so many steps: 30 unless told; beyond 65,535 the engine goes wrong."""
        self._connection.execute(f"CALL var_length_extend_max_depth={steps}")

    def checkpoint(self) -> None:
        """Fold the write-ahead log into the file; nobody may be reading."""
        self._connection.execute("CHECKPOINT")

    def leave_log(self) -> None:
        """Do not fold the write-ahead log in when the database is closed."""
        self._connection.execute("CALL force_checkpoint_on_close = false")

    def interrupt(self) -> None:
        """End the statement that runs, with an error; one that has not quite begun does not hear it."""
        self._connection.interrupt()

    def close(self) -> None:
        """Let go of it; nothing may be running."""
        self._prepared.clear()
        self._connection.close()


class Result:
    """What a statement found, to be read once and from its beginning, by `row` or `rows`."""

    def __init__(self, result: "kuzu.QueryResult") -> None:
        self._result = result

    @property
    def columns(self) -> list[str]:
        return self._result.get_column_names()

    @property
    def types(self) -> list[str]:
        """Of each column, as the tables are declared with them: STRING, INT64, NODE, STRING[]."""
        return self._result.get_column_data_types()

    @property
    def total(self) -> int:
        """How many rows there are."""
        return self._result.get_num_tuples()

    def row(self) -> list[Any]:
        """The next row."""
        return list(self._result.get_next())

    def rows(self) -> list[list[Any]]:
        """All rows, fetched in pages: one huge fetch would hold the interpreter."""
        rows: list[list[Any]] = []
        while page := self._result.get_n(PAGE_ROWS):
            rows += [list(row) for row in page]
        self.close()
        return rows

    def close(self) -> None:
        self._result.close()
