"""The steps of a reflection beside its observations: names, significance, reinforcement, the title. None appends."""

from collections.abc import Iterable, Sequence

from agent.title import propose_title, verbatim
from graph.beliefs import Near, Observation
from graph.events import (
    EntityNoted,
    ObservationReinforced,
    Role,
    SessionTitled,
    TurnRated,
)
from graph.ids import new_id
from graph.values import Session, Turn
from graph.visibility import PERSONAL
from models.protocols import Generator

from .echo import echoes
from .material import Material, Store
from .naming import named
from .rating import rate

STEP = 0.02  # what an echo adds to the confidence
MOST_NAMES = 12  # of one turn
LONGEST_ECHOED = 4000  # characters of a message that are compared


def note_names(store: Store, material: Material) -> tuple[list[EntityNoted], dict[str, str]]:
    """The names in people's words, and their ids: an entity or a speaker that is known keeps its own."""
    people = [speaker for speaker in material.speakers if speaker[:1].isupper()]
    found = [(turn, each) for turn in material.said for each in named(turn.text or "", people)[:MOST_NAMES]]
    ids = store.entities({each.name for _, each in found})
    folded = {name.casefold(): id for name, id in ids.items()}
    events: dict[tuple[str, str], EntityNoted] = {}
    for turn, each in found:
        id = folded.setdefault(each.name.casefold(), new_id())
        noted = EntityNoted(entity=id, category=each.category, by_turn=turn.id, text=each.name)
        events.setdefault((id, turn.id), noted)
    return list(events.values()), {each.name: folded[each.name.casefold()] for _, each in found}


def rate_turns(store: Store, material: Material) -> list[TurnRated]:
    """How much people's words matter, where nobody has judged that yet."""
    said = [turn for turn in material.said if turn.role == Role.USER]
    judged = store.judged(turn.id for turn in said)
    return [
        TurnRated(turn=turn.id, significance=rate(turn.text or ""), by="rule") for turn in said if turn.id not in judged
    ]


def echoed(
    store: Store, turns: Iterable[Turn], *, world: str, project: str | None, step: float = STEP
) -> list[ObservationReinforced]:
    """Active observations that turns echo, each by each turn once. Raises ValueError for a negative step."""
    if step < 0:
        raise ValueError(f"a reinforcement makes nothing less sure, and {step} would")
    events: list[ObservationReinforced] = []
    now: dict[str, float] = {}
    for turn in turns:
        text = (turn.text or "")[:LONGEST_ECHOED]
        near = store.near(text, vector=None, world=world, project=project, status=("active",)) if text.strip() else []
        for known in _echoes(near, turn, text, project):
            if _reinforced_by(store, known, turn, world):
                continue
            before = now.get(known.id, known.confidence)
            after = now[known.id] = min(1.0, before + step)
            events.append(
                ObservationReinforced(observation=known.id, by_turn=turn.id, step=step, before=before, after=after)
            )
    return events


def _echoes(near: Sequence[Near], turn: Turn, text: str, project: str | None) -> list[Observation]:
    """What a turn echoes of others' making: it is no echo of what was made from its own words."""
    found = []
    for known in (each.observation for each in near):
        here = known.project == project or (known.project is None and known.kind in PERSONAL)
        own = turn.id in known.sources or turn.id in known.supports
        if known.status == "active" and here and not own and known.text and echoes(text, known.text):
            found.append(known)
    return found


def _reinforced_by(store: Store, known: Observation, turn: Turn, world: str) -> bool:
    if not known.reference_count:
        return False
    proofs = store.memory(known.id, world=world).proofs.get(known.id, ())
    return any(proof.id == turn.id and proof.relation == "REINFORCED_BY" for proof in proofs)


async def make_title(session: Session, material: Material, generator: Generator) -> SessionTitled | None:
    """The model's title for a chat that has only its first words for one, from its first exchange. Raises RunError."""
    if not material.said or not material.replies or not untitled(session, material):
        return None
    first, reply = material.said[0], material.replies[0]
    better = await propose_title(generator, first.text or "", reply.text or "")
    return SessionTitled(session=session.id, sources=(first.id, reply.id), text=better) if better is not None else None


def untitled(session: Session, material: Material) -> bool:
    """Whether an exchange is a chat's first, and the chat is called by its first words."""
    first = material.said[0]
    begins = first.parent is None and first.session == session.id and material.instead_of is None
    named_already = session.named_by_user or session.deleted or session.name != verbatim(first.text or "")
    return begins and bool(material.replies[0].text) and not named_already
