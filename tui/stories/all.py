"""The stories there are, to open one; beside each, who plays in it and what was said last."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from textual.content import Content

from tui.chat_view import ChatView
from tui.keymaps import STORIES
from tui.text import MUTED, counted, cut, one_line, plain, when
from tui.themes import HERE, THERE, seat_style
from tui.widgets.chooser import Chooser, ChooserKey, Chosen

if TYPE_CHECKING:
    from agent.face import Face
    from graph.values import StoryWorld

KEYS = (ChooserKey(STORIES[0], "open"), ChooserKey(STORIES[1], "new", always=True))
LAST = 4  # messages shown of a story
LONGEST = 400  # characters of each


async def choose_story(view: ChatView, service: "Face", known: "Sequence[StoryWorld]") -> "Chosen[StoryWorld] | None":
    """The story to open, or that a new one is to be begun; None if left."""
    now = datetime.now().astimezone()

    async def preview(story: "StoryWorld") -> Content:
        return await _about(service, story)

    return await view.ui.ask(
        Chooser["StoryWorld"](
            "Stories",
            list(reversed(known)),
            paint=lambda story, width: _row(story, now),
            identity=lambda story: story.world,
            preview=preview,
            keys=KEYS,
            failures=view.failures,
        )
    )


def _row(story: "StoryWorld", now: datetime) -> list[Content]:
    about = f"begun {when(story.at, now)} · {counted(len(story.sessions), 'chat')}"
    return [plain(one_line(story.name)), plain(about, MUTED)]


async def _about(service: "Face", story: "StoryWorld") -> Content:
    """The cast of the newest chat of a story, and the end of it."""
    session = story.sessions[0]
    lines = [
        Content.assemble(
            plain(HERE if each.present else THERE, seat_style(each.seat)), plain(f" {one_line(each.name)}")
        )
        for each in await service.stories.cast(session)
    ]
    for turn in await service.chats.thread(session, limit=LAST):
        if turn.text is not None and not turn.hidden and turn.role != "note":
            said = plain(f"{one_line(turn.speaker)}: ", "bold") + plain(cut(turn.text, LONGEST), MUTED)
            lines += [Content(""), said]
    return Content("\n").join(lines)
