"""The program `clew`: bare it is the chat, with a command it is that command, and `--version` imports nothing else."""

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.driver import Driver

    from agent.home import Home
    from tui.app import ClewApp
    from tui.backstage import Backstage, Options
    from tui.termination import Termination

WITH_VALUE = {"--home": "home", "--model": "model", "--session": "session", "--project": "project"}


def main(argv: list[str] | None = None) -> int:
    """Run clew; the exit code."""
    try:
        arguments = [os.fsencode(word).decode() for word in sys.argv[1:]] if argv is None else argv
    except UnicodeDecodeError as error:  # else its letters would be U+FFFD for ever
        said = error.object.decode(errors="replace")
        print(f"clew: “{said}” is no text in UTF-8. Nothing was done. Write it in UTF-8.", file=sys.stderr)
        return 65
    if arguments in (["--version"], ["-V"]):
        from tui.version import VERSION

        print(f"clew {VERSION}")
        return 0
    os.umask(0o077)
    chat = chat_options(arguments)
    if chat is None or "_CLEW_COMPLETE" in os.environ:  # a shell asks what could follow
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl+C while it is still imported: no traceback
        from tui import commands
        from tui.termination import Termination

        signal.signal(signal.SIGINT, signal.default_int_handler)
        with Termination():  # what a command has started does not outlive it
            return commands.run(arguments)
    return run_chat(chat)


def chat_options(arguments: list[str]) -> dict[str, str | bool] | None:
    """The options of the chat, read by hand because typer takes longer than a first paint may; None: a command."""
    options: dict[str, str | bool] = {}
    words = iter(arguments)
    for word in words:
        name, equals, value = word.partition("=")
        if word == "--new":
            options["new"] = True
        elif name in WITH_VALUE:
            given = value if equals else next(words, None)
            if given is None:
                return None  # the command line says what is missing
            options[WITH_VALUE[name]] = given
        else:
            return None
    return options


def run_chat(given: dict[str, str | bool]) -> int:
    """The chat, unless the terminal is none."""
    from tui.exit_codes import ExitCode

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        print("The chat needs a terminal. In a pipe, use `clew ask`: echo … | clew ask", file=sys.stderr)
        return ExitCode.USAGE
    return open_chat(given)


def open_chat(given: dict[str, str | bool]) -> int:
    """The chat, in a terminal or whatever stands for one, unless the memory is held; the exit code."""
    import gc

    from tui.termination import Termination, terminal_of_chat

    termination = Termination(terminal_of_chat(), signals=(signal.SIGTERM, signal.SIGHUP, signal.SIGINT))
    termination.watch()
    gc.disable()  # until the first paint: what is imported stays, and looking through it costs a tenth of the start
    from agent.errors import HomeError
    from agent.home import Home
    from tui.exit_codes import ExitCode, exit_code_of

    try:
        home = Home.resolve(Path(str(given["home"])) if "home" in given else None)
    except HomeError as error:
        print(error, file=sys.stderr)
        return exit_code_of(error)
    if (held := held_by(home)) is not None:
        print(held, file=sys.stderr)
        return ExitCode.HELD
    if "model" not in given and not any(home.models.glob("*.gguf")) and sys.stdin.isatty():
        from agent.errors import SettingsError
        from tui.first_start import choose_model

        try:
            if not choose_model(home):
                return ExitCode.OK
        except (SettingsError, OSError) as error:
            print(error, file=sys.stderr)
            return exit_code_of(error)
    from models.quiet import guard_descriptors

    guard_descriptors(home.native_log)
    app = make_app(
        home=home.root,
        model=_text(given, "model"),
        session=_text(given, "session"),
        project=_text(given, "project"),
        new=bool(given.get("new")),
        termination=termination,
    )
    app.run()
    termination.listen(None)
    if termination.code is not None:
        termination.end()
    if app.parting:
        print(app.parting, file=sys.stderr)
    return app.return_code or 0


def _text(given: dict[str, str | bool], name: str) -> str | None:
    return str(given[name]) if name in given else None


def held_by(home: "Home") -> str | None:
    """Who holds the memory alone, in words, and for a while; asks the graph package only if someone left a note."""
    if not (home.memory / "holder.json").exists():
        return None
    from tui.joining import may_run

    if may_run(home):  # a service, which has room for more
        return None
    from graph.errors import SERVE, MemoryHeld
    from graph.log.lock import holder

    found = holder(home.memory)
    waits = found is None or found.brief or found.command == SERVE  # a service that is opening it
    return None if waits else str(MemoryHeld(found))


def make_app(
    *,
    home: Path | None,
    model: str | None = None,
    session: str | None = None,
    project: str | None = None,
    new: bool = False,
    termination: "Termination | None" = None,
) -> "ClewApp":
    """The app on a home folder, not running yet."""
    from agent.home import Home
    from tui.app import ClewApp
    from tui.backstage import Options
    from tui.themes import first_theme

    resolved = Home.resolve(home)
    options = Options(home, model, session, project, new)
    return ClewApp(
        _connect(resolved, options),
        resolved.cache,
        options,
        theme=first_theme(resolved.config),
        termination=termination,
        driver_class=_driver_class(),
    )


def _driver_class() -> "type[Driver] | None":
    """Ours for a terminal; None where another is named, as for a browser."""
    if "TEXTUAL_DRIVER" in os.environ:
        return None
    from tui.terminal import TerminalDriver

    return TerminalDriver


def _connect(home: "Home", options: "Options") -> "Callable[[], Awaitable[Backstage]]":
    async def connect() -> "Backstage":
        import asyncio

        def bring_in() -> "Backstage":
            from tui.backstage import RealBackstage
            from tui.joining import hasten

            if options.model is None:
                hasten(home)  # it imports the same as this process does now, beside it
            return RealBackstage(home, options)

        return await asyncio.to_thread(bring_in)

    return connect
