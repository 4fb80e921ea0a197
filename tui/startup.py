"""The beginning, after the first paint: bring in the agent, open its memory, show the last chat, follow what it tells.

What it imports takes long, so it comes behind the agent, which is brought in by a thread: typing goes on meanwhile.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from tui.backstage import BootFailed
from tui.parts import Parts
from tui.themes import full_name, known_theme, unknown_theme

if TYPE_CHECKING:
    from tui.backstage import Backstage
    from tui.chat import Chat

Connect = Callable[[], Awaitable["Backstage"]]
Leave = Callable[[int, str | None], Awaitable[None]]  # with this exit code, and a word on stderr


async def open_memory(parts: Parts, connect: Connect, leave: Leave) -> None:
    """Everything from the painted window to a chat one can send in; ends the app where that is impossible."""
    view = parts.view
    try:
        backstage = await connect()
    except BootFailed as error:
        await leave(error.code, str(error))
        return
    from tui.chat import Chat

    view.backstage = backstage
    themes = view.app.available_themes
    view.app.theme = view.fixed_theme or known_theme(full_name(backstage.service.settings.theme), themes)
    chat = Chat(
        backstage.service,
        view.transcript,
        changed=view.paint,
        ended=parts.reply_ended,
        failed=parts.message_unanswered,
        recalled=parts.panel.renew,
    )
    view.ui.begin(_follow(parts, chat, backstage))
    await asyncio.sleep(0)  # the listener is there before the first notice
    try:
        await backstage.service.start()
    except backstage.failures as error:
        await leave(backstage.exit_code(error), str(error))
        return
    view.ui.unsay()
    view.chat = chat
    view.composer.sent = await backstage.service.chats.said()
    await _show_first(parts, backstage)
    words = [_recovered(chat.state.recovered)] if chat.state.recovered else []
    if unknown := unknown_theme(backstage.service.settings.theme, themes):
        words.append(unknown)
    if words:
        view.ui.say("\n".join(words))
    parts.composer.send_held()


async def _show_first(parts: Parts, backstage: "Backstage") -> None:
    """The chat that was asked for, else the last one, else a new one."""
    options, service = parts.view.options, backstage.service
    try:
        if options.new or options.session is None:
            session = None if options.new else await service.chats.last()
        else:
            session = (await service.chats.named(options.session)).id
        await parts.ui.open_session(session)
    except backstage.failures as error:
        await parts.ui.open_session(None)
        parts.ui.say(str(error), error=True)


def _recovered(count: int) -> str:
    return f"{count} {'reply was' if count == 1 else 'replies were'} cut off last time. The partial text was saved."


async def _follow(parts: Parts, chat: "Chat", backstage: "Backstage") -> None:
    """Every notice until the agent is closed."""
    from agent.events import (
        EmbeddingProgress,
        GraphProgress,
        Learned,
        MemoriesChanged,
        MemoryPreparing,
        Proposed,
        SessionsChanged,
        Warned,
    )
    from tui.window import opened

    told: set[str] = set()  # what is wrong with the embedder is said once

    async for notice in backstage.service.notices():
        chat.notice(notice)
        match notice:
            case MemoryPreparing(done=done, total=total, turns=turns) if parts.view.chat is None:
                parts.ui.say(f"Preparing the memory for this version of clew: {done:,} of {total:,} events.")
                if turns:
                    await parts.view.transcript.show(opened(turns, asked=0))
            case SessionsChanged(session=session):
                await parts.session_changed(session)
            case MemoriesChanged() if parts.view.scene is not None:
                await parts.view.show_about()  # who plays may be what was changed
            case Warned(message=message) | GraphProgress(state="failed", message=message):
                parts.ui.say(message, error=True)
            case EmbeddingProgress(state="failed", message=message) if message not in told:
                told.add(message)
                parts.ui.say(message, error=True)
        if isinstance(notice, EmbeddingProgress):
            parts.view.refresh_panel()
        elif isinstance(notice, (GraphProgress, Learned, MemoriesChanged, Proposed)):
            parts.memory.heard(notice)
        parts.view.early = chat.state
        parts.view.paint()
