"""What changes the memory at a person's wish, and what keeps it in order behind that."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agent.background import Jobs
from agent.backups import Nightly
from agent.branches import Branches
from agent.chats import Chats, Projects
from agent.composition import Context
from agent.composition.conversation import ConversationParts
from agent.documents import Documents
from agent.entities import Entities
from agent.erasure import Erasure
from agent.events import SessionsChanged
from agent.history import History
from agent.marks import Marks
from agent.memories import Memories
from agent.opening import GraphOpening
from agent.planning import Planner
from agent.proposals import Proposals
from agent.recorder import Recorder
from agent.references.attachments import References
from agent.stories import Stories


@dataclass(frozen=True, slots=True)
class ChangeParts:
    """What changes are made with."""

    jobs: Jobs
    recorder: Recorder
    nightly: Nightly
    graph_opening: GraphOpening
    erasure: Erasure
    marks: Marks
    plans: Planner
    history: History
    chats: Chats
    branches: Branches
    memories: Memories
    entities: Entities
    proposals: Proposals
    projects: Projects
    documents: Documents
    stories: Stories
    references: References


def compose_changes(
    context: Context, talk: ConversationParts, *, graph_opened: Callable[[], Awaitable[None]]
) -> ChangeParts:
    """`graph_opened` is called when the graph is open."""
    memory, client, tell, background = context.memory, context.client, context.tell, context.background
    jobs = Jobs()
    graph_opening = GraphOpening(memory, background, tell=tell, opened=graph_opened)
    erasure = Erasure(
        memory,
        context.home,
        jobs,
        talk.prompts,
        talk.foreground,
        background,
        talk.quotes,
        talk.themes,
        tell=tell,
        graph_opened=graph_opening.over,
    )
    marks = Marks(memory, background)
    recorder = Recorder(memory, talk.conversation, talk.prompts, marks, tell=tell, erase=erasure.begin)
    plans = Planner(memory, recorder, is_private=talk.private.__contains__, graph_awaited=graph_opening.awaited)
    memories = Memories(memory, recorder, plans, talk.prompts)
    return ChangeParts(
        jobs=jobs,
        recorder=recorder,
        nightly=Nightly(context.home, tell),
        graph_opening=graph_opening,
        erasure=erasure,
        marks=marks,
        plans=plans,
        history=History(memory, recorder, plans, marks),
        chats=Chats(memory, talk.conversation, talk.private, recorder, plans, client=client, tell=tell),
        branches=Branches(memory, talk.private, recorder, plans, client=client, tell=tell),
        memories=memories,
        entities=Entities(memory, recorder),
        proposals=Proposals(memory, memories, recorder, tell),
        projects=Projects(memory, recorder),
        documents=Documents(memory, jobs, tell=tell, erase=erasure.begin),
        stories=Stories(
            memory, recorder, talk.prompts, talk.recaller, client=client, context=lambda: talk.conversation.context
        ),
        references=References(
            talk.private.memory_of,
            talk.private.references_of,
            changed=lambda session: tell(SessionsChanged(session)),
        ),
    )
