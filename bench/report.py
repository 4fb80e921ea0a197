"""How every benchmark speaks: figures as lines, or with --json as one flat object, with the machine named."""

import json
import os
import platform
import sys
from collections.abc import Mapping, Sequence

Figure = float | int | str | None


def machine() -> str:
    """The machine in a few words: cores, architecture, system."""
    return f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}, Python {platform.python_version()}"


def report(figures: Mapping[str, Figure], *, as_json: bool) -> None:
    """Print the figures of one run, numbers rounded to four significant digits."""
    rounded = {key: float(f"{value:.4g}") if isinstance(value, float) else value for key, value in figures.items()}
    if as_json:
        print(json.dumps({**rounded, "machine": machine()}))
        return
    width = max(map(len, rounded), default=0)
    for key, value in rounded.items():
        print(f"{key:<{width}}  {value}")
    print(f"{'machine':<{width}}  {machine()}")


def say(text: str) -> None:
    """Narration goes to stderr; stdout is figures."""
    print(text, file=sys.stderr, flush=True)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` (0–1) of the values lie, by the nearest rank."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, round(share * len(ordered)) - 1))]
