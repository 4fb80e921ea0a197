"""From the addresses of the settings to a model: what answers there is found out, and is spoken to in its way."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from models.errors import ServerBroken, ServerError, ServerRefused
from models.protocols import Generator
from models.servers.address import ServerAddress
from models.servers.chat_completions import ChatServerGenerator
from models.servers.client import ServerClient
from models.servers.discovery import ServedModel, ServerReport, found_at, root_of
from models.servers.embedder_pool import EmbedderMember, EmbedderPool
from models.servers.embeddings import PROBE, ServerEmbedder
from models.servers.llama_generator import LlamaServerGenerator, connect_llama
from models.servers.pool import Member, PoolGenerator
from models.servers.slot_files import SlotFiles
from models.servers.vectors import alike, vectors_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

READS_S = 300.0  # that a server may read a long prompt before its first word; a llama-server is asked in steps
Kind = Literal["auto", "llama", "openai"]
LISTED = 5
OTHER = "Nine rivers flow into the northern sea."  # has nothing to do with PROBE
EMBEDDER_CONTEXT = 512  # tokens, of a server that does not tell it
UNKNOWN = "unknown"  # as SGLang's router calls the model of a server that does not tell it


def connect(
    addresses: Sequence[ServerAddress],
    model: str,
    *,
    name: str,
    context: int,
    kind: Kind = "auto",
    shared_states: bool = False,
    owner: str = "",
    note: Path | None = None,
) -> Generator:
    """The model called `model` at a server, or at all of a pool; blocking.

    `context` in tokens, at most what the server has; `shared_states`: the servers of a pool save slots into one folder,
    under names with `owner` in them, of which `note` keeps that there are some. Raises ServerError where none answers,
    or the first that does has no such model.
    """
    if len(addresses) == 1:
        return _connected(addresses[0], model, name=name, context=context, kind=kind)

    def joining(address: ServerAddress) -> Member:
        return Member(address.host, lambda: _alike(address))

    def _alike(address: ServerAddress) -> Generator:
        made = _connected(address, model, name=name, context=context, kind=kind)
        first = next((each.generator for each in members if each.generator is not None), None)
        if first is not None and not _interchangeable(first, made):
            asyncio.run(made.close())
            what = f"{address.host} has another model, template or context than the others of the pool"
            raise ServerBroken(address.name, what, "Give all of them the same; the others go on.")
        return made

    members = [joining(each) for each in addresses]
    failed: ServerError | None = None
    for member in members:
        try:
            member.generator = member.connect()
        except ServerError as error:
            failed, member.why = failed or error, str(error)
    if failed is not None and all(each.generator is None for each in members):
        raise failed
    native = all(isinstance(each.generator, LlamaServerGenerator | None) for each in members)
    return PoolGenerator(members, carrier=SlotFiles(owner, note) if shared_states and native and note else None)


def _connected(address: ServerAddress, model: str, *, name: str, context: int, kind: Kind) -> Generator:
    client = ServerClient(replace(address, url=root_of(address.url)))
    try:
        report = found_at(client)
        if kind == "openai" or report.kind == "openai":
            known = _of(report, model, address)
            base = f"{report.base}/v1" if report.kind == "llama" else report.base
            chat = ServerClient(replace(address, url=base), answer_s=READS_S)
            size = min(context, known.context or context)
            client.drop()
            return ChatServerGenerator(
                chat, model=known.name, name=name, context=size, size=known.size or 0, others=_others(report, known)
            )
        _of(report, model, address)
        return connect_llama(client, name=name, context=context)
    except ServerError:
        client.drop()
        raise


def connect_embedder(addresses: Sequence[ServerAddress], model: str, *, name: str) -> ServerEmbedder | EmbedderPool:
    """The embedding model called `model` at a server, or at the first of a pool that answers; blocking.

    Raises ServerError where none answers, or it has no such model, or one whose vectors are of no use.
    """
    if len(addresses) == 1:
        return _embedder_at(addresses[0], model, name=name)
    members = [EmbedderMember(each.host, _connecting(each, model, name)) for each in addresses]
    failed: ServerError | None = None
    for member in members:
        try:
            member.embedder = member.connect()
        except ServerError as error:
            failed = failed or error
            continue
        return EmbedderPool(members)
    assert failed is not None
    raise failed


def _connecting(address: ServerAddress, model: str, name: str) -> Callable[[], ServerEmbedder]:
    return lambda: _embedder_at(address, model, name=name)


def _embedder_at(address: ServerAddress, model: str, *, name: str) -> ServerEmbedder:
    client = ServerClient(replace(address, url=root_of(address.url)))
    try:
        report = found_at(client)
        known = _of(report, model, address)
        path = f"{'/v1' if report.kind == 'llama' else report.prefix}/embeddings"
        return ServerEmbedder(
            client,
            model=known.name,
            name=name,
            path=path,
            context=known.context or EMBEDDER_CONTEXT,
            probe=_probed(client, path, known.name),
            size=known.size or 0,
            tokenizes=report.kind == "llama" and _tokenizes(client),
        )
    except ServerError:
        client.drop()
        raise


def _probed(client: ServerClient, path: str, model: str) -> "NDArray[np.float32]":
    """float32[dimension] of PROBE, made twice. Raises ServerError where its vectors say nothing of a text."""
    server = client.address.name
    found = client.ask(path, {"model": model, "input": [PROBE, OTHER]})
    first: NDArray[np.float32]
    first, other = vectors_of(found, 2, server=server, model=model)
    found = client.ask(path, {"model": model, "input": [PROBE]})
    (again,) = vectors_of(found, 1, server=server, model=model, dimension=len(first))
    useless = "" if alike(first, again) else "it answers with another vector each time that it is asked for one text"
    if alike(first, other):
        useless = "it answers with the same vector for different texts"
    if useless:
        raise ServerBroken(server, useless, f"Choose another embedding model than {model}.")
    return first


def _tokenizes(client: ServerClient) -> bool:
    """Whether a llama-server counts tokens for whoever asks."""
    try:
        return isinstance(client.ask("/tokenize", {"content": PROBE}), dict)
    except ServerRefused:
        return False


def _of(report: ServerReport, model: str, address: ServerAddress) -> ServedModel:
    """The model that is asked for. Raises ServerRefused where the server has it not."""
    found = next((each for each in report.models if each.name == model), None)
    if found is None and {each.name for each in report.models} <= {UNKNOWN}:
        return ServedModel(model)  # it does not say which it has
    if found is None:
        names = ", ".join(each.name for each in report.models[:LISTED])
        more = f" and {len(report.models) - LISTED} more" if len(report.models) > LISTED else ""
        raise ServerRefused(
            address.name,
            f"it has no model “{model}”; it has {names}{more}",
            f"Choose one with `clew models use MODEL@{address.name}`; your chats are safe.",
            404,
        )
    return found


def _others(report: ServerReport, known: ServedModel) -> list[str]:
    return [each.name for each in report.models if each.name != known.name]


def _interchangeable(one: Generator, other: Generator) -> bool:
    """Whether a prompt of one means the same to the other."""
    if isinstance(one, LlamaServerGenerator) and isinstance(other, LlamaServerGenerator):
        return one.identity == other.identity and one.info.context == other.info.context
    return type(one) is type(other)
