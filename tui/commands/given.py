"""What a reply was given, as `clew show` tells it: messages, what was learned, pieces of documents and core blocks.

All of it is read from the log. What may be shown no more stands there without its words.
"""

from typing import TYPE_CHECKING

from tui.output import fit, local, paint, width
from tui.reasons import who, why_stored
from tui.text import one_line

if TYPE_CHECKING:
    from graph.beliefs import Chunk, CoreBlock
    from graph.events import Recalled
    from graph.quoted import Believed
    from graph.reading import LogReader
    from graph.values import Turn
    from tui.reasons import Shared

    Quoted = Turn | Believed | Chunk | CoreBlock

STRETCH = 300  # characters of long words, also where there is room for all of them
LABELS = {"turn": "turn", "observation": "memory", "chunk": "document passage", "block": "core block"}


def quoted(reader: "LogReader", ids: list[str]) -> "dict[str, Quoted]":
    """What of a context pack may still be shown, by id."""
    if not ids:
        return {}
    return {**reader.quotable(ids), **reader.believed(ids), **reader.chunks(ids), **_blocks(reader, ids)}


def given_json(item: "Recalled", found: "Quoted | None", *, by: str) -> dict[str, object]:
    """One thing that the reply was given, `by` its own context pack or a tool; no words where they are gone."""
    words = {"text": found.text if found else None, "hidden": found is None}
    return {"id": item.id, "by": by} | _source(found) | words | item.model_dump(exclude={"id"})


def given_lines(item: "Recalled", found: "Quoted | None", asked: str, tied: "Shared") -> str:
    """One item of a reply's context pack: where it stands, its words, and why it was put before the model.

    Of long words the stretch that answers best what was asked, as the model was given it.
    """
    from agent.quoting import excerpt
    from graph.quoted import Believed
    from graph.values import Turn

    said = found if isinstance(found, Turn | Believed) else None
    head = "  " + fit(" · ".join([*_place(found), f"{LABELS[item.kind]} {item.id}"]), width() - 2)
    words = found.text if found is not None and found.text is not None else "(now hidden or deleted)"
    reasons = why_stored(item, said, tied)
    words = excerpt(one_line(words), asked, min(width() - 6, STRETCH))
    lines = [paint(head, "2"), f"    {fit(words, width() - 4)}", f"    {paint(fit(reasons, width() - 4), '36')}"]
    return "\n".join(lines if reasons else lines[:2])


def _blocks(reader: "LogReader", ids: list[str]) -> "dict[str, CoreBlock]":
    """The versions of core blocks among a context pack that may still be shown."""
    from agent.blocks import PREFIX, block_id, version_of
    from graph.beliefs import CoreBlock
    from graph.events import CoreWritten

    found = {}
    for seq in reader.block_versions(version_of(id) for id in ids if id.startswith(PREFIX)):
        event = reader.event(seq)
        if isinstance(event, CoreWritten) and event.text is not None:
            block = CoreBlock(event.block, event.world, event.text, event.by, seq)
            found[block_id(block)] = block
    return found


def _place(found: "Quoted | None") -> list[str]:
    """When and by whom it was said; of a piece of a document, the title and the headings, which is how it is cited."""
    from graph.beliefs import Chunk, CoreBlock

    match found:
        case None:
            return []
        case Chunk():
            return [one_line(found.place)]
        case CoreBlock():
            return [found.name]
        case _:
            return [local(found.at), who(found.role, found.speaker)]


def _source(found: "Quoted | None") -> dict[str, object]:
    """Where it is from, for programs."""
    from graph.beliefs import Chunk, CoreBlock

    match found:
        case None:
            return {}
        case Chunk():
            names: tuple[str, ...] = ("document", "title", "headings", "path", "at")
        case CoreBlock():
            return {"block": found.name, "written_by": found.by}
        case _:
            names = ("session", "at", "role", "speaker")
    return {name: getattr(found, name) for name in names if hasattr(found, name)}
