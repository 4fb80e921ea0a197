"""Values as they go between processes: what the engine found as JSON has it, and what a query is given."""

import math
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID


def plain(value: Any) -> Any:
    """A value of the engine as JSON has it; an internal id is "table:offset"."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case Mapping():
            if value.keys() == {"offset", "table"}:
                return f"{value['table']}:{value['offset']}"
            return {str(name): plain(each) for name, each in value.items()}
        case list() | tuple() | set():
            return [plain(each) for each in value]
        case datetime() | date():
            return value.isoformat()
        case bytes():
            return value.hex()
        case Decimal() if value.as_tuple().exponent == 0:
            return int(value)  # of a sum of whole numbers
        case timedelta() | Decimal() | UUID():
            return str(value)
        case _:
            return repr(value)


def packed(value: Any) -> Any:
    """A value for a parameter as JSON has it: lists, dates and times become lists that begin with what they are."""
    match value:
        case datetime():
            return ["time", value.isoformat()]
        case date():
            return ["date", value.isoformat()]
        case Mapping():
            return {str(name): packed(each) for name, each in value.items()}
        case list() | tuple():
            return ["list", *map(packed, value)]
        case _:
            return value


def unpacked(value: Any) -> Any:
    """The value that was packed."""
    match value:
        case ["time", str(text)]:
            return datetime.fromisoformat(text)
        case ["date", str(text)]:
            return date.fromisoformat(text)
        case ["list", *items]:
            return [unpacked(each) for each in items]
        case dict():
            return {name: unpacked(each) for name, each in value.items()}
        case _:
            return value
