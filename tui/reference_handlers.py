"""What a chat refers to: listed with what it says, attached, dropped, and whose hosts may be read."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from tui.chat_view import NOT_YET, ChatView
from tui.keymaps import REFERENCES
from tui.text import MUTED, cut, one_line, plain
from tui.widgets.chooser import Chooser, ChooserKey
from tui.widgets.dialogs import AskLine, Confirm
from tui.widgets.pages import PageText

if TYPE_CHECKING:
    from agent.face import Face
    from agent.references.attachments import Attached

TITLE = "What this chat refers to"
KEYS = (
    ChooserKey(REFERENCES[0], "read"),
    ChooserKey(REFERENCES[1], "add", always=True),
    ChooserKey(REFERENCES[2], "drop"),
)
EMPTY = (
    "Nothing yet. Press n to attach a web page, a thread (at://… or bsky.app) or a file, or write @FILE or @https://… "
    "in a message. It is read where it lies, for each reply that needs it; only its address is kept."
)
VERBS = ("add", "drop", "list", "allow")
FIRST = "Say something first: a chat begins with its first message. @{} in it attaches this."
WHAT = "Address or file"
OWN = "own:"
MAY = "From now on clew may ask it for what you attach. The setting hosts (F10) lists these."
NEAR = "It is this computer, or in a private network: only go on if you know what answers there."


async def references(view: ChatView, argument: str) -> None:
    """Without an argument: what there is; with an address or a file it is attached."""
    if view.chat is None:
        view.ui.say(NOT_YET)
        return
    verb, _, rest = argument.strip().partition(" ")
    verb, rest = (verb.casefold(), rest.strip()) if verb.casefold() in VERBS else ("add", argument.strip())
    if verb == "allow":
        await _allow(view, view.chat.service, rest)
    elif verb == "drop" and rest:
        await _drop(view, rest)
    elif verb == "add" and rest:
        await _add(view, rest)
    else:
        await _list(view)


async def may_read(view: ChatView, service: "Face", addresses: Sequence[str], session: str | None) -> bool:
    """Whether the user lets the hosts of some addresses be asked, about which they are asked where they are new.

    None of them is allowed before they said yes to all.
    """
    hosts = await service.references.asks(addresses, session)
    for host in hosts:
        own = host.startswith(OWN)
        shown = one_line(host.removeprefix(OWN))
        if not await view.ui.ask(Confirm(f"Read {cut(shown, 50)}?", f"{NEAR if own else MAY}", yes="read")):
            return False
    for host in hosts:
        await service.references.allow(host, session)
    return True


async def _add(view: ChatView, said: str) -> None:
    from pathlib import Path

    from agent.references.address import read_address

    assert view.chat is not None
    service, session = view.chat.service, view.chat.session
    address = read_address(said, Path.cwd()).text
    if session is None:
        view.ui.say(FIRST.format(one_line(said)))
        return
    if not await may_read(view, service, [address], session):
        view.ui.say("Nothing was attached.")
        return
    await service.references.add(session, address)
    view.ui.say(f"Reading {cut(one_line(address), 60)} …")
    attached = {each.reference.address: each for each in await service.references.read(session)}
    if (found := attached.get(address)) is not None:
        view.ui.say(found.why or f"Attached: {_named(found)}, {_size(found)}. /ref lists what this chat refers to.")


async def _drop(view: ChatView, said: str) -> None:
    assert view.chat is not None
    if view.chat.session is None:
        view.ui.say("This chat refers to nothing yet.")
        return
    dropped = await view.chat.service.references.drop(view.chat.session, said)
    view.ui.say(f"Dropped: {cut(one_line(dropped.address), 60)}. /undo attaches it again.")


async def _allow(view: ChatView, service: "Face", host: str) -> None:
    if not host:
        view.ui.say("Write /ref allow and a host, such as example.org; own:HOST for this computer or your network.")
        return
    session = view.session
    await service.references.allow(host, session)
    if session in view.state.private:
        view.ui.say(f"{one_line(host)} may be read in this private chat.")
    else:
        view.ui.say(f"{one_line(host)} may be read from now on. The setting hosts (F10) takes it back.")


async def _list(view: ChatView) -> None:
    assert view.chat is not None
    service, session = view.chat.service, view.chat.session
    while True:
        there: Sequence[Attached] = await service.references.all(session) if session is not None else []

        async def preview(item: "Attached") -> PageText:
            words = await service.references.words(item.reference.session, item.reference.id)
            return PageText(_about(item, words))

        chosen = await view.ui.ask(
            Chooser["Attached"](
                TITLE,
                there,
                paint=lambda item, width: _row(item, width),
                identity=lambda item: item.reference.id,
                preview=preview,
                keys=KEYS,
                failures=view.failures,
                empty=EMPTY,
            )
        )
        if chosen is None:
            return
        if chosen.answer == "add":
            if said := await view.ui.ask(AskLine(WHAT, placeholder="https://… or a file")):
                await _add(view, said)
            return
        if chosen.answer == "drop" and chosen.item is not None:
            await _drop(view, chosen.item.reference.id)
            return
        if session is not None:
            view.ui.say("Reading …")
            await service.references.read(session)
            view.ui.unsay()


def _named(item: "Attached") -> str:
    return cut(one_line(item.title or item.reference.address), 60)


def _size(item: "Attached") -> str:
    return f"{item.characters:,} characters".replace(",", " ") + (" and more" if item.cut else "")


def _row(item: "Attached", width: int) -> list[Content]:
    """A reference in two lines: what it is called, and where it lies."""
    state = item.why or (f"read {item.read_at.astimezone():%H:%M}, {_size(item)}" if item.read_at else "not read yet")
    where = f"{item.reference.kind} · {one_line(state)}"
    return [plain(cut(one_line(item.title or item.reference.address), width)), plain(cut(where, width), MUTED)]


def _about(item: "Attached", words: str) -> Content:
    lines = [plain(one_line(item.reference.address), MUTED)]
    lines += [plain(f"leads to {one_line(hop)}", MUTED) for hop in item.hops]
    lines += [plain(one_line(item.why), MUTED)] if item.why else []
    if not words and not item.why:
        words = "It is read with your next message, or with Enter."
    return Content("\n").join([*lines, plain(""), plain(words)])
