"""The words of /status: what clew is doing, what it keeps, and what that takes; a name and a value a line."""

from collections.abc import Iterator, Mapping

from textual.content import Content

from tui.text import counted, size_of
from tui.widgets.columns import row

NAMES = 26  # cells for the names
LABELS = {
    "home": "home folder",
    "starts": "times opened",
    "uptime_s": "uptime",
    "events": "events in the log",
    "turns": "messages",
    "sessions": "chats",
    "graph_ready": "graph",
    "model_path": "model file",
    "context": "context, in tokens",
    "to_learn_from": "still to learn from",
}
REBUILT = {
    "compaction": "to make room",
    "head_move": "to go on from elsewhere in the chat",
    "removal": "as something was hidden or deleted",
}
LEFT_OUT = ("log_head",)  # the number of the last event, which is how many there are


def status_content(facts: object, graph: str, disk: Mapping[str, int], width: int) -> Content:
    """The fields of the dataclass `facts`, then bytes by part, for a page `width` cells wide.

    `graph` says what the graph is doing.
    """
    rows = [*_rows(facts, graph), *_disk(disk)]
    return Content("\n").join(row(label, value, width, NAMES) for label, value in rows)


def _rows(facts: object, graph: str) -> Iterator[tuple[str, str]]:
    for name in getattr(facts, "__dataclass_fields__", {}):
        if name in LEFT_OUT:
            continue
        value = getattr(facts, name)
        match value:
            case dict() if name == "rewrites":
                if value:
                    told = (f"{count:,}× {REBUILT.get(str(cause), cause)}" for cause, count in value.items())
                    yield "prompts rebuilt", ", ".join(told)
            case dict():
                yield from ((LABELS.get(str(key), str(key)), f"{count:,}") for key, count in value.items())
            case _:
                yield LABELS.get(name, name.replace("_", " ")), _told(name, value, graph)


def _told(name: str, value: object, graph: str) -> str:
    match value:
        case None:
            return "none"
        case bool() if name == "graph_ready":
            return "up to date" if value else f"not ready ({graph})"
        case float():
            minutes, seconds = divmod(round(value), 60)
            return f"{minutes // 60} h {minutes % 60} min {seconds} s"
        case int() if name == "to_learn_from":
            return counted(value, "message")
        case int():
            return f"{value:,}"
        case _:
            return str(value)


def _disk(parts: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    for name, size in sorted(parts.items(), key=lambda part: -part[1]):
        if size:
            yield f"disk: {name}", size_of(size)
