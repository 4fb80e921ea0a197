"""A connection to the log that sees nothing past one event: how the past is read without a copy of it.

Temporary views of the tables' own names hide what came later. SQLite looks for a name among what is temporary first,
and folds such a view into the query, so that every index goes on being used. The full-text indexes have no view: what
they find is joined with `events`, or counted up to a number that the asker gives.
"""

import sqlite3

BESIDE = ("events", "named", "contents")  # by the number of their event
EMPTY = ("unreflected",)  # what waits to be learned from waits today


def bound(db: sqlite3.Connection, until: int) -> None:
    """Hide whatever followed event `until` from the queries of a fresh connection."""
    db.execute("PRAGMA temp_store = MEMORY")
    for table in BESIDE:
        db.execute(f"CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} WHERE seq <= {until:d}")
    for table in EMPTY:
        db.execute(f"CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} WHERE false")
