"""The settings file as text: made with a comment for each setting, and changed by one line, whatever else stands in it.

A key is written as in TOML, `top_k` in the table `sampling` is `sampling.top_k`.
"""

import re
import tomllib
from collections.abc import Iterable
from copy import deepcopy
from textwrap import wrap
from typing import Any

Value = str | int | float | bool
WIDTH = 118


def commented(head: str, settings: Iterable[tuple[str, str, Value]]) -> str:
    """A file in which all settings (key, meaning, default) are comments, and only the headings of tables are not."""
    lines, table = [head], ""
    for key, meaning, default in settings:
        within, _, name = key.rpartition(".")
        lines.append("")
        if within != table:
            table = within
            lines.append(f"[{table}]")
        lines += [f"# {line}" for line in wrap(meaning, WIDTH, break_long_words=False, break_on_hyphens=False)]
        lines.append(f"# {name} = {toml(default)}")
    return "\n".join(lines) + "\n"


def toml(value: Value) -> str:
    """A value as TOML has it, on one line."""
    import json

    if isinstance(value, bool | str):  # a JSON string is a TOML string, but for the one control that JSON lets pass
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else repr(value)


def changed(text: str, key: str, value: Value | None, default: Value) -> str:
    """`text` with `key` set; None: at its default again, which is a comment then. All else stays, line for line.

    Raises ValueError where that cannot be done, or `text` is no TOML.
    """
    from tomlkit.exceptions import TOMLKitError

    wanted = _without_empty_tables(with_value(tomllib.loads(text), key, value))
    ways = (_assigned, _uncommented, _added, _inserted) if value is not None else (_as_comment, _removed)
    for way in ways:
        try:
            new = way(text, key, default if value is None else value)
        except TOMLKitError:  # of a document that the standard parser reads
            continue
        if new is not None and _read(new) == wanted:
            return new
    raise ValueError(f"the way it is written leaves no place to change {key} alone")


def with_value(values: dict[str, Any], key: str, value: Value | None) -> dict[str, Any]:
    """What a file says, as it is read, with `key` set or left out. Raises ValueError where its table is none."""
    values = deepcopy(values)
    *tables, name = key.split(".")
    place = values
    for table in tables:
        place = place.setdefault(table, {})
        if not isinstance(place, dict):
            raise ValueError(f"{table} is not a table in it")
    if value is None:
        place.pop(name, None)
    else:
        place[name] = value
    return values


def line_of(keys: list[str], text: str) -> int | None:
    """The line (from 1) that sets `keys` in TOML `text`; the standard parser keeps no positions."""
    if not keys:
        return None
    table: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if header := re.match(r"\s*\[\s*([^\[\]]+?)\s*\]", line):
            table = [part.strip().strip("\"'") for part in header[1].split(".")]
            if table == keys:
                return number
        elif entry := re.match(r"\s*([\w\"'. -]+?)\s*=", line):
            full = table + [part.strip().strip("\"'") for part in entry[1].split(".")]
            if full == keys[: len(full)]:
                return number
    return None


# -- the ways to change it: each is tried, and what it makes is read again before it counts


def _assigned(text: str, key: str, value: Value) -> str | None:
    """Where it stands already, in whichever form."""
    import tomlkit

    document: Any = tomlkit.parse(text)
    *tables, name = key.split(".")
    place = document
    for table in tables:
        place = place.get(table, {})
    if name not in place:
        return None
    place[name] = value
    return tomlkit.dumps(document)


def _uncommented(text: str, key: str, value: Value) -> str | None:
    """In the place of the comment that has its default."""
    lines = text.split("\n")
    at = _comment_of(lines, key)
    if at is None:
        return None
    table, _, name = key.rpartition(".")
    lines[at] = f"{name} = {toml(value)}"
    if table and f"[{table}]" not in lines:
        heading = next((place for place in range(at) if lines[place] == f"# [{table}]"), None)
        if heading is None:
            return None
        lines[heading] = f"[{table}]"
    return "\n".join(lines)


def _added(text: str, key: str, value: Value) -> str | None:
    """As a line of its own: ahead of everything, as a key after a [table] would belong to that, or in its table."""
    table, _, name = key.rpartition(".")
    line = f"{name} = {toml(value)}"
    if not table:
        return f"{line}\n{text}"
    at = line_of([table], text)
    lines = text.split("\n")
    if at is not None and re.match(r"\s*\[", lines[at - 1]):
        return "\n".join([*lines[:at], line, *lines[at:]])
    return f"{text.rstrip()}\n\n[{table}]\n{line}\n".lstrip()


def _inserted(text: str, key: str, value: Value) -> str | None:
    """Beside what is in its table, which may be written with dots or in braces, and be headed by no line of its own."""
    import tomlkit

    document: Any = tomlkit.parse(text)
    *tables, name = key.split(".")
    place = document
    for table in tables:
        place = place.setdefault(table, {})
    place[name] = value
    return tomlkit.dumps(document)


def _as_comment(text: str, key: str, default: Value) -> str | None:
    """Its line is a comment with the default; gone, where there is such a comment already."""
    written = _assigned(text, key, default)  # on one line, whatever it was
    if written is None:
        return text
    at = line_of(key.split("."), written)
    if at is None:
        return None
    lines = written.split("\n")
    if _comment_of(lines, key) is None:
        lines[at - 1] = f"# {lines[at - 1]}"
    else:
        del lines[at - 1]
    return "\n".join(lines)


def _removed(text: str, key: str, default: Value) -> str | None:
    import tomlkit

    document: Any = tomlkit.parse(text)
    *tables, name = key.split(".")
    place = document
    for table in tables:
        place = place[table]
    del place[name]
    return tomlkit.dumps(document)


def _comment_of(lines: list[str], key: str) -> int | None:
    """The place of the line `# name = …` in the part of the file that is its table's, commented or not."""
    table, _, name = key.rpartition(".")
    within = ""
    for place, line in enumerate(lines):
        if header := re.match(r"(?:# )?\[([\w.]+)\]\s*$", line):
            within = header[1]
        elif within == table and re.match(rf"#\s*{re.escape(name)}\s*=", line):
            return place
    return None


def _read(text: str) -> dict[str, Any] | None:
    try:
        return _without_empty_tables(tomllib.loads(text))
    except tomllib.TOMLDecodeError:
        return None


def _without_empty_tables(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value != {}}
