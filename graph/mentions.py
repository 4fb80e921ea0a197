"""Who and what turns name: entities, their names, and projects.

An entity is called what the latest event with a text says that noted it. A speaker is called what it speaks as.
"""

from graph.codec import Stored
from graph.events import EntityNoted, ProjectMade
from graph.sink import Sink, node

NAMELESS = 0  # in `name_seq`, where all that named it was erased


def speaker(sink: Sink, name: str) -> None:
    """Whoever speaks is an entity, of a name that nothing erases."""
    known = sink.node("Entity", name)
    if known is None:
        kind = name if name in ("you", "assistant") else "person"
        sink.put_node("Entity", name, {"kind": kind, "name": name})
    elif known["name_seq"] is not None:
        sink.set_node("Entity", name, {"name": name, "name_seq": None})


def note(sink: Sink, stored: Stored, event: EntityNoted) -> None:
    """A turn names an entity; that it does so again adds nothing."""
    if sink.node("Entity", event.entity) is None:
        sink.put_node("Entity", event.entity, {"kind": event.category, "name_seq": NAMELESS})
    elif sink.has_rel("MENTIONS", event.by_turn, event.entity):
        return
    sink.put_rel("MENTIONS", event.by_turn, event.entity, {"seq": stored.seq})
    if event.text is not None and node(sink, "Entity", event.entity)["name_seq"] is not None:
        sink.set_node("Entity", event.entity, {"name": event.text, "name_seq": stored.seq})


def erase_name(sink: Sink, event: EntityNoted, seq: int) -> None:
    """Take a name away if it is the one shown; the latest other event that noted it, with a text, names it then."""
    if node(sink, "Entity", event.entity)["name_seq"] != seq:
        return
    name, by = None, NAMELESS
    for other in sorted(sink.values("MENTIONS", "seq", event.entity, to="Entity"), reverse=True):
        noted = sink.event(other)
        if isinstance(noted, EntityNoted) and noted.text is not None:
            name, by = noted.text, other
            break
    sink.set_node("Entity", event.entity, {"name": name, "name_seq": by})


def make_project(sink: Sink, stored: Stored, event: ProjectMade) -> None:
    """A project is new, or is something else now."""
    put_project(sink, event.project)
    values = {"description": event.text, "status": event.status, "seq": stored.seq}
    sink.set_node("Project", event.project, values)


def put_project(sink: Sink, project: str) -> None:
    """A project that something belongs to is there, also where nobody ever said what it is."""
    if sink.node("Project", project) is None:
        sink.put_node("Project", project, {"status": "active"})


def scope(sink: Sink, session: str, project: str | None) -> None:
    """A session belongs to a project from here on, or to none."""
    before = node(sink, "Session", session)["project"]
    if before == project:
        return
    if before is not None:
        sink.drop_rel("SCOPED_TO", session, before)
    if project is not None:
        put_project(sink, project)
        sink.put_rel("SCOPED_TO", session, project)
    sink.set_node("Session", session, {"project": project})
