"""What a tool call says in the transcript: one line of what was looked for and what came of it, and the whole below."""

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tui.text import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.events import ToolAsked, ToolDone, ToolProgress
    from graph.values import Turn

DOING = {
    "search_memory": "searched memory",
    "recent_conversations": "looked at recent conversations",
    "about": "looked up",
    "open_turn": "opened a message",
    "themes": "looked for themes",
    "remember": "asked to remember",
    "forget": "asked to forget a memory",
    "correct": "asked to correct a memory:",
    "write_block": "asked to write the core block",
}
NAMED_BY = {  # the argument that stands in the line
    "search_memory": "query",
    "about": "name",
    "remember": "text",
    "correct": "text",
    "write_block": "name",
}
LONGEST = 60
SHOWN_RESULT = 4_000
NOTHING = ("Nothing was found", "Nothing was said")  # as agent/tools.py and agent/recall.py answer
ERROR = "Error: "
REFUSED = "The user did not allow it. Nothing was changed."  # as agent/steps.py tells the model
STOPPED = "It was stopped."  # as agent/steps.py tells of a call that was not let finish, and is not kept

_SPELLED = re.compile(r"(\w+)\((.*)\)", re.DOTALL)
_THEME = re.compile(r"^\d+\. ", re.MULTILINE)
_ARGUMENT = re.compile(r'(\w+)=(?:"([^"]*)"|([^,]*))')


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call as it is shown; `found` is how many items it answered with, `done` is False while it runs."""

    tool: str
    arguments: "Mapping[str, object]" = field(default_factory=dict)
    result: str = ""
    error: str | None = None
    found: int | None = None
    done: bool = True
    steps: tuple[int, int] | None = None  # how far it is, of how many, where it tells


def asked(event: "ToolAsked") -> ToolCall:
    """A call that was just made."""
    return ToolCall(event.tool, dict(event.arguments), done=False)


def under_way(call: ToolCall, event: "ToolProgress") -> ToolCall:
    """The call as far as it has come."""
    return replace(call, steps=(event.done, event.total))


def answered(call: ToolCall, event: "ToolDone") -> ToolCall:
    """The call with what came of it."""
    return replace(call, result=event.result, error=event.error, found=_listed(event.result), done=True)


def read_call(turn: "Turn") -> ToolCall:
    """The call that a stored turn of role tool tells of: how it was spelled on the first line, the answer below it."""
    if turn.text is None:
        return ToolCall("", result="erased")
    head, _, result = turn.text.partition("\n")
    spelled = _SPELLED.fullmatch(head.strip())
    if spelled is None:
        return ToolCall("", result=turn.text, error=turn.error, found=_listed(turn.text))
    found = _ARGUMENT.findall(spelled[2])
    arguments = {name: _number(plain) or quoted or plain for name, quoted, plain in found if plain != "None"}
    return ToolCall(spelled[1], arguments, result, turn.error or _failure(result), _listed(result))


def _number(word: str) -> int | None:
    return int(word) if word.isascii() and word.isdigit() and len(word) < 10 else None


def _listed(result: str) -> int | None:
    """How many turns, or themes, an answer lists; None where it lists none and is still an answer."""
    count = sum(line.startswith("- ") for line in result.split("\n")) or len(_THEME.findall(result))
    return count or (0 if not result.strip() or result.startswith(NOTHING) else None)


def _failure(result: str) -> str | None:
    return result.removeprefix(ERROR) if result.startswith(ERROR) else None


def line_of(call: ToolCall) -> str:
    """The folded block: `searched memory for “tide pools” · 3 found`."""
    return f"{_what(call)} · {_outcome(call)}"


def _what(call: ToolCall) -> str:
    if not call.tool:
        return "looked something up"
    doing = DOING.get(call.tool, f"called {one_line(call.tool)}")
    named = call.arguments.get(NAMED_BY.get(call.tool, ""))
    if named is None:
        return doing
    words = one_line(str(named))
    words = f"{words[: LONGEST - 1]}…" if len(words) > LONGEST else words
    return f"{doing} for “{words}”" if call.tool == "search_memory" else f"{doing} “{words}”"


def _outcome(call: ToolCall) -> str:
    if not call.done:
        return f"{call.steps[0]} of {call.steps[1]} …" if call.steps is not None else "…"
    if call.error == STOPPED:
        return "stopped"
    if call.error == REFUSED:
        return "denied"
    if call.error:
        return f"failed: {one_line(call.error)}"
    if call.found:
        return f"{call.found} found"
    return "nothing found" if call.found == 0 else "done"


def whole(call: ToolCall) -> str:
    """The unfolded block: what the tool was given and what it answered, the end of a very long answer left out."""
    given = "\n".join(f"{name}: {value}" for name, value in call.arguments.items() if value is not None)
    result = call.result or call.error or ""
    if len(result) > SHOWN_RESULT:
        result = f"{result[:SHOWN_RESULT]}\n… {len(result):,} characters in all"
    return "\n\n".join(part for part in (given, result) if part.strip())
