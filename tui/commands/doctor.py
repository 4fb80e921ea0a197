"""`clew doctor`: what is well and what is not, each with what to do about it."""

from typing import TYPE_CHECKING, Annotated

import typer

from tui.commands.place import home_of
from tui.exit_codes import ExitCode
from tui.output import Narration, paint, put, put_json, say
from tui.text import shown

if TYPE_CHECKING:
    from graph.values import Check

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def doctor(
    ctx: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    no_model: Annotated[bool, typer.Option("--no-model", help="Do not load the models to test them.")] = False,
    deep: Annotated[bool, typer.Option("--deep", help="With --absent: search every file in the home folder.")] = False,
    absent: Annotated[
        str | None,
        typer.Option("--absent", metavar="-", help="Check that words from standard input are nowhere to be found."),
    ] = None,
) -> None:
    """Check the settings, memory, models and disk. Nothing is changed, except the repairs that every start makes.

    Exits with 1 if something is wrong, and with 75 if another clew is using the memory (then only the log is checked).

    With --deep --absent - it searches for words instead. It reads them from standard input, separated by spaces or line
    breaks, and searches every file in the home folder except the models: in upper and lower case, stemmed, and escaped
    as in JSON. It lists the files that contain one and exits with 1 if there are any. It works while another clew runs.
    """
    from models.quiet import guard_descriptors
    from tui.commands.disk import parts_of
    from tui.commands.examination import examine

    if absent is not None:
        from tui.commands.absent import look_for_words

        look_for_words(ctx, source=absent, deep=deep, as_json=as_json)
        return
    home = home_of(ctx, writing=False, make=True)
    guard_descriptors(home.native_log)
    narration = Narration()
    found = examine(home, models=not no_model, tell=narration.tell)
    narration.clear()
    well = all(check.ok for check in found.checks)
    if as_json:
        checks = [
            {"name": c.name, "ok": c.ok, "detail": c.detail, "advice": "" if c.ok else c.advice} for c in found.checks
        ]
        put_json({"ok": well, "held_by": found.held_by, "checks": checks, "disk": parts_of(home)})
    else:
        for check in found.checks:
            put(_lines(check))
    if found.held_by is not None:
        say(f"clew: {found.held_by}")
    raise typer.Exit(ExitCode.FAILED if not well else ExitCode.HELD if found.held_by else ExitCode.OK)


def _lines(check: "Check") -> str:
    mark = paint("ok   ", "32") if check.ok else paint("WRONG", "1;31")
    line = f"{mark} {check.name:<12} {shown(check.detail)}"
    return line if check.ok or not check.advice else f"{line}\n      → {shown(check.advice)}"
