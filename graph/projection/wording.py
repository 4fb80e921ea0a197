"""Titles and core blocks: texts with versions, of which the latest that may be believed is shown.

A version names the turns and chunks whose words it may carry. While one of them does not stand in the world of the
session or the block, the version before it is shown; one without sources, which a person wrote, always may be. Where
its words are erased, nothing is shown.
"""

from typing import Any

from graph.events import MAIN_WORLD, CoreWritten, Event, SessionTitled
from graph.events.codec import Stored
from graph.projection.sink import Sink, node
from graph.projection.sources import fallen, hang

_SHOWN = {"Session": "title_seq", "CoreBlock": "seq"}  # the column that says which version is shown


def title(sink: Sink, stored: Stored, event: SessionTitled) -> None:
    """A session gets a title."""
    _add(sink, "Session", event.session, stored, event.sources)


def write_block(sink: Sink, stored: Stored, event: CoreWritten) -> None:
    """A core block says something else."""
    block = block_id(event.block, event.world, event.project)
    if sink.node("CoreBlock", block) is None:
        sink.put_node("CoreBlock", block, {"name": event.block, "world": event.world})
    _add(sink, "CoreBlock", block, stored, event.sources)


def world_of(sink: Sink, wording: str) -> str:
    """The world in which the sources of a version have to stand."""
    now = node(sink, "Wording", wording)
    world: str = node(sink, now["of"], now["owner"])["world"]
    return world


def block_id(name: str, world: str, project: str | None) -> str:
    of = f"{name}\n{world}" if world != MAIN_WORLD or project is not None else name
    return of if project is None else f"{of}\n{project}"


def weigh(sink: Sink, wording: str, step: int) -> None:
    """So many more sources of a version do not stand."""
    now = node(sink, "Wording", wording)
    table, owner = now["of"], now["owner"]
    sink.set_node("Wording", wording, {"lost_sources": now["lost_sources"] + step})
    _show(sink, table, owner, None)


def erase_wording(sink: Sink, table: str, owner: str, seq: int) -> None:
    """Take the words of a version away, if it is the one shown."""
    if node(sink, table, owner)[_SHOWN[table]] == seq:
        sink.set_node(table, owner, {"title" if table == "Session" else "text": None})


def _add(sink: Sink, table: str, owner: str, stored: Stored, sources: tuple[str, ...]) -> None:
    wording, named = str(stored.seq), dict.fromkeys(sources)
    now = node(sink, table, owner)
    lost, before = fallen(sink, now["world"], named), now["wording"]
    sink.put_node("Wording", wording, {"of": table, "owner": owner, "before": before, "lost_sources": lost})
    for source in named:
        hang(sink, "WORDED_FROM", wording, source)
    sink.set_node(table, owner, {"wording": wording})
    _show(sink, table, owner, stored)


def _show(sink: Sink, table: str, owner: str, new: Stored | None) -> None:
    """Show the latest version that may be; `new` has the words of one that was just written."""
    now = node(sink, table, owner)
    wording = now["wording"]
    while wording is not None and node(sink, "Wording", wording)["lost_sources"] > 0:
        wording = node(sink, "Wording", wording)["before"]
    seq = int(wording) if wording is not None else None
    if seq == now[_SHOWN[table]]:
        return
    event = None if seq is None else new.event if new is not None and new.seq == seq else sink.event(seq)
    sink.set_node(table, owner, {_SHOWN[table]: seq, **_words(event, table)})


def _words(event: Event | None, table: str) -> dict[str, Any]:
    match event:
        case SessionTitled():
            return {"title": event.text}
        case CoreWritten():
            return {"text": event.text or None, "by": event.by}
        case _:
            return {"title": None} if table == "Session" else {"text": None, "by": None}
