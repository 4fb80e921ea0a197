"""What would do more than read: never run, however it is written, and nothing is other than it was before."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st

from graph.console.functions import FUNCTIONS
from graph.console.grammar import KEYWORDS, REACHING, checked
from graph.console.lexing import Sort, tokens_of
from graph.errors import QueryFailed, Refused
from graph.memory import Memory
from tests.examples import examples, few
from tests.graph.console.hostile import CANARY, HOSTILE, SPELLINGS
from tests.graph.console.ordinary import READS

Look = Callable[[], dict[str, object]]
NOTHING_RUN = r"(?s)\(line \d+, column \d+\)\. Nothing was run, and nothing was changed\.$"
# What looks like a letter of the language, or parts words, or is not seen.
ODD = {"a": "а", "e": "е", "o": "ο", "s": "ſ", "k": "K", " ": "\u200b", ";": "\u037e", "(": "（", "'": "\u2019"}
BLANKS = (" ", "\n", "\t", "\u00a0", "\u2028", "/**/", "/* ; */", "// x\n", "\ufeff")


def test_there_are_enough_of_them() -> None:
    assert len(HOSTILE) >= 300
    assert len(READS) >= 100


def test_none_is_ever_run_by_the_console(spoken: Memory, outside: Path, everything: Look) -> None:
    before = everything()
    spelled = few(len(SPELLINGS))  # ways to write each of them: all in `make soak`, and else not always the same
    for number, statement in enumerate(HOSTILE):
        written = statement.replace("{outside}", str(outside))
        rotated = (SPELLINGS[(number + step) % len(SPELLINGS)] for step in range(spelled))
        for spelling in (written, *(spell(written) for spell in rotated)):
            with pytest.raises(Refused, match=NOTHING_RUN):
                spoken.console.run(spelling, parameters={"flag": True})
    assert everything() == before


@pytest.mark.process
def test_none_is_run_by_the_console_of_a_past_nor_looked_at_closer_by_the_engine(spoken: Memory, outside: Path) -> None:
    with spoken.past(5) as past:
        for statement in HOSTILE:
            written = statement.replace("{outside}", str(outside))
            with pytest.raises(Refused, match=NOTHING_RUN):
                past.console.run(written, parameters={"flag": True})
            with pytest.raises(Refused, match=NOTHING_RUN):
                spoken.console.validate(written)
        assert past.console.run("MATCH (t:Turn) RETURN count(*)").rows == ((4,),)


def mutated(statement: str, draw: st.DrawFn) -> str:
    """The statement with a few of its characters put in another case, replaced, doubled or parted."""
    text = list(statement)
    for at in draw(st.lists(st.integers(0, max(0, len(text) - 1)), max_size=6)):
        each = text[at]
        text[at] = draw(st.sampled_from((each.swapcase(), ODD.get(each.lower(), each), each * 2, "", each + " ", "`")))
    return "".join(draw(st.sampled_from(BLANKS)) if each == " " and draw(st.booleans()) else each for each in text)


@st.composite
def joined(draw: st.DrawFn) -> str:
    """A hostile statement, changed a little, by itself or within an ordinary read."""
    hostile = draw(st.sampled_from(HOSTILE))
    if len(hostile) > 1_000:
        return hostile
    hostile = mutated(hostile, draw)
    read = draw(st.sampled_from(list(READS)))
    tokens = tokens_of(read)
    cut = draw(st.sampled_from(tokens)).place
    within = f"{read[:cut]} {hostile} {read[cut:]}"
    return draw(st.sampled_from((hostile, f"{read};{hostile}", f"{read} {hostile}", f"{hostile} {read}", within)))


def words_outside(statement: str) -> set[str]:
    """The words that stand for themselves: no strings, comments, names after a dot or colon, keys or other names."""
    tokens = tokens_of(statement)
    found = set()
    for at, token in enumerate(tokens):
        before = tokens[at - 1].upper if at else ""
        after = tokens[at + 1].text if at + 1 < len(tokens) else ""
        if token.sort is Sort.WORD and before not in (".", ":", "|", "AS") and after != ":":
            found.add(token.upper)
    return found


def outcome(memory: Memory, statement: str) -> str:
    """What a statement brings to light, if anything; what is refused is refused with a sentence."""
    refusal = refused(statement)
    if refusal is not None:
        return refusal
    assert not words_outside(checked(statement)) & REACHING
    try:
        return repr(memory.console.run(statement, timeout_s=2, limit=5).rows).replace(statement, "")
    except QueryFailed as failure:
        return str(failure)


def refused(statement: str) -> str | None:
    """What the first wall says of a statement, None if it lets it pass."""
    try:
        checked(statement)
    except Refused as refusal:
        if re.search(NOTHING_RUN, str(refusal)) is None:
            raise
        return str(refusal)
    return None


@pytest.mark.process
def test_a_fuzzer_finds_no_way_past_the_grammar(spoken: Memory, outside: Path, everything: Look) -> None:
    before = everything()

    @examples(800, excused=HealthCheck, phases=[Phase.generate], derandomize=True, database=None)
    @given(joined())
    def tried(statement: str) -> None:
        told = outcome(spoken, statement.replace("{outside}", str(outside)))
        assert CANARY not in told

    tried()
    assert everything() == before


def test_no_word_is_allowed_and_refused() -> None:
    assert not KEYWORDS & REACHING
    assert not {name.upper() for name in FUNCTIONS} & REACHING
