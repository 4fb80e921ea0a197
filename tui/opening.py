"""The beginning, after the first paint: bring in the agent, open its memory, show the last chat, follow what it tells.

What it imports takes long, so it comes behind the agent, which is brought in by a thread: typing goes on meanwhile.
"""

import asyncio
from typing import TYPE_CHECKING

from tui.boot import BootFailed
from tui.themes import full_name, unknown_theme

if TYPE_CHECKING:
    from tui.app import ClewApp
    from tui.backstage import Backstage
    from tui.chat import Chat


async def open_memory(app: "ClewApp") -> None:
    """Everything from the painted window to a chat one can send in; ends the app where that is impossible."""
    try:
        backstage = await app.connect()
    except BootFailed as error:
        await app.leave(error.code, str(error))
        return
    from tui.chat import Chat

    app.backstage = backstage
    app.theme = app.fixed_theme or app.known_theme(full_name(backstage.service.settings.theme))
    chat = Chat(
        backstage.service,
        app.transcript,
        changed=app.paint,
        ended=app.reply_ended,
        failed=app.message_unanswered,
        recalled=app.remembering.renew,
    )
    app.run_worker(_follow(app, chat, backstage))
    await asyncio.sleep(0)  # the listener is there before the first notice
    try:
        await backstage.service.start()
    except backstage.failures as error:
        await app.leave(backstage.exit_code(error), str(error))
        return
    app.chat = chat
    app.composer.sent = await backstage.service.chats.said()
    await _show_first(app, backstage)
    words = [_recovered(chat.state.recovered)] if chat.state.recovered else []
    if unknown := unknown_theme(backstage.service.settings.theme, app.available_themes):
        words.append(unknown)
    if words:
        app.say("\n".join(words))
    app.writing.send_held()


async def _show_first(app: "ClewApp", backstage: "Backstage") -> None:
    """The chat that was asked for, else the last one, else a new one."""
    options, service = app.options, backstage.service
    try:
        if options.new or options.session is None:
            session = None if options.new else await service.chats.last()
        else:
            session = (await service.chats.named(options.session)).id
        await app.open_session(session)
    except backstage.failures as error:
        await app.open_session(None)
        app.say(str(error), error=True)


def _recovered(count: int) -> str:
    return f"{count} {'reply was' if count == 1 else 'replies were'} cut off last time. The partial text was saved."


async def _follow(app: "ClewApp", chat: "Chat", backstage: "Backstage") -> None:
    """Every notice until the agent is closed."""
    from agent.events import EmbeddingProgress, GraphProgress, Learned, MemoriesChanged, SessionsChanged, Warned

    told: set[str] = set()  # what is wrong with the embedder is said once

    async for notice in backstage.service.notices():
        chat.notice(notice)
        match notice:
            case SessionsChanged(session=session):
                await app.session_changed(session)
            case Warned(message=message) | GraphProgress(state="failed", message=message):
                app.say(message, error=True)
            case EmbeddingProgress(state="failed", message=message) if message not in told:
                told.add(message)
                app.say(message, error=True)
        if isinstance(notice, EmbeddingProgress):
            app.remembering.refresh_soon()
        elif isinstance(notice, (GraphProgress, Learned, MemoriesChanged)):
            app.keeping.heard(notice)
        app.early = chat.state
        app.paint()
