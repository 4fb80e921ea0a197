"""What a message is answered with: prompts, the model, recall, the loop, and private chats beside it."""

from collections.abc import Callable
from dataclasses import dataclass

from agent.background import Foreground
from agent.composition import Context
from agent.embedding import Embedding
from agent.loop import Conversation, SpeaksUp
from agent.model_host import ModelHost
from agent.private import PrivateChats, Shared
from agent.prompts import Prompts
from agent.recall import Recaller
from agent.reflection.trust import Trusts
from agent.settings import Settings
from agent.themes import ThemeMaker
from agent.tools import GUIDE, Toolbox, in_use
from models.protocols import Generator
from models.states import KVStates


@dataclass(frozen=True, slots=True)
class ConversationParts:
    """What the conversation is made of."""

    states: KVStates
    trusts: Trusts
    prompts: Prompts
    host: ModelHost
    embedding: Embedding
    recaller: Recaller
    themes: ThemeMaker
    foreground: Foreground
    conversation: Conversation
    private: PrivateChats


def compose_conversation(
    context: Context, *, answered: Callable[[str, str | None, Generator], None], speaks_up: SpeaksUp
) -> ConversationParts:
    """`answered` learns from an exchange, and `speaks_up` says who speaks unasked, as `Conversation` has them."""
    memory, settings, tell = context.memory, context.settings(), context.tell
    states = KVStates(context.home.states, limit=kv_limit(settings))
    trusts = Trusts(context.home.trusted)
    prompts = Prompts(
        memory,
        tell,
        default_system=settings.system_prompt,
        states=states,
        guide=lambda generator: GUIDE if in_use(context.settings().tools, generator.info) else "",
        doubts=trusts.doubts,
    )
    host = ModelHost(context.loader, tell, leaving=prompts.give_up)
    embedding = Embedding(memory, context.embedder_loader, tell, name=settings.embedder)
    recaller = Recaller(memory, embedding.query)
    themes = ThemeMaker(memory, lambda: embedding.key)
    foreground = Foreground()
    conversation = Conversation(
        memory,
        host,
        prompts,
        recaller,
        Toolbox(memory, recaller, themes),
        settings,
        client=context.client,
        notify=tell,
        foreground=foreground,
        answered=answered,
        speaks_up=speaks_up,
    )

    def shared() -> Shared:
        return Shared(host, conversation.generation_lock, foreground, context.settings(), prompts, tell)

    private = PrivateChats(memory, conversation, shared)
    return ConversationParts(
        states, trusts, prompts, host, embedding, recaller, themes, foreground, conversation, private
    )


def kv_limit(settings: Settings) -> int | None:
    """Bytes of disk for KV states; None: what one full context takes."""
    return None if settings.kv_mb < 0 else settings.kv_mb << 20
