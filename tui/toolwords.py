"""What a tool call says in the transcript: one line of what was looked for and what came of it, and the whole below."""

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tui.text import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.events import ToolAsked, ToolDone
    from graph.values import Turn

DOING = {
    "search_memory": "searched memory",
    "recent_conversations": "looked at recent conversations",
    "about": "looked up",
    "open_turn": "opened a message",
    "themes": "looked for themes",
}
NAMED_BY = {"search_memory": "query", "about": "name"}  # the argument that stands in the line
LONGEST = 60
SHOWN_RESULT = 4_000


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call as it is shown; `found` is how many items it answered with, `done` is False while it runs."""

    tool: str
    arguments: "Mapping[str, object]" = field(default_factory=dict)
    result: str = ""
    error: str | None = None
    found: int | None = None
    done: bool = True


def asked(event: "ToolAsked") -> Call:
    """A call that was just made."""
    return Call(event.tool, dict(event.arguments), done=False)


def answered(call: Call, event: "ToolDone") -> Call:
    """The call with what came of it."""
    return replace(call, result=event.result, error=event.error, done=True)


def read_call(turn: "Turn") -> Call:
    """The call that a stored turn of role tool tells of, whatever wrote it."""
    text = turn.text
    if text is None:
        return Call(turn.speaker, result="erased")
    found = len(turn.recalled) or None
    try:
        stored = json.loads(text)
    except ValueError:
        stored = None
    if not isinstance(stored, dict) or "tool" not in stored:
        return Call(turn.speaker, result=text, error=turn.error, found=found)
    arguments, result, error = stored.get("arguments"), stored.get("result"), stored.get("error")
    return Call(
        str(stored["tool"]),
        arguments if isinstance(arguments, dict) else {},
        result if isinstance(result, str) else "" if result is None else json.dumps(result, ensure_ascii=False),
        str(error) if error else turn.error,
        found,
    )


def line_of(call: Call) -> str:
    """The folded block: `searched memory for “tide pools” · 3 found`."""
    return f"{_what(call)} · {_outcome(call)}"


def _what(call: Call) -> str:
    doing = DOING.get(call.tool, f"called {one_line(call.tool)}")
    named = call.arguments.get(NAMED_BY.get(call.tool, ""))
    if named is None:
        return doing
    words = one_line(str(named))
    words = f"{words[: LONGEST - 1]}…" if len(words) > LONGEST else words
    return f"{doing} for “{words}”" if call.tool == "search_memory" else f"{doing} “{words}”"


def _outcome(call: Call) -> str:
    if not call.done:
        return "…"
    if call.error:
        return f"failed: {one_line(call.error)}"
    if call.found is not None:
        return f"{call.found} found"
    return "done" if call.result else "nothing found"


def whole(call: Call) -> str:
    """The unfolded block: what the tool was given and what it answered, the end of a very long answer left out."""
    given = "\n".join(f"{name}: {value}" for name, value in call.arguments.items() if value is not None)
    result = call.result
    if len(result) > SHOWN_RESULT:
        result = f"{result[:SHOWN_RESULT]}\n… {len(result):,} characters in all"
    return "\n\n".join(part for part in (given, result) if part.strip())
