"""What a message brings along: the files and addresses that it names; about hosts that are new the user is asked first.

What is named with an @ is asked for with that. Of what a message only mentions, the first of each host is offered, and
a host of this machine or a private network always is.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tui.chat_view import ChatView
from tui.text import cut, one_line

if TYPE_CHECKING:
    from tui.chat import Chat

HELD_S = 600.0  # the question stays while the message does
MOST_OFFERED = 5  # addresses in a message; one with more is a text that somebody pasted
OWN = "own:"
OFFER = "{} for this chat?{} Tab: yes, {} may be read from now on. Enter: send without."
NEAR = " It is on this computer or in your network."
Deliver = Callable[[Sequence[str]], None]


class Referring:
    """Asks, where that has to be, and lets a message go with what it may bring."""

    def __init__(self, view: ChatView) -> None:
        self._view = view
        self._asked = ""  # the text of which it was asked
        self._hosts: list[str] = []
        self._declined: set[str] = set()

    def asked_of(self, text: str) -> bool:
        """Whether it was asked whether the hosts of this text may be read."""
        return bool(text) and text == self._asked

    def settle(self) -> bool:
        """Another text is written, or this one is gone; whether something was asked."""
        asked, self._asked = bool(self._asked), ""
        return asked

    def mentioned(self, text: str) -> list[str]:
        """The addresses that a message mentions, where it may bring them."""
        if "://" not in text or self._view.scene is not None:
            return []
        from agent.references.address import addresses_in

        found = [each.text for each in addresses_in(text)]
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
            self._view.ui.say(self._question(text, named), for_s=HELD_S)
        else:
            deliver(going)

    async def accept(self, chat: "Chat") -> None:
        """The user said yes to what was asked."""
        for host in self._hosts:
            await chat.service.references.allow(host)
        self._asked = ""

    async def _allowed(self, chat: "Chat", text: str, named: Sequence[str]) -> list[str] | None:
        """What a message may bring; None where the user has to be asked."""
        references = chat.service.references
        explicit = await references.asks(named)
        for host in explicit:
            if not host.startswith(OWN):
                await references.allow(host)
        mentioned = [each for each in self.mentioned(text) if each not in named]
        lacking = [host for host in explicit if host.startswith(OWN)] + list(await references.asks(mentioned))
        if text == self._asked:
            self._declined.update(lacking)
        new = [host for host in dict.fromkeys(lacking) if host not in self._declined]
        if new:
            self._asked, self._hosts = text, new
            return None
        self._asked = ""
        return [each for each in (*named, *mentioned) if not await references.asks([each])]

    def _question(self, text: str, named: Sequence[str]) -> str:
        hosts = [one_line(host.removeprefix(OWN)) for host in self._hosts]
        own = any(host.startswith(OWN) for host in self._hosts)
        addresses = [*named, *self.mentioned(text)]
        what = f"Read {cut(one_line(addresses[0]), 60)}" if len(addresses) == 1 else f"Read {len(addresses)} addresses"
        return OFFER.format(what, NEAR if own else "", " and ".join(hosts[:3]))
