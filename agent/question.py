"""What is asked of a model apart from any chat: what it is to be, the question, and room for its answer."""

import asyncio

from models.protocols import Generator


def question(generator: Generator, system: str, asked: str) -> list[int]:
    """The prompt. A model on a server tokenizes there: from the event loop, `asking` waits in a thread."""
    return [
        *generator.frame("system", system, first=True),
        *generator.frame("user", asked),
        *generator.reply_open(),
    ]


async def asking(generator: Generator, system: str, asked: str) -> list[int]:
    """The same from the event loop. Raises ServerError."""
    return await asyncio.to_thread(question, generator, system, asked)
