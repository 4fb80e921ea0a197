"""What each action of the table does, a function each, given the parts and an argument; and the palette of them.

The functions lie with those of their kind: chat, chats, branches, history, stories, memory, model, pages.
"""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from tui import (
    about,
    branch_handlers,
    chat_handlers,
    help,
    history_handlers,
    memory_handlers,
    model_handlers,
    page_handlers,
    reference_handlers,
    scene_handlers,
    session_handlers,
    settings,
    story_handlers,
)
from tui.actions import ACTIONS, Action, ActionGroup, key_name
from tui.chat_view import ChatView, Ui
from tui.parts import Parts
from tui.text import MUTED, plain

Handler = Callable[[Parts, str], Awaitable[None]]
ViewHandler = Callable[[ChatView, str], Awaitable[None]]


def _on_view(handler: ViewHandler) -> Handler:
    """One that needs the view only."""
    return lambda parts, argument: handler(parts.view, argument)


HANDLERS: dict[str, Handler] = {
    "stop": chat_handlers.stop,
    "retry": chat_handlers.retry,
    "regenerate": _on_view(branch_handlers.regenerate),
    "edit": chat_handlers.edit,
    "rewind": _on_view(branch_handlers.rewind),
    "tree": _on_view(branch_handlers.tree),
    "fork": _on_view(branch_handlers.fork),
    "undo": _on_view(history_handlers.undo),
    "marks": _on_view(history_handlers.marks),
    "copy": chat_handlers.copy,
    "editor": chat_handlers.write_in_editor,
    "references": _on_view(reference_handlers.references),
    "system": _on_view(model_handlers.system),
    "sampling": _on_view(model_handlers.sampling),
    "new": chat_handlers.new,
    "sessions": page_handlers.sessions,
    "story": story_handlers.story,
    "stage": scene_handlers.stage,
    "scene": scene_handlers.scene,
    "skip": scene_handlers.skip,
    "meanwhile": scene_handlers.meanwhile,
    "plot": scene_handlers.plot,
    "lore": scene_handlers.lore,
    "knows": scene_handlers.knows,
    "cast": story_handlers.cast,
    "present": story_handlers.present,
    "away": story_handlers.away,
    "whisper": story_handlers.whisper,
    "speak": story_handlers.speak,
    "seen": story_handlers.seen,
    "card": story_handlers.card,
    "search": page_handlers.search,
    "back": chat_handlers.back,
    "memory": page_handlers.memory,
    "recall": page_handlers.recall,
    "about": about.about,
    "graph": page_handlers.graph,
    "ego": page_handlers.ego,
    "stats": page_handlers.stats,
    "memories": memory_handlers.memories,
    "review": memory_handlers.review,
    "blocks": memory_handlers.blocks,
    "documents": memory_handlers.documents,
    "unlearn": memory_handlers.unlearn,
    "remember": memory_handlers.remember,
    "relate": memory_handlers.relate,
    "entity": memory_handlers.entity,
    "forget": memory_handlers.forget,
    "synthesize": memory_handlers.synthesize,
    "correct": memory_handlers.correct,
    "project": memory_handlers.project,
    "ingest": memory_handlers.ingest,
    "private": memory_handlers.private,
    "rename": session_handlers.rename,
    "archive": session_handlers.archive,
    "delete": session_handlers.delete,
    "model": _on_view(model_handlers.model),
    "better": _on_view(model_handlers.better),
    "theme": settings.theme,
    "top": chat_handlers.top,
    "bottom": chat_handlers.bottom,
    "screenshot": page_handlers.screenshot,
    "settings": page_handlers.settings,
    "status": help.status,
    "help": help.show_help,
    "palette": page_handlers.palette,
    "suspend": page_handlers.suspend,
    "quit": page_handlers.leave,
}
BY_KEY: dict[str, Handler] = {"stop": chat_handlers.escape}  # where a key does more than the command of its action


def handler_of(name: str, *, by_key: bool) -> Handler:
    """What the action of that name does; `by_key`: where one of its keys was pressed."""
    return BY_KEY.get(name, HANDLERS[name]) if by_key else HANDLERS[name]


ANYWHERE = ("theme", "screenshot", "suspend", "quit")  # what needs no chat on the screen
HERE_ONLY = ("palette", "help", "top", "bottom", "back")  # of no use where another screen is shown
NOTHING = "No matching command."


@dataclass(frozen=True, slots=True)
class PaletteEntry:
    """Something that can be done: how it is called, with which command or keys too, and what does it."""

    title: str
    aside: str
    run: Callable[[], Awaitable[Any] | None]


class ActionProvider(Provider):
    """Finds actions by their title and slash command."""

    async def discover(self) -> Hits:
        for offer in self._offers():
            yield DiscoveryHit(_row(offer), offer.run, offer.title)

    async def search(self, query: str) -> Hits:
        matcher, found = self.matcher(query), False
        for offer in self._offers():
            text = f"{offer.title} {offer.aside.split(' ')[0]}"
            score = matcher.match(text)
            if score > 0:
                found = True
                yield Hit(score, matcher.highlight(text), offer.run, offer.title)
        if not found:
            yield Hit(1.0, plain(NOTHING, MUTED), _nothing, NOTHING)

    def _offers(self) -> Iterator[PaletteEntry]:
        app = self.app
        assert isinstance(app, Ui)
        base, above = app.screen_stack[0], [each for each in app.screen_stack[1:] if not _is_palette(each)]
        if self.screen is base:
            for action in ACTIONS:
                if action.name != "palette":
                    yield PaletteEntry(action.title, _aside(action), partial(app.perform, action.name))
            return
        yield from self._own()
        for action in ACTIONS:
            if action.name in ANYWHERE:
                yield PaletteEntry(action.title, f"/{action.slash}", partial(app.perform, action.name))
            elif len(above) == 1 and action.group is not ActionGroup.CHAT and action.name not in HERE_ONLY:
                yield PaletteEntry(action.title, f"/{action.slash}, in the chat", partial(self._away, app, action.name))

    def _own(self) -> Iterator[PaletteEntry]:
        """What the keys of the screen do, each once."""
        seen: set[str] = set()
        for key, (node, binding, enabled, *_) in self.screen.active_bindings.items():
            if enabled and binding.tooltip and binding.tooltip not in seen:
                seen.add(binding.tooltip)
                title = binding.tooltip[0].upper() + binding.tooltip[1:]
                yield PaletteEntry(title, key_name(key), partial(self.app.run_action, binding.action, node))

    async def _away(self, ui: Ui, name: str) -> None:
        """Close the screen, and do it where it is seen."""
        self.screen.dismiss(None)
        ui.perform(name)


def _is_palette(screen: object) -> bool:
    from textual.command import CommandPalette

    return isinstance(screen, CommandPalette)


def _nothing() -> None:
    """What is done by choosing the sentence that there is nothing."""


def _aside(action: Action) -> str:
    keys = f"  {key_name(action.keys[0])}" if action.keys else ""
    return f"/{action.slash}{keys}"


def _row(offer: PaletteEntry) -> Content:
    return Content.assemble(plain(offer.title), plain(f"  {offer.aside}", MUTED))
