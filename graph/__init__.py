"""The memory: event log, graph projection, and the readings of both."""

import os
from typing import TYPE_CHECKING, Any

# Recall reads whole matrices, which waits for memory and not for arithmetic: there a second thread of BLAS gains
# nothing, and fights with the model's. numpy's BLAS looks at this once, when numpy is imported for the first time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

if TYPE_CHECKING:
    from .memory import Memory as Memory

__all__ = ["Memory"]


def __getattr__(name: str) -> Any:
    """What is exported is imported when it is asked for: the chat paints before it needs any of it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .memory import Memory

    return Memory
