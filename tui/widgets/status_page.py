"""The words of /status: what the agent says of itself, a name and a value a line."""

from collections.abc import Iterator

from textual.content import Content

from tui.widgets.columns import row

NAMES = 20  # cells for the names


def status_content(facts: object, graph: str, width: int) -> Content:
    """The fields of the dataclass `facts` for a page `width` cells wide; `graph` says what the graph is doing."""
    lines = [row(label, value, width, NAMES) for label, value in _rows(facts, graph)]
    return Content("\n").join(lines)


def _rows(facts: object, graph: str) -> Iterator[tuple[str, str]]:
    for name in getattr(facts, "__dataclass_fields__", {}):
        value = getattr(facts, name)
        label = name.replace("_", " ")
        match value:
            case dict():
                yield from ((f"{label}: {key}".replace("_", " "), f"{count:,}") for key, count in value.items())
            case None:
                yield label, "none"
            case bool():
                yield label, "yes" if value else f"no ({graph})" if name == "graph_ready" else "no"
            case float() if name == "uptime_s":
                yield "uptime", f"{value // 3600:.0f} h {value % 3600 // 60:.0f} min {value % 60:.0f} s"
            case int():
                yield label, f"{value:,}"
            case _:
                yield label, str(value)
