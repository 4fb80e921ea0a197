"""What each kind of event does to the graph. Live writing and the rebuild both use this, and nothing else.

Invariants: a projection is a pure function of the event and what the sink shows; it never reads a clock or a model. The
log's rules (log/admission.py) make sure that what it looks for is there.
"""

from graph.events import (
    MAIN_WORLD,
    ApprovalAsked,
    ApprovalGiven,
    ApprovalRefused,
    CastReset,
    CastSet,
    ChunkRead,
    CoreWritten,
    DocumentRead,
    DocumentRemoved,
    EntityAliased,
    EntityKinded,
    EntityMerged,
    EntityNamed,
    EntityNoted,
    EntitySplit,
    HeadMoved,
    MarkCleared,
    MarkRestored,
    MarkSet,
    ObservationDeleted,
    ObservationMade,
    ObservationPromoted,
    ObservationReinforced,
    ObservationRejected,
    ObservationRetired,
    ObservationReturned,
    ObservationSupported,
    PinCleared,
    PinSet,
    ProjectAssigned,
    ProjectMade,
    ReferenceAdded,
    ReferenceDropped,
    ReferenceWritten,
    ReflectionDone,
    ReflectionFailed,
    RelationNoted,
    SessionArchived,
    SessionConfigured,
    SessionDeleted,
    SessionForked,
    SessionRenamed,
    SessionStarted,
    SessionTitled,
    SessionUnarchived,
    StageSet,
    StoryBegun,
    TextErased,
    TurnDeleted,
    TurnHidden,
    TurnRated,
    TurnReleased,
    TurnSaid,
    TurnTaken,
    TurnUnhidden,
    TurnWithheld,
    TurnWitnessed,
    Undone,
)
from graph.events.codec import Stored
from graph.projection import documents, entities, observations, references, regrouping, stories, turns, wording
from graph.projection.liveness import change_turn, move_head
from graph.projection.sink import Sink, node


def project(stored: Stored, sink: Sink) -> None:
    """Apply one event to a graph."""
    match stored.event:
        case SessionStarted() as event:
            turns.begin(sink, stored, event)
        case SessionForked() as event:
            turns.begin(sink, stored, event)
            move_head(sink, event.session, event.at, seq=stored.seq)
        case SessionTitled() as event:
            wording.title(sink, stored, event)
        case SessionRenamed() as event:
            sink.set_node("Session", event.session, {"name": event.text, "name_seq": stored.seq})
        case SessionArchived() as event:
            sink.set_node("Session", event.session, {"archived": True})
        case SessionUnarchived() as event:
            sink.set_node("Session", event.session, {"archived": False})
        case SessionDeleted() as event:
            move_head(sink, event.session, None, seq=stored.seq)
            sink.set_node("Session", event.session, {"deleted": True})
        case SessionConfigured() as event:
            settings = {"model": event.model, "system_prompt": event.text, "prompt_seq": stored.seq}
            sink.set_node("Session", event.session, settings)
        case TurnSaid() as event:
            turns.say(sink, stored, event)
        case TurnTaken() as event:
            turns.take(sink, event, stored.seq)
        case TurnHidden() as event:
            change_turn(sink, event.turn, stored.seq, hidden=True)
        case TurnUnhidden() as event:
            change_turn(sink, event.turn, stored.seq, hidden=False)
        case TurnDeleted() as event:
            change_turn(sink, event.turn, stored.seq, deleted=True)
        case TurnWithheld() as event:
            change_turn(sink, event.turn, stored.seq, withheld=True)
        case TurnReleased() as event:
            change_turn(sink, event.turn, stored.seq, withheld=False)
        case TurnRated() as event:
            sink.set_node("Turn", event.turn, {"significance": event.significance, "touched": stored.seq})
        case TurnWitnessed() as event:
            stories.correct(sink, event, stored.seq)
        case StoryBegun() as event:
            stories.begin(sink, stored, event)
        case CastSet() as event:
            stories.seat(sink, stored, event)
        case CastReset() as event:
            stories.reset(sink, stored, event)
        case StageSet() as event:
            stories.put(sink, stored, event)
        case PinSet() as event:
            _pin(sink, event, stored.seq, pinned=True)
        case PinCleared() as event:
            _pin(sink, event, stored.seq, pinned=False)
        case HeadMoved() as event:
            move_head(sink, event.session, event.turn, seq=stored.seq)
        case TextErased() as event:
            for seq in event.events:
                _erase(sink, seq, touched=stored.seq)
        case _:
            _learn(stored, sink)


def _learn(stored: Stored, sink: Sink) -> None:
    """Apply an event of what was learned."""
    match stored.event:
        case ObservationMade() as event:
            observations.make(sink, stored, event)
        case RelationNoted() as event:
            observations.relate(sink, event, stored.seq)
        case ObservationSupported() as event:
            observations.support(sink, event, stored.seq)
        case ObservationReinforced() as event:
            observations.reinforce(sink, event, stored.seq)
        case ObservationRetired() as event:
            observations.retire(sink, event, stored.seq)
        case ObservationPromoted() as event:
            observations.settle(sink, event.observation, stored.seq, judged="active")
        case ObservationRejected() as event:
            observations.settle(sink, event.observation, stored.seq, judged="invalid")
        case ObservationReturned() as event:
            observations.give_back(sink, event.observation, event.status, stored.seq)
        case ObservationDeleted() as event:
            observations.delete(sink, event.series, stored.seq)
        case EntityNoted() as event:
            entities.note(sink, stored, event)
        case EntityNamed() as event if event.world == MAIN_WORLD:
            entities.name(sink, event, stored.seq)
        case EntityKinded() as event if event.world == MAIN_WORLD:
            entities.kind(sink, event)
        case EntityMerged() as event if event.world == MAIN_WORLD:
            regrouping.merge(sink, event.entity, event.into)
        case EntitySplit() as event:
            entities.bear(sink, stored, event)
            if event.world == MAIN_WORLD:
                regrouping.split(sink, event)
        case EntityAliased() as event:
            entities.bear(sink, stored, event)
            if event.world == MAIN_WORLD:
                regrouping.merge(sink, event.alias, event.entity)
        case EntityNamed() | EntityKinded() | EntityMerged():
            pass  # what holds in a what-if only is read from the log (identities.py)
        case ProjectMade() as event:
            turns.make_project(sink, stored, event)
        case ProjectAssigned() as event:
            turns.scope(sink, event.session, event.project)
        case CoreWritten() as event:
            wording.write_block(sink, stored, event)
        case ChunkRead() as event:
            documents.read_chunk(sink, stored, event)
        case DocumentRead() as event:
            documents.read_document(sink, stored, event)
        case DocumentRemoved() as event:
            documents.remove_document(sink, event.document, stored.seq)
        case ReferenceAdded() as event:
            references.add(sink, stored, event)
        case ReferenceDropped() as event:
            references.drop(sink, event)
        case ReferenceWritten() as event:
            references.write(sink, stored, event)
        case ReflectionDone() | ReflectionFailed() | ApprovalAsked() | ApprovalGiven() | ApprovalRefused():
            pass  # the log alone tells of these
        case MarkSet() | MarkCleared() | MarkRestored() | Undone():
            pass  # what they do is done by the events that follow them


def _pin(sink: Sink, event: PinSet | PinCleared, seq: int, *, pinned: bool) -> None:
    """Pin an item in its own world; pins in another are read from the log."""
    for table, id in (("Turn", event.turn), ("Observation", event.observation)):
        if id is not None and event.world in (None, node(sink, table, id)["world"]):
            sink.set_node(table, id, {"pinned": pinned, "touched": seq})


def _erase(sink: Sink, seq: int, *, touched: int) -> None:
    """Take an event's text out of the graph, if it is still what stands there."""
    match sink.event(seq):
        case TurnSaid() as event:
            sink.set_node("Turn", event.turn, {"text": None, "touched": touched})
        case ObservationMade() as event:
            sink.set_node("Observation", event.observation, {"text": None, "touched": touched})
        case RelationNoted() as event:
            observations.unrelate(sink, event.observation, touched)
        case ChunkRead() as event:
            sink.set_node("Chunk", event.chunk, {"text": None, "touched": touched})
        case SessionTitled() as event:
            wording.erase_wording(sink, "Session", event.session, seq)
        case CoreWritten() as event:
            wording.erase_wording(sink, "CoreBlock", wording.block_id(event.block, event.world, event.project), seq)
        case StageSet():
            stories.erase(sink, seq)
        case CastSet() as event:
            entities.lose_name(sink, event.member, seq)
        case ReferenceAdded() as event:
            references.erase_address(sink, event, seq)
        case ReferenceWritten() as event:
            references.erase_author(sink, event, seq)
        case StoryBegun() as event:
            sink.set_node("World", event.world, {"name": None})
        case EntityNoted() as event:
            entities.erase_noted(sink, event, seq)
        case EntityNamed() | EntitySplit() | EntityAliased() as event:
            entities.erase_named(sink, event, seq)
        case SessionRenamed() as event if node(sink, "Session", event.session)["name_seq"] == seq:
            sink.set_node("Session", event.session, {"name": None})
        case SessionConfigured() as event if node(sink, "Session", event.session)["prompt_seq"] == seq:
            sink.set_node("Session", event.session, {"system_prompt": None})
        case ProjectMade() as event if node(sink, "Project", event.project)["seq"] == seq:
            sink.set_node("Project", event.project, {"description": None})
        case DocumentRead() as event if node(sink, "Document", event.document)["seq"] == seq:
            sink.set_node("Document", event.document, {"title": None, "path": None})
