"""What a message is answered with: prompts, the model, recall, the loop, and private chats beside it."""

from collections.abc import Callable
from dataclasses import dataclass

from agent.background import Foreground
from agent.composition import Context
from agent.embedding import Embedding
from agent.events import Notice, OfPrivate
from agent.loop import Conversation, SpeaksUp
from agent.model_host import ModelHost
from agent.private import PrivateChats, Shared
from agent.prompts import Prompts
from agent.recall import Recaller
from agent.references.client import WebClient
from agent.references.hosts import Hosts
from agent.references.quotes import ReferenceQuotes
from agent.references.reader import ReferenceReader
from agent.reflection.trust import Trusts
from agent.settings import Settings
from agent.themes import ThemeMaker
from agent.tools import GUIDE, Toolbox
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
    quotes: ReferenceQuotes
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
    embedding = Embedding(memory, context.embedder_loader, tell, name=settings.embedder)

    def service() -> str:
        return context.settings().threads_from

    hosts = Hosts(lambda: context.settings().hosts, context.write_hosts, threads_from=service)

    def references(hosts: Hosts) -> ReferenceQuotes:
        reader = ReferenceReader(WebClient(hosts.allows), service=service)
        return ReferenceQuotes(reader, hosts, vectors=embedding.vectors, query=embedding.query)

    quotes = references(hosts)
    prompts = Prompts(
        memory,
        tell,
        default_system=settings.system_prompt,
        states=states,
        guide=lambda generator: GUIDE if context.settings().tools == "on" else "",
        doubts=trusts.doubts,
        references=quotes,
    )
    host = ModelHost(context.loader, tell, leaving=prompts.give_up)
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
        references=quotes,
    )

    def shared(owner: str) -> Shared:
        apart = references(hosts.apart())

        def told(notice: Notice) -> None:
            context.tell(OfPrivate(owner, notice))

        now, noted = context.settings(), context.home.private
        return Shared(host, conversation.generation_lock, foreground, now, prompts, told, apart, noted)

    private = PrivateChats(memory, conversation, quotes, shared, context.home.private)
    return ConversationParts(
        states,
        trusts,
        prompts,
        host,
        embedding,
        quotes,
        recaller,
        themes,
        foreground,
        conversation,
        private,
    )


def kv_limit(settings: Settings) -> int | None:
    """Bytes of disk for KV states; None: what one full context takes."""
    return None if settings.kv_mb < 0 else settings.kv_mb << 20
