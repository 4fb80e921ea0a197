"""The part of `clew models` that is about servers: finding out what one is, keeping it, testing it, letting it go.

Nothing is written before the server has answered as a chat would need it, and no key is ever shown.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from tui.commands.choosing import home_of
from tui.exit_codes import ExitCode
from tui.output import Narration, complain, fit, put, put_json, say, width
from tui.text import counted, one_line, size_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.home import Home
    from agent.settings import Server, Settings
    from models.servers.address import ServerAddress
    from models.servers.discovery import ServerReport
    from models.servers.trial import Findings

ANSWER_S = 180.0  # a server may have to load the model first
MOST_SHOWN = 20
MOST_KEY = 1 << 16
LONGEST = 40  # columns of a name
OF_FILES = ("size", "fetched", "memory", "context", "licence", "description", "path")  # in the rows of models
WHAT = {
    "stream": "replies, word by word",
    "usage": "tokens counted",
    "cache": "known beginnings reused",
    "schema": "JSON by a schema",
    "tools": "tool calls",
    "embeddings": "embeddings",
}
NATIVE = {"counts": "prompts read exactly once", "slots": "slots"}


def add(
    ctx: typer.Context,
    address: Annotated[str, typer.Argument(help="Where the server is, like http://localhost:8080.")],
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="What to call it; otherwise it is called after its address.")
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Use another computer without https or a key; others may read along.")
    ] = False,
    certificate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A certificate (PEM) to check the server's own against.")
    ] = None,
    key_stdin: Annotated[bool, typer.Option("--key-stdin", help="Read the server's key from stdin.")] = False,
    model: Annotated[
        str | None, typer.Option(metavar="MODEL", help="The model to test; otherwise the first one.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON: an object.")] = False,
) -> None:
    """Add a model server. It is asked what it is and what works there; if that fails, nothing is changed."""
    from agent.servers import keep_server
    from agent.settings import Server, load_settings
    from models.catalogue import looks_like_embedder
    from models.errors import AddressRefused, ServerError
    from models.servers.discovery import root_of

    home = home_of(ctx)
    servers = load_settings(home.config).servers
    url = root_of(address)
    called = _name(name, url, servers)
    there = servers.get(called)
    file = certificate.expanduser().absolute() if certificate is not None else None
    narration = Narration()
    try:
        key = _Key.given(home, called, from_stdin=key_stdin)
        place, exposed = _allowed(called, url, key, insecure=insecure, certificate=file)
        if exposed:
            say(_exposure(place))
        try:
            report, tried, findings = _examined(place, model, narration)
        except ServerError as error:
            narration.clear()
            if not _wants_key(error) or not key.ask():
                raise
            place = replace(place, key=key.text)
            report, tried, findings = _examined(place, model, narration)
    except ServerError as error:
        narration.clear()
        complain(error)
        wants = _wants_key(error) or (isinstance(error, AddressRefused) and error.wants_key)
        more = f" Its key, read by --key-stdin, would be kept in {home.keys / called}." if wants else ""
        say(f"Nothing was added.{more}")
        raise typer.Exit(ExitCode.UNAVAILABLE) from error
    finally:
        narration.clear()
    server = Server(
        address=there.address if there is not None and len(there.addresses) > 1 else place.url,
        insecure=exposed,
        certificate=str(file or ""),
        kind=report.kind,
        states=there is not None and there.states,
    )
    keep_server(home, called, server, key=key.text if key.new else "")
    _tell(called, report, tried, findings, json=json)
    say(f"{called} was added ({home.config}).")
    if key.new:
        say(f"Its key is in {home.keys / called}, which only you can read.")
    embeds = findings.embeddings == "yes" and findings.stream != "yes"
    say(f"To use it: clew models use {'--embedder ' if embeds else ''}{tried}@{called}")
    other = next((each.name for each in report.models if looks_like_embedder(each.name)), None)
    if other is not None and not embeds:
        say(f"Its embedding model: clew models use --embedder {one_line(other)}@{called}")


def examine(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A server's name, or MODEL@NAME.")],
    json: Annotated[bool, typer.Option("--json", help="Print JSON: a list of objects, one for each address.")] = False,
) -> None:
    """Test a server of the settings: what it is now, and what works there."""
    from agent.servers import addresses_of
    from agent.settings import load_settings
    from models.errors import ServerError
    from models.servers.discovery import root_of

    home = home_of(ctx, writing=False)
    settings = load_settings(home.config)
    model, _, called = ("", "", name) if name in settings.servers else name.rpartition("@")
    narration, told, failed = Narration(), list[dict[str, Any]](), False
    try:
        places = addresses_of(home, settings, called)
    except ServerError as error:
        complain(error)
        raise typer.Exit(ExitCode.UNAVAILABLE) from error
    for place in places:
        try:
            report, tried, findings = _examined(replace(place, url=root_of(place.url)), model or None, narration)
        except ServerError as error:
            narration.clear()
            complain(error)
            told.append({"name": called, "address": place.url, "error": str(error)})
            failed = True
            continue
        finally:
            narration.clear()
        if json:
            told.append(_figures(called, report, tried, findings))
        else:
            _tell(called, report, tried, findings, json=False)
    if json:
        put_json(told)
    if failed:
        raise typer.Exit(ExitCode.UNAVAILABLE)


def remove(home: Home, settings: Settings, name: str, *, yes: bool) -> None:
    """Take a server out of the settings, with its key, after asking. Raises SettingsError or typer.Abort."""
    from agent.servers import drop_server

    if not yes:
        where = ", ".join(map(shown_address, settings.servers[name].addresses))
        typer.confirm(f"{name} is a server ({where}). Remove it and its key?", abort=True, err=True)
    drop_server(home, name)
    say(f"{name} was removed.")
    if name in _used(settings):
        say("Your settings still use a model of it. Choose another with `clew models use NAME`.")


def rows(settings: Settings) -> list[dict[str, object]]:
    """The servers as `clew models list --json` has them; none is asked anything."""
    used = _used(settings)
    return [
        {
            "name": name,
            "kind": "server",
            "state": "configured",
            "in_use": name in used,
            **dict.fromkeys(OF_FILES),
            "addresses": [shown_address(each) for each in server.addresses],
            "insecure": server.insecure,
        }
        for name, server in settings.servers.items()
    ]


def _used(settings: Settings) -> set[str]:
    """The servers that answer or embed."""
    from agent.settings import server_of

    named = (server_of(each, settings.servers) for each in (settings.model, settings.embedder))
    return {each[1] for each in named if each is not None}


def lines(servers: list[dict[str, object]]) -> list[str]:
    """The same for people; empty where there are none."""
    named = [one_line(str(each["name"])) for each in servers]
    wide = max(map(len, named), default=0)
    found = []
    for name, each in zip(named, servers, strict=True):
        addresses = each["addresses"]
        assert isinstance(addresses, list)
        told = f"{'*' if each['in_use'] else ' '}  {name.ljust(max(16, wide))}  {', '.join(addresses)}"
        found.append(fit_line(told + ("  insecure" if each["insecure"] else "")))
    return ["Servers (clew models use MODEL@NAME)", *found] if found else []


def fit_line(line: str) -> str:
    """A line as it is, as long as there is room for."""
    from tui.output import clip
    from tui.text import shown

    return clip(shown(line), width()).rstrip()


def shown_address(url: str) -> str:
    """An address without what may be secret in it: a name, a password, a query."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
        return one_line(parts._replace(netloc=host, query="", fragment="").geturl())
    except ValueError:
        return "?"


class _Key:
    """The key of a server that is added: as it is known already, from stdin, or typed when it turns out to be wanted.

    `new` ones are to be written.
    """

    def __init__(self, name: str, text: str, *, new: bool) -> None:
        self.name = name
        self.text = text
        self.new = new

    @classmethod
    def given(cls, home: Home, name: str, *, from_stdin: bool) -> _Key:
        """Raises AddressRefused for one that is none, BadParameter where stdin has none."""
        from agent.servers import checked_key
        from models.servers.address import key_of

        if not from_stdin:
            return cls(name, key_of(name, home.keys / name), new=False)
        typed = checked_key(name, sys.stdin.readline(MOST_KEY) if sys.stdin is not None else "")
        if not typed:
            raise typer.BadParameter("There was no key on stdin. Nothing was added.", param_hint="--key-stdin")
        return cls(name, typed, new=True)

    def ask(self) -> bool:
        """Have it typed, unseen, where there was none and somebody is at a terminal; whether there is one now."""
        from getpass import getpass

        from agent.servers import checked_key

        if self.text or sys.stdin is None or not sys.stdin.isatty():
            return False
        try:
            typed = getpass(f"The key of {self.name} (it is not shown): ", stream=sys.stderr)
        except EOFError:
            return False
        self.text = checked_key(self.name, typed)
        self.new = bool(self.text)
        return self.new


def _name(given: str | None, url: str, servers: Mapping[str, Server]) -> str:
    """What a server is to be called. Raises BadParameter for a name that cannot be, or is another's."""
    from agent.servers import free_name, is_at
    from agent.settings import checked_server_name
    from models import catalogue

    if given is None:
        return free_name(url, servers)
    try:
        checked_server_name(given)
    except ValueError as error:
        raise typer.BadParameter(f"{error}. Nothing was added.", param_hint="--name") from error
    if catalogue.find(given) is not None:
        raise typer.BadParameter(f"{given} is the name of a model. Nothing was added.", param_hint="--name")
    if given in servers and not is_at(url, servers[given]):
        where = ", ".join(map(shown_address, servers[given].addresses))
        raise typer.BadParameter(
            f"{given} is another server already ({where}). Choose another name, or remove that one with "
            f"`clew models rm {given}`. Nothing was added.",
            param_hint="--name",
        )
    return given


def _allowed(name: str, url: str, key: _Key, *, insecure: bool, certificate: Path | None) -> tuple[ServerAddress, bool]:
    """The address, and whether it is used only because `insecure` allows it. Raises AddressRefused."""
    from models.errors import AddressRefused
    from models.servers.address import checked_address

    try:
        return checked_address(name, url, key=key.text, certificate=certificate), False
    except AddressRefused:
        if insecure:
            return checked_address(name, url, key=key.text, insecure=True, certificate=certificate), True
        if not url.lower().startswith("https://") or not key.ask():
            raise
    return checked_address(name, url, key=key.text, certificate=certificate), False


def _exposure(place: ServerAddress) -> str:
    if place.url.lower().startswith("https://"):
        return f"Insecure: {place.host} asks for no key, so whoever can reach it can use it."
    return (
        f"Insecure: anybody on the network between this computer and {place.host} can read what is said there"
        f"{', and the key' if place.key else ''}."
    )


def _wants_key(error: Exception) -> bool:
    from models.errors import ServerRefused
    from models.servers.discovery import NO_KEY

    return isinstance(error, ServerRefused) and error.status in NO_KEY


def _examined(place: ServerAddress, model: str | None, narration: Narration) -> tuple[ServerReport, str, Findings]:
    """What a server is, the model that was tested, and what works with it. Raises ServerError or UnknownModel."""
    return asyncio.run(_examining(place, model, narration))


async def _examining(
    place: ServerAddress, model: str | None, narration: Narration
) -> tuple[ServerReport, str, Findings]:
    from models.catalogue import looks_like_embedder
    from models.servers.client import ServerClient
    from models.servers.discovery import found_at
    from models.servers.trial import tested

    client = ServerClient(place, answer_s=ANSWER_S)
    try:
        narration.tell(f"asking {place.host} what it is …")
        report = await asyncio.to_thread(found_at, client)
        chosen = _model_of(place.name, report, model)
        narration.tell(f"{report.product}: testing {chosen} …")
        found = await _embedding(place, chosen) if looks_like_embedder(chosen) else None
        return report, chosen, found or await tested(client, report, chosen)
    finally:
        await client.close()


async def _embedding(place: ServerAddress, model: str) -> Findings | None:
    """What works with an embedding model, which cannot be asked for a reply; None for one that makes no vectors."""
    from models.errors import ServerBroken, ServerRefused
    from models.servers.connecting import connect_embedder
    from models.servers.trial import Findings, Found

    try:
        made = await asyncio.to_thread(connect_embedder, [place], model, name=model)
    except (ServerBroken, ServerRefused):
        return None
    await made.close()
    untold: dict[str, Found] = dict.fromkeys(WHAT | NATIVE, "not told")
    return replace(Findings(**untold), embeddings="yes")


def _model_of(name: str, report: ServerReport, wanted: str | None) -> str:
    """The model to test: the one that is named, else the first that is for chats."""
    from models.catalogue import looks_like_embedder
    from models.errors import UnknownModel

    names = [each.name for each in report.models]
    if not names:
        raise UnknownModel(f"The server {name} ({report.product}) has no model. Load one there; nothing was changed.")
    if wanted is None:
        return next((each for each in names if not looks_like_embedder(each)), names[0])
    if wanted not in names:
        some = ", ".join(one_line(each) for each in names[:MOST_SHOWN])
        raise UnknownModel(f"The server {name} has no model {wanted}. It has: {some}. Nothing was changed.")
    return wanted


def _tell(name: str, report: ServerReport, model: str, findings: Findings, *, json: bool) -> None:
    if json:
        put_json(_figures(name, report, model, findings))
        return
    build = f" {report.build}" if report.build else ""
    slots = f", {counted(report.slots, 'slot')}" if report.slots else ""
    put(fit_line(f"{name}: {report.product}{build} at {report.base}{slots}"))
    shown = report.models[:MOST_SHOWN]
    wide = max(len(fit(each.name, LONGEST)) for each in shown)
    put("Models")
    for each in shown:
        size = size_of(each.size) if each.size else ""
        context = f"context {each.context:,}" if each.context else ""
        put(fit_line(f"   {fit(each.name, LONGEST).ljust(wide)}  {size:>6}  {context}"))
    if more := len(report.models) - len(shown):
        put(f"   … and {more:,} more (--json lists all)")
    put(fit_line(f"What works with {model}"))
    what = WHAT | NATIVE if report.kind == "llama" else WHAT
    wide = max(map(len, what.values()))
    found = asdict(findings)
    for key, words in what.items():
        put(fit_line(f"   {words.ljust(wide)}  {found[key]}"))


def _figures(name: str, report: ServerReport, model: str, findings: Findings) -> dict[str, Any]:
    return {
        "name": name,
        "address": report.base,
        "kind": report.kind,
        "product": report.product,
        "build": report.build or None,
        "slots": report.slots,
        "models": [each._asdict() for each in report.models],
        "tested": model,
        "findings": asdict(findings),
    }
