"""What a message brings along: files and addresses that it names. About what others may have named the user is asked.

What is typed with an @ is asked for with that. What a message only mentions is offered, the first of each host, and a
host of this machine or a private network always; so is what stands in a text that was pasted, or came from a draft or
an editor. Nothing is allowed before the whole question is answered.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tui.attachments import files_brought
from tui.chat_view import ChatView
from tui.text import cut, one_line

if TYPE_CHECKING:
    from tui.chat import Chat

HELD_S = 600.0  # the question stays while the message does
MOST_OFFERED = 5  # files or addresses in a message; one with more is a text that somebody pasted
OWN = "own:"
OFFER = "Read {} for this chat?{} Tab: yes{}. Enter: send without."
FROM_NOW = ", {} may be read from now on"
NEAR = " It is on this computer or in your network."
SHOWN, LONGEST = 3, 60  # names in a question, and characters of one
Deliver = Callable[[Sequence[str]], None]


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked of a text: whether these hosts may be read, and these files and addresses go along with it."""

    text: str = ""
    hosts: tuple[str, ...] = ()
    things: tuple[str, ...] = ()
    near: bool = False  # one of them is on this machine or in a private network


class Referring:
    """Asks, where that has to be, and lets a message go with what it may bring."""

    def __init__(self, view: ChatView) -> None:
        self._view = view
        self._asked = Asked()
        self._granted = Asked()
        self._declined: set[str] = set()

    def asked_of(self, text: str) -> bool:
        """Whether it was asked what may be read for this text."""
        return bool(text) and text == self._asked.text

    def settle(self) -> bool:
        """Another text is written, or this one is gone; whether something was asked."""
        asked, self._asked = self._asked, Asked()
        return bool(asked.text)

    def mentioned(self, text: str) -> list[str]:
        """The addresses that a message mentions, where it may bring them."""
        if "://" not in text or self._view.scene is not None:
            return []
        from agent.references.address import addresses_in

        found = [each.text for each in addresses_in(text)]
        return found if len(found) <= MOST_OFFERED else []

    def brought(self, text: str) -> list[str]:
        """The files that a message names in what was pasted into it, or came otherwise than by keys."""
        if "@" not in text or self._view.scene is not None:
            return []
        found = files_brought(text, Path.cwd(), self._view.composer.brought_with(text))
        return found if len(found) <= MOST_OFFERED else []

    async def bring(
        self, chat: "Chat", text: str, named: Sequence[str], deliver: Deliver, back: Callable[[], None]
    ) -> None:
        """Let a message go with what it names and mentions, or ask first; then, and where it fails, its text is `back`.

        Raises what the service does.
        """
        try:
            going = await self._allowed(chat, text, named)
        except self._view.failures:
            back()
            raise
        if going is None:
            back()
            self._view.ui.say(self._question(), for_s=HELD_S)
        else:
            deliver(going)

    async def accept(self, chat: "Chat") -> None:
        """The user said yes to what was asked."""
        for host in self._asked.hosts:
            await chat.service.references.allow(host, chat.session)
        self._granted, self._asked = self._asked, Asked()

    async def _allowed(self, chat: "Chat", text: str, named: Sequence[str]) -> list[str] | None:
        """What a message may bring; None where the user has to be asked."""
        from agent.references.hosts import own_of

        references, session = chat.service.references, chat.session
        there = {each.reference.address for each in await references.all(session)} if session else set()
        files = [each for each in self.brought(text) if each not in named and each not in there]
        lacking = {each: list[str](await references.asks([each], session)) for each in (*named, *self.mentioned(text))}
        ask = {each: list[str]() for each in files}
        for address, hosts in lacking.items():
            new = [host for host in hosts if host.startswith(OWN) or address not in named]
            near = own_of(address) is not None and address not in (*named, *there)
            if near or any(host not in self._declined for host in new):
                ask[address] = new
        if text == self._asked.text:  # Enter once more
            self._declined.update(host for host in self._asked.hosts if not host.startswith(OWN))
        elif ask and text != self._granted.text:
            asked = dict.fromkeys(host for wanted in ask.values() for host in wanted)
            self._asked = Asked(text, tuple(asked), tuple(ask), any(map(own_of, ask)))
            return None
        yes = self._granted.things if text == self._granted.text else ()
        self._asked = self._granted = Asked()
        for each in named:
            for host in lacking[each]:
                if not host.startswith(OWN):
                    await references.allow(host, session)
        wanted_now = [each for each in (*named, *files, *lacking) if each in yes or each not in ask]
        return [
            each for each in dict.fromkeys(wanted_now) if each in files or not await references.asks([each], session)
        ]

    def _question(self) -> str:
        asked = self._asked
        names = [_short(one_line(each)) for each in asked.things[:SHOWN]]
        more = [f"{len(asked.things) - SHOWN} more"] if len(asked.things) > SHOWN else []
        hosts = [one_line(host.removeprefix(OWN)) for host in asked.hosts]
        near = NEAR if asked.near else ""
        return OFFER.format(_and([*names, *more]), near, FROM_NOW.format(_and(hosts[:SHOWN])) if hosts else "")


def _short(thing: str) -> str:
    """An address as it begins, and a file's name as it ends, which say most of them."""
    return cut(thing, LONGEST) if "://" in thing else thing if len(thing) <= LONGEST else f"…{thing[1 - LONGEST :]}"


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
