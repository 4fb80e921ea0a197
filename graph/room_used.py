"""What of the log's file is vectors and what is the indexes of words; the rest is the events themselves."""

from graph.reading import LogReader

# The first of these tables counts bytes of blobs without reading them; the others are FTS5's own.
_VECTORS = "SELECT coalesce(sum(length(vector)), 0) FROM vectors"
_INDEXES = ("words_data", "learned_data")


def vectors_and_words(reader: LogReader) -> tuple[int, int]:
    """Bytes of the vectors, and of the indexes of what was said and learned; nothing but the log is looked at."""
    with reader.snapshot() as db:
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        vectors = db.execute(_VECTORS).fetchone()[0] if "vectors" in tables else 0
        words = sum(
            db.execute(f"SELECT coalesce(sum(length(block)), 0) FROM {name}").fetchone()[0]
            for name in _INDEXES
            if name in tables
        )
        return vectors, words
