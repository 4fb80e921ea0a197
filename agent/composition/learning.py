"""The models, what is learned with them, and what is read of the memory by them and by people."""

from collections.abc import Callable
from dataclasses import dataclass

from agent.asking.queries import Queries
from agent.composition import Context
from agent.composition.changes import ChangeParts
from agent.composition.conversation import ConversationParts
from agent.graph import GraphReader
from agent.models import Models
from agent.past import PastViewer
from agent.reflection.learning import Learning
from agent.reflection.reflector import Reflector
from agent.reflection.trust import Trusts
from agent.reflections import Reflection
from agent.search import Search
from agent.settings import Settings
from agent.stage_keeper import StageKeeper
from agent.story.judging import VERSION
from agent.story.probing import probe
from agent.synthesis import Syntheses


@dataclass(frozen=True, slots=True)
class LearningParts:
    """What learns and reads."""

    models: Models
    reflector: Reflector
    reflection: Reflection
    keeper: StageKeeper
    syntheses: Syntheses
    search: Search
    past: PastViewer
    graph: GraphReader
    queries: Queries


def compose_learning(
    context: Context, talk: ConversationParts, changes: ChangeParts, *, apply: Callable[[Settings], None]
) -> LearningParts:
    """`apply` puts other settings in force."""
    memory, home, settings, tell = context.memory, context.home, context.settings, context.tell
    models = Models(
        home,
        talk.host,
        context.loader,
        talk.embedding,
        talk.trusts,
        talk.conversation.generation_lock,
        settings=settings,
        apply=apply,
        configure=lambda session, model: changes.chats.configure(session, model=model),
        tell=tell,
    )
    learning = Learning(memory, talk.trusts, talk.embedding.vectors, talk.foreground, fallback=models.fallback)
    reflector = Reflector(
        memory,
        learning,
        talk.prompts,
        talk.foreground,
        model=models.for_reflection,
        notify=tell,
        review=lambda: settings().review,
    )
    reflection = Reflection(
        memory,
        talk.host,
        learning,
        reflector,
        changes.marks,
        context.background,
        settings=settings,
        tell=tell,
        graph_opened=changes.graph_opening.over,
        judge=models.judge,
    )
    keeper = StageKeeper(
        memory,
        Trusts(home.keepers, probe, version=VERSION),
        talk.prompts,
        talk.foreground,
        context.background,
        model=models.for_reflection,
        tell=tell,
    )
    syntheses = Syntheses(
        memory, changes.memories, changes.recorder, model=lambda: talk.host.current, doubts=talk.trusts.doubts
    )
    search = Search(memory, talk.recaller, talk.themes, chat_model=models.for_themes, doubts=models.doubts)
    graph = GraphReader(memory)
    queries = Queries(
        memory, home, graph, talk.host, talk.foreground, embedder=talk.embedding, settings=settings, tell=tell
    )
    return LearningParts(
        models,
        reflector,
        reflection,
        keeper,
        syntheses,
        search,
        PastViewer(memory, talk.embedding.query),
        graph,
        queries,
    )
