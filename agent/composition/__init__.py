"""How an agent is put together: first the conversation, then what changes the memory, then what learns and reads."""

from collections.abc import Callable
from dataclasses import dataclass

from agent.background import BackgroundTasks
from agent.events import Notice, OfPrivate
from agent.home import Home
from agent.model_host import EmbedderLoader, Loader
from agent.settings import Settings
from graph.memory import Memory


@dataclass(frozen=True, slots=True)
class Context:
    """What all parts are made from; `settings` are those that are in force when they are asked for.

    `write_hosts` keeps and applies another value of the setting of that name.
    """

    memory: Memory
    home: Home
    client: str
    settings: Callable[[], Settings]
    tell: Callable[[Notice | OfPrivate], None]
    background: BackgroundTasks
    loader: Loader
    embedder_loader: EmbedderLoader
    write_hosts: Callable[[str], None]
