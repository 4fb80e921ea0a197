"""What scoring is given: the turns as arrays, the query's terms with their postings, and the cosines."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from graph.recall.lexical import Term

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Evidence:
    """One query over `size` turns, in the order they were said. Rows that may not be seen carry no evidence.

    `parent` is the row replied to, -1 for none; `seen` marks the rows that are live in the world asked about; `named`
    are the codes of speakers that the query names.
    """

    size: int
    parent: "NDArray[np.int32]"
    session: "NDArray[np.int32]"
    sessions: int
    speaker: "NDArray[np.int32]"
    length: "NDArray[np.float32]"  # in words
    seen: "NDArray[np.bool_]"
    terms: tuple[Term, ...]
    cosines: "NDArray[np.float32] | None"
    embedded: "NDArray[np.bool_] | None"
    named: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Scores:
    """The score of each row, and of what: the words, the meaning, what neighbours and the session lend."""

    total: "NDArray[np.float32]"
    lexical: "NDArray[np.float32]"
    semantic: "NDArray[np.float32]"
    graph: "NDArray[np.float32]"
