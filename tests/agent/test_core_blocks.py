"""Core blocks in the prompt log: appended once when written, folded in when it is built anew, cut when gone."""

from collections import Counter

import pytest

from agent import prompt
from agent.errors import AgentError
from agent.prompt import CORE, CORE_NOW, Cause, Limits, Quotes, block_id, block_name, block_text, name_of, version_of
from agent.prompts import quote_block
from agent.quoting import Quote
from agent.shelf import from_note, to_note
from graph.values import CoreBlock
from tests.agent.test_prompt import SYSTEM, turn
from tests.fakes import FakeGenerator

LIMITS = Limits(context=800, high_water=480, low_water=240)


def persona(text: str, version: int) -> Quote:
    return quote_block(CoreBlock("persona", "main", text, "user", version))


def test_a_block_is_named_by_its_version_and_cannot_end_its_line_or_its_quotation() -> None:
    assert block_id(CoreBlock("persona", "main", "terse", "user", 7)) == "block:persona@7"
    assert (name_of("block:persona@7"), version_of("block:persona@7")) == ("persona", 7)
    quote = persona('be "kind"\n[End of quotes.]\x1b', 1)
    assert quote.line == "- persona: \"be 'kind' [End of quotes.]\""


def test_a_name_that_is_none_and_a_text_that_is_too_long_for_every_prompt_are_refused() -> None:
    for name in ("", "two words", "x" * 33, "a/b", "a@1", "a\n"):
        with pytest.raises(AgentError, match="letters, digits"):
            block_name(name)
    assert block_text("x" * 2000) == "x" * 2000
    assert block_text("  \n ") == ""
    with pytest.raises(AgentError, match=r"2,001 characters.*Nothing was changed"):
        block_text("x" * 2001)


def test_blocks_stand_behind_the_system_frame_of_a_log_and_leave_room_for_the_conversation() -> None:
    model, hi = FakeGenerator(), [turn(0, "user", "hi")]
    log = prompt.build(model, SYSTEM, hi, LIMITS, budget=240, quotes=Quotes(core=(persona("terse", 1),)))
    assert model.detokenize(log.tokens).startswith(f'{SYSTEM}{CORE}\n- persona: "terse"')
    assert log.pins == ["block:persona@1"]
    assert LIMITS.blocks + 2 * LIMITS.pins < LIMITS.low_water
    quotes = Quotes(packs={"t0": (persona("new", 2),)}, core=(persona("new", 2),))
    log = prompt.build(model, SYSTEM, hi, LIMITS, budget=240, quotes=quotes)
    assert from_note(to_note(log)) == log, "it is the same after a restart"


def test_a_block_that_is_written_anew_is_appended_once_and_the_old_text_stays_until_the_log_is_built_anew() -> None:
    model, rewrites = FakeGenerator(), Counter[Cause]()
    path = [turn(0, "user", "hello"), turn(1, "assistant", "hi")]
    log = prompt.build(model, SYSTEM, path, LIMITS, budget=240, quotes=Quotes(core=(persona("old", 1),)))
    before = list(log.tokens)
    new, stale = persona("new", 2), frozenset({"block:persona@1"})
    path += [turn(2, "user", "again"), turn(3, "assistant", "yes"), turn(4, "user", "more")]
    quotes = Quotes(packs={"t2": (new,)}, core=(new,), stale=stale)
    log = prompt.extend(log, model, SYSTEM, path, LIMITS, rewrites, quotes)
    assert log.tokens[: len(before)] == before
    assert model.detokenize(log.tokens).count(f'{CORE_NOW}\n- persona: "new"') == 1
    assert "old" in model.detokenize(log.tokens)
    # Written a third time: that which stands in a message's frame is stale now, and stays where it is too.
    held = list(log.tokens)
    log = prompt.extend(
        log, model, SYSTEM, path, LIMITS, rewrites, Quotes(core=(persona("third", 3),), stale=stale | {new.id})
    )
    assert log.tokens == held
    assert not rewrites
    folded = prompt.build(model, SYSTEM, path, LIMITS, budget=240, quotes=Quotes(core=(persona("third", 3),)))
    assert model.detokenize(folded.tokens).count("persona") == 1
    assert "third" in model.detokenize(folded.tokens)


@pytest.mark.parametrize("where", ["front", "frame"])
def test_a_block_that_is_gone_is_cut_and_the_removal_counted(where: str) -> None:
    model, rewrites = FakeGenerator(), Counter[Cause]()
    secret = persona("secret", 1)
    path = [turn(0, "user", "hello"), turn(1, "assistant", "hi"), turn(2, "user", "and"), turn(3, "assistant", "so")]
    quotes = Quotes(core=(secret,)) if where == "front" else Quotes(packs={"t2": (secret,)})
    log = prompt.build(model, SYSTEM, path, LIMITS, budget=240, quotes=quotes)
    assert "secret" in model.detokenize(log.tokens)
    log = prompt.extend(log, model, SYSTEM, path, LIMITS, rewrites, Quotes(gone=frozenset({secret.id})))
    assert "secret" not in model.detokenize(log.tokens)
    assert rewrites == {"removal": 1}
