"""What scoring is given: turns as arrays, the question's terms with their postings, cosines; and what it answers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from graph.recall.table import NONE

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray


Trait = Literal["asks", "dated", "counted", "names"]  # ends in a question; has a time, a number, a name


@dataclass(frozen=True, slots=True)
class Term:
    """A stem of the question, its place among its words, and the rows of the turns that have it, in order.

    `worth` is given where how many of the rows have it does not tell how much it says.
    """

    stem: str
    place: int
    rows: "NDArray[np.int32]"
    worth: float | None = None


@dataclass(frozen=True, slots=True)
class Tree:
    """How turns follow each other: the row each replies to, the newest reply to each, and the same twice; -1 for none.

    Where a turn has further replies (alternatives that were forked), those are `others`, replying to `others_of`.
    """

    parent: "NDArray[np.int32]"
    child: "NDArray[np.int32]"
    grandparent: "NDArray[np.int32]"
    grandchild: "NDArray[np.int32]"
    others: "NDArray[np.int32]"
    others_of: "NDArray[np.int32]"

    @classmethod
    def of(cls, parent: "NDArray[np.int32]", live: "NDArray[np.bool_]") -> "Tree":
        """The tree by what each replies to; of several replies the newest live one is the child."""
        import numpy as np

        child = np.full(len(parent), NONE, np.int32)
        follows = np.flatnonzero(parent != NONE).astype(np.int32)
        among = live[follows]
        for rows in (follows[~among], follows[among]):
            child[parent[rows]] = rows  # of equal places numpy keeps the last
        others = follows[child[parent[follows]] != follows]
        up, down = (np.append(steps, np.int32(NONE)) for steps in (parent, child))  # of NONE, NONE
        return cls(parent, child, up[parent], down[child], others, parent[others])


@dataclass(frozen=True, slots=True)
class Evidence:
    """One question over `size` turns, in the order they were said. Rows that are not `seen` carry no evidence.

    `at`, `since` and `until` are UTC milliseconds; `cosines` are 0 where
    nothing is embedded; `named` are the codes of the speakers that the question names. `trait` tells which of some rows
    have a trait; it reads their texts: ask it for a few hundred rows, not for all.
    """

    question: str
    size: int
    tree: Tree
    session: "NDArray[np.int32]"
    sessions: int
    speaker: "NDArray[np.int32]"
    at: "NDArray[np.int64]"
    seen: "NDArray[np.bool_]"
    terms: tuple[Term, ...]
    cosines: "NDArray[np.float32] | None"
    named: tuple[int, ...]
    since: int | None
    until: int | None
    trait: "Callable[[Trait, NDArray[np.intp]], NDArray[np.bool_]]"


@dataclass(frozen=True, slots=True)
class Scores:
    """float32[size] each: the score of a row; its words and its meaning alone; and what other turns add to them.

    `graph` has three sources: words of the neighbours that a turn lacks (`near_words`), the neighbours' meaning, and
    the meaning of the best other turn of the session (`session`). `boosts` are the bounded lifts that are in `total`,
    by name. `walked` is what in `graph` came over relationships from whom the question names.
    """

    total: "NDArray[np.float32]"
    lexical: "NDArray[np.float32]"
    semantic: "NDArray[np.float32]"
    graph: "NDArray[np.float32]"
    near_words: "NDArray[np.float32]"
    session: "NDArray[np.float32]"
    boosts: "dict[str, NDArray[np.float32]]"
    walked: "NDArray[np.float32] | None" = None
