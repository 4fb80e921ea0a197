"""`clew models`: which models there are, and getting, choosing and removing them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tui.commands import model_servers
from tui.commands.choosing import home_of
from tui.output import Narration, fit, put, put_json, say, width
from tui.text import size_of

if TYPE_CHECKING:
    from pathlib import Path

    from agent.home import Home
    from agent.settings import Settings
    from models.catalogue import ModelKind
    from models.fetch import FetchProgress
    from models.store import ModelStore, StoredModel

models = typer.Typer(add_completion=False, no_args_is_help=True, help="List, download, choose and remove models.")
models.command()(model_servers.add)
models.command("test")(model_servers.examine)

NAME_COLUMNS = 18
SETTING = {"chat": "model", "embed": "embedder"}


def complete_model(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """For the shell: the catalogue's names that begin like this."""
    from models.catalogue import CATALOGUE

    return [(entry.name, entry.description) for entry in CATALOGUE if entry.name.startswith(incomplete)]


Name = Annotated[str, typer.Argument(help="A name from the list.", autocompletion=complete_model)]


@models.command("list")
def list_models(
    ctx: typer.Context, json: Annotated[bool, typer.Option("--json", help="Print JSON: a list of objects.")] = False
) -> None:
    """List the models: which are installed, and how much space and memory each needs."""
    home = home_of(ctx, writing=False)
    settings = _settings(home)
    chosen = _chosen(settings)
    rows = [_row(model, chosen) for model in _store(home).entries()]
    servers = model_servers.rows(settings) if settings is not None else []
    if json:
        put_json([*rows, *servers])
        return
    for kind, title in (("chat", "Chat models"), ("embed", "Embedding models"), (None, "Other files")):
        of_kind = [row for row in rows if row["kind"] == kind]
        if of_kind:
            put(title)
            for row in of_kind:
                put(_line(row))
    for line in model_servers.lines(servers):
        put(line)
    put("* in use, + installed, ~ partly downloaded. Any other GGUF file: clew --model PATH.gguf")


@models.command()
def pull(
    ctx: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Names from the list, or hf:OWNER/REPO/FILE.gguf. Without a name: the two in use.",
            autocompletion=complete_model,
        ),
    ] = None,
    first: Annotated[bool, typer.Option("--first", hidden=True, help="The two in use besides.")] = False,
) -> None:
    """Download models. Interrupted downloads continue where they stopped."""
    from models import catalogue
    from models.errors import FetchError

    home = home_of(ctx)
    store = _store(home)
    used = [name for name in _chosen(_settings(home)) if catalogue.find(name)] if first or not names else []
    wanted = [catalogue.entry(name) for name in dict.fromkeys((*used, *(names or ())))]
    failed: FetchError | None = None
    for entry in wanted:
        here = (store.folder / entry.file).is_file()
        if not here:
            say(f"Downloading {entry.name} ({size_of(entry.download)}, {entry.licence}) from {entry.origin}.")
        try:
            path, instead = _pull(store, entry.name)
        except FetchError as error:  # the others may be had
            if failed is not None:
                say(str(failed))
            failed = error
            continue
        put(str(path))
        if not here:
            source = f", from {instead}, which has the same file" if instead else ""
            say(f"{entry.name} is installed ({size_of(path.stat().st_size)}{source}).")
            if entry.name not in used:
                say(f"To use it: clew models use {entry.name}")
    if failed is not None:
        raise failed


def _pull(store: ModelStore, name: str) -> tuple[Path, str]:
    """Download a model and tell how far it is; its path, and where it came from if that was not its publisher."""
    narration, instead = Narration(), ""

    def tell(progress: FetchProgress) -> None:
        nonlocal instead
        instead = progress.instead or instead
        narration.tell(describe(progress))

    try:
        path = store.pull(name, tell)
        return path, instead
    finally:
        narration.clear()


@models.command()
def use(
    ctx: typer.Context,
    name: Annotated[
        str,
        typer.Argument(help="A name from the list, a path, or MODEL@SERVER.", autocompletion=complete_model),
    ],
    embedder: Annotated[
        bool, typer.Option("--embedder", help="MODEL@SERVER is an embedding model; all that is said goes to it.")
    ] = False,
) -> None:
    """Choose the chat model or the embedder."""
    from agent.settings import write_setting
    from models.catalogue import looks_like_embedder

    home = home_of(ctx)
    served = _on_server(home, name)
    if served:
        kind, value = "embed" if embedder else "chat", name
    else:
        kind, value = _kind_and_value(_store(home), name)
    if embedder and kind != "embed":
        raise typer.BadParameter(f"{value} is a chat model. Nothing was changed.", param_hint="--embedder")
    write_setting(home.config, SETTING[kind], value)
    say(f"{value} is now the {'chat model' if kind == 'chat' else 'embedding model'} ({home.config}).")
    if served and kind == "chat" and looks_like_embedder(name.rpartition("@")[0]):
        say(f"If it is an embedding model, it cannot chat: clew models use --embedder {value}")


@models.command()
def rm(
    ctx: typer.Context,
    name: Name,
    yes: Annotated[
        bool,
        typer.Option("--yes", "-y", help="Do not ask for confirmation about files that cannot be downloaded again."),
    ] = False,
) -> None:
    """Remove a model, including a partial download, or a server with its key."""
    from models import catalogue

    home = home_of(ctx)
    settings = _settings(home)
    if settings is not None and name in settings.servers:
        model_servers.remove(home, settings, name, yes=yes)
        return
    store = _store(home)
    if catalogue.find(name) is None and not yes:
        path = store.path(name)
        typer.confirm(
            f"{path.name} is not in the catalogue and cannot be downloaded again. Remove it?", abort=True, err=True
        )
    removed = store.remove(name)
    say(f"{removed.name} was removed.")
    if name in _chosen(settings):
        say("Your settings still use it. Choose another with `clew models use NAME`, or download it again.")


def describe(progress: FetchProgress) -> str:
    """How far a model is, on one line."""
    match progress.stage:
        case "waiting":
            return f"{progress.name}: another clew is downloading it, waiting …"
        case "connecting":
            return f"{progress.name}: connecting …"
        case "fetching":
            share = f" ({progress.done / progress.total:.0%})" if progress.total else ""
            source = f" from {progress.instead}" if progress.instead else ""
            return f"{progress.name}: {size_of(progress.done)} of {size_of(progress.total)}{share}{source}"
        case "checking":
            return f"{progress.name}: checking …"
        case "installing":
            return f"{progress.name}: unpacking …"
        case "done":
            return f"{progress.name}: ready"


def _store(home: Home) -> ModelStore:
    from models.store import ModelStore

    return ModelStore(home.models)


def _settings(home: Home) -> Settings | None:
    """The settings; what is wrong in them is told, and is no reason not to go on without them (None)."""
    from agent.errors import SettingsError
    from agent.settings import load_settings

    try:
        return load_settings(home.config)
    except SettingsError as error:
        say(f"clew: {error}")
        say("Until that is fixed, the default models are shown as the ones in use.")
        return None


def _chosen(settings: Settings | None) -> tuple[str, str]:
    """The models in use."""
    from models.store import DEFAULT_CHAT, DEFAULT_EMBEDDER

    return (DEFAULT_CHAT, DEFAULT_EMBEDDER) if settings is None else (settings.model, settings.embedder)


def _on_server(home: Home, name: str) -> bool:
    """Whether MODEL@SERVER is named, with a server of the settings. Raises SettingsError, or UnknownModel for another.

    A file whose name has an @ in it is a file.
    """
    from agent.settings import SERVER_NAME, load_settings, server_of
    from models.errors import UnknownModel
    from models.store import looks_like_path

    model, _, server = name.rpartition("@")
    if not model:
        return False
    if server_of(name, load_settings(home.config).servers) is not None:
        return True
    if SERVER_NAME.fullmatch(server) and not looks_like_path(name):
        raise UnknownModel(
            f"There is no server {server} in the settings. `clew models list` shows the servers, "
            "`clew models add ADDRESS` adds one. Nothing was changed."
        )
    return False


def _kind_and_value(store: ModelStore, name: str) -> tuple[ModelKind, str]:
    """What a model is for, and how the settings should name it: its own name, or its whole path."""
    from models import catalogue
    from models.header import read_header

    path = store.path(name)
    entry = catalogue.find(name)
    if entry and not name.startswith(catalogue.HUB_PREFIX):
        return entry.kind, entry.name
    inside = path.parent == store.folder
    return "embed" if read_header(path).embeds else "chat", path.stem if inside else str(path)


def _row(model: StoredModel, chosen: tuple[str, str]) -> dict[str, object]:
    entry = model.entry
    return {
        "name": model.name,
        "kind": model.kind,
        "state": model.state,
        "in_use": bool({model.name, str(model.path)} & set(chosen)),
        "size": model.size,
        "fetched": model.fetched,
        "memory": entry.memory if entry else None,
        "context": entry.context if entry else None,
        "licence": entry.licence if entry else None,
        "description": entry.description if entry else None,
        "path": str(model.path) if model.state == "installed" else None,
    }


def _line(row: dict[str, object]) -> str:
    used = "*" if row["in_use"] else " "
    state = {"installed": "+", "partial": "~"}.get(str(row["state"]), " ")
    size, memory = row["size"], row["memory"]
    assert isinstance(size, int)
    needs = f"needs {size_of(memory):>6}" if isinstance(memory, int) else ""
    about = "  ".join(str(row[key]) for key in ("licence", "description") if row[key])
    name = fit(str(row["name"]), NAME_COLUMNS).ljust(NAME_COLUMNS)
    return f"{used}{state} {name}  {size_of(size):>6}  {needs:<12}  {about}"[: width()].rstrip()
