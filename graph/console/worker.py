"""The process that people's queries run in: one graph, opened and unlinked, and nothing else to be reached.

    python -P -m graph.console.worker COPY all|live

A request is a line of JSON on standard input, what is found are lines of JSON on standard output; it is spoken with in
`graph.console.workers`. It ends when its standard input does, with whoever started it, however that ends, and when
nobody asked anything for a while.

Invariants: before the first request the copy has no name any more, no file can be opened or written, and what memory it
may take is bounded. What a request says is not looked at here: it may be anything, and can do no more than read the
copy, or end this process.
"""

import datetime
import decimal
import json
import os
import queue
import signal
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graph.console.live_subset import cuts
from graph.console.sandbox import confine, confine_to
from graph.console.transport import plain, unpacked
from graph.kuzu import engine

IDLE_S = 60.0
THREADS = 2
POOL_BYTES = 160 << 20
LEAST_BYTES = 256 << 20  # of address space for the graph; a power of two, as all multiples of it here
FRAME_ROWS, FRAME_BYTES = 256, 128 << 10  # about: whoever reads a line holds its interpreter meanwhile
GRACE_S = 2.0  # beyond the engine's own time-out, until the system ends this process
DEPTH = 60_000  # steps of a walk without an end
# Brings in, before nothing can be opened any more, whatever Python and the engine load when a value needs it first.
FIRST = (
    "RETURN CAST(1.5 AS DECIMAL(5, 2)), date('2026-01-01'), timestamp('2026-01-01 00:00:00'), interval('1 day'), "
    "uuid('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'), [1], {a: 1}, map(['a'], [1]), encode('a'), lower('Ä'), "
    "stem('as', 'english'), 'a' =~ 'b.', md5('a'), CAST(1 AS INT128)"
)


FAILURES = (*engine.ERRORS, engine.SeveralStatements, OverflowError)  # the last of its values
WARMING: dict[str, Any] = {
    "cypher": FIRST,
    "counted": None,
    "regexes": [],
    "parameters": {},
    "timeout_s": 10.0,
    "limit": 1,
    "bytes": 1 << 20,
}


class TimeIsUp(Exception):
    """The rows could not be read in time."""


def main(argv: list[str]) -> int:
    """Open the copy and answer until nobody asks."""
    os.umask(0o077)
    if hasattr(os, "nice"):
        os.nice(10)
    path, live_in = Path(argv[0]), argv[2] if argv[1] == "live" else None
    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.fileno(), requests, path), daemon=True).start()
    try:
        database = opened(path, live_in=live_in)
    except (*FAILURES, OSError) as error:  # whoever waits hears it
        remove(path)
        say(line(failed=" ".join(str(error).split())))
        return 1
    say(line(ready=True))
    while True:
        try:
            request = json.loads(requests.get(timeout=IDLE_S))
        except queue.Empty:
            return 0
        say(line(begun=True))  # from here on it is the query's doing when this process ends
        for said in answer(database, request):
            say(said)


def opened(path: Path, *, live_in: str | None) -> engine.Database:
    """The graph at `path`, which is gone from the disk, opened to be read; from then on nothing else can be opened.

    All of it, or what is live and seen in a project ("": in none).
    """
    import resource  # noqa: F401 - afterwards it could not be found any more

    engine.load()
    confine_to(path.parent)
    size = sum(each.stat().st_size for each in (path, engine.wal_of(path)) if each.exists())
    most = LEAST_BYTES
    while most < 4 * size:
        most *= 2
    how: dict[str, Any] = {"pool_bytes": POOL_BYTES, "threads": THREADS, "most_bytes": most}
    if live_in is not None or engine.wal_of(path).exists():
        database = engine.Database(path, **how)
        connection = database.connect()
        for statement, parameters in cuts(live_in) if live_in is not None else ():
            connection.execute(statement, parameters)
        connection.checkpoint()
        connection.close()
        database.close()
    database = engine.Database(path, read_only=True, **how)
    remove(path)
    *_, last = answer(database, WARMING)
    if "failed" in json.loads(last):
        raise RuntimeError(last)
    confine()
    return database


def remove(path: Path) -> None:
    """Take a copy, and what the engine put beside it, off the disk."""
    for each in path.parent.glob(f"{path.name}*"):
        each.unlink(missing_ok=True)


def answer(database: engine.Database, request: dict[str, Any]) -> Iterator[str]:
    """What a request finds: names, rows, `first` when these are all, the total, and `done`; or why it failed."""
    until = time.monotonic() + request["timeout_s"]
    parameters = {name: unpacked(value) for name, value in request["parameters"].items()}
    _end_at(request["timeout_s"] + GRACE_S)
    connection = None
    try:
        connection = database.connect(threads=THREADS)
        connection.walk_up_to(DEPTH)
        for number, regex in enumerate(request["regexes"]):
            if not _is_regex(connection, regex):
                yield line(failed=number, why="regex")
                return
        yield from _first(connection, request, parameters, until)
        yield line(done=True)
    except TimeIsUp:
        yield line(failed="", why="time")
    except FAILURES as error:
        yield line(failed=str(error).strip(), why=_why(error))
    finally:
        if connection is not None:
            connection.close()
        _end_at(0)


def _first(
    connection: engine.Connection, request: dict[str, Any], parameters: dict[str, Any], until: float
) -> Iterator[str]:
    """The rows of the statement itself, how many it has, and what cut them; then those of the one that counts.

    When time is up, those that came are told all the same.
    """
    began = time.monotonic()
    result = _run(connection, request["cypher"], parameters, until)
    try:
        yield line(columns=result.columns, took_s=time.monotonic() - began)
        there, sent, size, cut = result.total, 0, 0, ""
        frame: list[str] = []
        most = min(request["limit"], there)
        while sent < most:
            row = json.dumps([plain(value) for value in result.row()], separators=(",", ":"))
            size += len(row) + 1
            if size > request["bytes"]:
                cut = "bytes"
                break
            frame.append(row)
            sent += 1
            if len(frame) == FRAME_ROWS or len(row) * len(frame) > FRAME_BYTES or sent == most:
                yield f'{{"rows":[{",".join(frame)}]}}'
                frame = []
                if sent < most and time.monotonic() > until:
                    cut = "time"
                    break
        if frame:
            yield f'{{"rows":[{",".join(frame)}]}}'
        yield line(there=there, cut=cut or ("rows" if sent < there else ""))
    finally:
        result.close()
    if request["counted"] is not None and there > request["limit"]:
        asked = {name: parameters[name] for name in request["counting"]}
        yield line(counted=_counted(connection, request["counted"], asked, until))


def _is_regex(connection: engine.Connection, regex: str) -> bool:
    """Whether the engine can read it: if so, nothing at all fits it, or nothing."""
    tried = {"one": f"(?:{regex})|", "other": f"{regex}|"}  # each lets by what ends the other's brackets or bar
    result = connection.execute("RETURN regexp_matches('', $one) AND regexp_matches('', $other)", tried)
    (fits,) = result.row()
    result.close()
    return fits is True


def _counted(connection: engine.Connection, cypher: str, parameters: dict[str, Any], until: float) -> int | None:
    """How many rows there are in all; None where that takes too long, or more than there is."""
    try:
        result = _run(connection, cypher, parameters, until)
    except (TimeIsUp, *FAILURES):
        return None
    (rows,) = result.row()
    result.close()
    return int(rows)


def _run(connection: engine.Connection, cypher: str, parameters: dict[str, Any], until: float) -> engine.Result:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeIsUp
    return connection.execute(cypher, parameters, timeout_s=left)


def _why(error: BaseException) -> str:
    why = engine.why(error)
    return "size" if why == "query" and isinstance(error, OverflowError) else why


def _end_at(seconds: float) -> None:
    """Have the system end this process after so long, whatever it is at then; 0: not any more."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def line(**told: Any) -> str:
    """What is said to whoever asks."""
    return json.dumps(told)


def say(line: str) -> None:
    sys.stdout.buffer.write(line.encode() + b"\n")
    sys.stdout.buffer.flush()


def _listen(parent: int, requests: "queue.SimpleQueue[bytes]", path: Path) -> None:
    """Take requests until the other end is gone, then end at once, and leave no copy."""
    rest = b""
    while piece := os.read(parent, 1 << 16):
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            requests.put(line)
    remove(path)
    os._exit(1)


_LOADED = (datetime, decimal, uuid)  # for values: afterwards they could not be found any more

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
