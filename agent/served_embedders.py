"""What tells one embedding model on a server from another: vectors are kept under a key, and only those of one model
can be compared.

The key is a digest of where the model is, how long its vectors are, and how the one of a known text begins. A server
makes that vector a little differently from one time to the next, so a digest alone would change with every rounding:
the vector that a key was made with is kept, and the key is used again where the new one is nearly the same. Where what
was kept is lost, everything may get new vectors, and nothing else happens.
"""

import json
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KEPT = 16  # models
DECIMALS = 4


def served_key(file: Path, name: str, url: str, probe: "NDArray[np.float32]", passage: str = "") -> str:
    """The key for `name`, MODEL@SERVER, at `url`; `probe`: float32[dimension], the vector of a text that is always the
    same; `passage` is what goes before a text that is kept. `file` has what the keys were made with."""
    model, _, server = name.rpartition("@")
    place = f"{server}/{model}@{_digest(url, str(len(probe)), passage)}"
    known = _known(file)
    for key, numbers in known.items():
        if key.startswith(f"{place}-") and _near(numbers, probe):
            return key
    key = f"{place}-{_digest(*(f'{each + 0:.2f}' for each in probe.tolist()))}"
    _keep(file, known, key, [round(each, DECIMALS) for each in probe.tolist()])
    return key


def _digest(*parts: str) -> str:
    return blake2b("\n".join(parts).encode("utf-8", "replace"), digest_size=6).hexdigest()


def _near(numbers: Any, probe: "NDArray[np.float32]") -> bool:
    import numpy as np

    from models.servers.vectors import alike

    try:
        kept = np.array(numbers, np.float32)
    except (ValueError, TypeError, OverflowError):
        return False
    return kept.shape == probe.shape and alike(kept, probe)


def _known(file: Path) -> dict[str, Any]:
    """What is kept; nothing where it cannot be read."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _keep(file: Path, known: Mapping[str, Any], key: str, numbers: list[float]) -> None:
    """Write it down whole, or not at all."""
    newest = dict([*known.items(), (key, numbers)][-KEPT:])
    part = file.with_suffix(".part")
    try:
        part.write_text(json.dumps(newest), encoding="utf-8")
        part.replace(file)
    except OSError:
        part.unlink(missing_ok=True)
