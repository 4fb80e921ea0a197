"""The prompt log: append-only at token level for any conversation, and every rewrite counted by its cause."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from agent import prompt
from agent.prompt import Cause, Limits, PromptLog, Quotes, version_of
from agent.quoting import HEADER, PINS, Quote
from graph.events import Recalled
from graph.values import Turn
from tests.examples import examples
from tests.fakes import FIRST_WORD, FakeGenerator

LIMITS = Limits(context=400, high_water=240, low_water=120)
SYSTEM = "You are terse."
AT = datetime(2026, 1, 1, 12, tzinfo=UTC)
TODAY = f"Today is {AT.astimezone():%A, %-d %B %Y}."
WORDS = st.lists(st.sampled_from(["tide", "pool", "crab", "<|im_end|>", "[bold]", "sea"]), min_size=1, max_size=12)


def turn(number: int, role: str, text: str | None) -> Turn:
    return Turn(
        id=f"t{number}",
        session="s",
        parent=f"t{number - 1}" if number else None,
        index=number,
        role=role,
        speaker=role,
        text=text,
        at=AT,
        client="test",
    )


HELLO, HI, AGAIN, YES = (
    turn(number, "assistant" if number % 2 else "user", text)
    for number, text in enumerate(("hello", "hi", "again", "yes"))
)


PLAYED = Quotes(played=True)


def built(model: FakeGenerator, *path: Turn, budget: int = LIMITS.high_water, **quotes: Any) -> PromptLog:
    """The log of a path, with what is quoted in it; without days, as in a story, unless it is said otherwise."""
    return prompt.build(model, SYSTEM, path, LIMITS, budget=budget, quotes=Quotes(**{"played": True} | quotes))


def test_a_log_is_the_system_frame_and_then_each_turns_frame_but_hidden_erased_and_empty_ones() -> None:
    model = FakeGenerator()
    log = built(model, HELLO, HI)
    assert log.tokens == [
        *model.frame("system", SYSTEM, first=True),
        *model.frame("user", "hello"),
        *model.frame("assistant", "hi"),
    ]
    assert [mark.turn for mark in log.marks] == ["t0", "t1"]
    assert [mark.turn for mark in built(model, replace(HELLO, hidden=True), HI, turn(2, "user", None)).marks] == ["t1"]
    empty = built(model, HELLO, turn(1, "assistant", ""), AGAIN, turn(3, "assistant", " \n"))
    assert [mark.turn for mark in empty.marks] == ["t0", "t2"]


def test_a_long_path_is_built_from_its_newest_turns_and_begins_with_a_user() -> None:
    path = [turn(n, "user" if n % 2 == 0 else "assistant", "word " * 20) for n in range(40)]
    log = built(FakeGenerator(), *path, budget=LIMITS.low_water)
    assert len(log.tokens) <= LIMITS.low_water
    assert log.marks[-1].turn == "t39"
    assert int(log.marks[0].turn[1:]) % 2 == 0
    assert len(log.marks) >= 2


def test_a_message_longer_than_the_limit_keeps_both_its_ends_and_says_what_is_missing() -> None:
    model = FakeGenerator()
    log = built(model, turn(0, "user", "begin " + "middle " * 1000 + "end"))
    shown = model.detokenize(log.tokens)
    assert "begin" in shown
    assert shown.endswith("end")
    assert f"{log.left_out['t0']} tokens left out" in shown
    assert len(log.tokens) <= LIMITS.message + 40


def test_a_changed_system_prompt_is_appended_folded_in_when_built_anew_and_comes_back_where_it_was_cut_off() -> None:
    model, rewrites = FakeGenerator(), Counter[Cause]()
    log = built(model, HELLO, HI)
    before = list(log.tokens)
    log = prompt.extend(log, model, "Be kind.", [HELLO, HI, AGAIN], LIMITS, rewrites, PLAYED)
    assert log.tokens == [*before, *model.frame("system", "Be kind."), *model.frame("user", "again")]
    assert log.system == "Be kind."
    assert not rewrites
    folded = prompt.build(model, log.system, [HELLO, HI, AGAIN], LIMITS, budget=200)
    assert folded.tokens[: len(before)] != before
    log = prompt.extend(log, model, "Be kind.", [HELLO, turn(9, "user", "other")], LIMITS, rewrites)
    assert log.system == "Be kind."
    assert rewrites == {"head_move": 1}
    assert model.detokenize(log.tokens).count("Be kind.") == 1


def quoted(*ids: str) -> tuple[Quote, ...]:
    return tuple(Quote(id, f'- 2026-01-01, the user: "about-{id}"', AT + timedelta(ord(id[-1]))) for id in ids)


def quoting(text: str, *ids: str) -> str:
    """A message with quotes before it."""
    return f"{told(*ids)}\n\n{text}"


def told(*ids: str, day: str = "") -> str:
    """What the model is told before a message."""
    return "\n\n".join(filter(None, (day, "\n".join([HEADER, *(quote.line for quote in quoted(*ids))]))))


def test_what_was_recalled_stands_before_the_message_the_oldest_first_once_each_with_the_day_where_that_is_new() -> (
    None
):
    model = FakeGenerator()
    packs = {"t0": quoted("b", "a"), "t2": quoted("b", "t0", "c")}
    log = built(model, HELLO, HI, AGAIN, packs=packs, played=False)
    assert log.tokens == [
        *model.frame("system", SYSTEM, first=True),
        *model.frame("system", told("a", "b", day=TODAY)),
        *model.frame("user", "hello"),
        *model.frame("assistant", "hi"),
        *model.frame("system", told("c")),
        *model.frame("user", "again"),
    ]
    assert log.quoted == {"t0": ["b", "a"], "t2": ["c"]}
    assert log.held == {"t0", "t1", "t2", "a", "b", "c"}
    later = replace(AGAIN, at=AT + timedelta(days=1))
    assert model.detokenize(built(model, HELLO, HI, later, packs=packs, played=False).tokens).count("Today is") == 2


def test_the_day_is_told_to_who_speaks_of_time_once_a_day_and_to_nobody_else() -> None:
    model = FakeGenerator()
    asks = turn(2, "user", "What day is it today?")
    assert "Today is" not in model.detokenize(built(model, HELLO, HI, AGAIN, played=False).tokens)
    again = turn(4, "user", "And tomorrow?")
    log = built(model, HELLO, HI, asks, YES, again, played=False)
    assert model.detokenize(log.tokens).count(TODAY) == 1
    assert list(log.days) == ["t2"]


def test_in_a_story_it_stands_in_the_frame_of_who_speaks_and_no_day_is_told() -> None:
    model = FakeGenerator()
    log = built(model, HELLO, packs={"t0": quoted("a")}, played=True)
    assert log.tokens == [*model.frame("system", SYSTEM, first=True), *model.frame("user", quoting("hello", "a"))]


def test_a_log_that_quotes_what_is_gone_is_cut_there_and_the_removal_counted() -> None:
    model, rewrites, path = FakeGenerator(), Counter[Cause](), [HELLO, HI, AGAIN]
    packs = {"t0": quoted("a"), "t2": quoted("b", "c")}
    log = built(model, *path, packs=packs)
    kept = log.tokens[: log.marks[2].start]
    log = prompt.extend(
        log, model, SYSTEM, path, LIMITS, rewrites, Quotes(played=True, packs=packs, gone=frozenset("b"))
    )
    assert log.tokens == [*kept, *model.frame("user", quoting("again", "c"))]
    assert rewrites == {"removal": 1}


def test_a_tools_turn_that_quotes_what_is_gone_is_left_out_whole() -> None:
    model, rewrites = FakeGenerator(), Counter[Cause]()
    tool = replace(turn(1, "tool", "search_memory()\nfound"), recalled=(Recalled(id="a"),))
    path = [HELLO, tool, turn(2, "assistant", "hi")]
    log = built(model, *path)
    assert "\n> search_memory()\n> found" in model.detokenize(log.tokens)
    log = prompt.extend(log, model, SYSTEM, path, LIMITS, rewrites, Quotes(played=True, gone=frozenset("a")))
    assert [mark.turn for mark in log.marks] == ["t0", "t2"]
    assert "found" not in model.detokenize(log.tokens)
    assert rewrites == {"removal": 1}


def test_pins_stand_after_the_system_frame_but_for_those_the_log_holds_elsewhere() -> None:
    model, rewrites, path = FakeGenerator(), Counter[Cause](), [HELLO, HI]
    packs = {"t0": quoted("b")}
    log = built(model, *path, packs=packs, pins=quoted("a", "b", "t1"))
    assert log.tokens == [
        *model.frame("system", SYSTEM, first=True),
        *model.frame("user", f"{PINS}\n{quoted('a')[0].line}"),
        *model.frame("user", quoting("hello", "b")),
        *model.frame("assistant", "hi"),
    ]
    assert log.pins == ["a"]
    same = list(log.tokens)
    unpinned = prompt.extend(log, model, SYSTEM, path, LIMITS, rewrites, Quotes(played=True, packs=packs))
    assert unpinned.tokens == same
    assert not rewrites
    without = prompt.extend(
        log, model, SYSTEM, path, LIMITS, rewrites, Quotes(played=True, packs=packs, gone=frozenset("a"))
    )
    assert "about-a" not in model.detokenize(without.tokens)
    assert rewrites == {"removal": 1}


class AppendOnly(RuleBasedStateMachine):
    """A conversation with rewinds, hides, long messages and compactions, as the agent drives its prompt log."""

    def __init__(self) -> None:
        super().__init__()
        self.model = FakeGenerator(context=LIMITS.context)
        self.path: list[Turn] = []
        self.rewrites: Counter[Cause] = Counter()
        self.log = prompt.begin(self.model, SYSTEM)
        self.system = SYSTEM
        self.given: list[int] = []  # the last prompt with its reply
        self.asked: list[int] = []
        self.expected = Counter[Cause]()
        self.number = 0
        self.packs: dict[str, tuple[Quote, ...]] = {}
        self.gone: set[str] = set()

    @property
    def quotes(self) -> Quotes:
        return Quotes(played=True, packs=self.packs, gone=frozenset(self.gone))

    def _next(self, role: str, text: str) -> Turn:
        self.number += 1
        return turn(self.number, role, text)

    @rule(said=WORDS, answer=WORDS, times=st.integers(1, 20), recalled=st.lists(st.sampled_from("abcdef"), max_size=3))
    def exchange(self, said: list[str], answer: list[str], times: int, recalled: list[str]) -> None:
        self.path.append(self._next("user", " ".join(said * times)))
        self.packs[self.path[-1].id] = quoted(*dict.fromkeys(recalled))
        counted = self.rewrites.total()
        self.log = prompt.extend(self.log, self.model, self.system, self.path, LIMITS, self.rewrites, self.quotes)
        if len(self.log.tokens) + LIMITS.reply > LIMITS.context:
            self.log = prompt.build(
                self.model, self.system, self.path, LIMITS, budget=LIMITS.low_water, quotes=self.quotes
            )
            self.rewrites["compaction"] += 1
        self.asked = prompt.asking(self.log, self.model)
        text = self.model.detokenize(self.asked)
        assert all(text.count(f"about-{id}") <= (id not in self.gone) for id in "abcdef")
        if self.rewrites.total() == counted:
            assert self.asked[: len(self.given)] == self.given
        reply = self._next("assistant", " ".join(answer))
        sampled = [token for word in answer for token in self.model.tokenize(word)]
        self.path.append(reply)
        prompt.close_reply(self.log, self.model, turn=reply.id, tokens=sampled)
        self.given = list(self.log.tokens)
        assert self.given[: len(self.asked) + len(sampled)] == self.asked + sampled

    @precondition(lambda self: len(self.path) >= 4)
    @rule(data=st.data())
    def rewind(self, data: st.DataObject) -> None:
        keep = data.draw(st.integers(0, len(self.path) // 2 - 1)) * 2
        self.path = self.path[:keep]

    @precondition(lambda self: bool(self.path))
    @rule(data=st.data())
    def hide(self, data: st.DataObject) -> None:
        at = data.draw(st.integers(0, len(self.path) - 1))
        self.path[at] = replace(self.path[at], hidden=True)

    @rule(id=st.sampled_from("abcdef"))
    def erase_what_may_be_quoted(self, id: str) -> None:
        self.gone.add(id)

    @rule(text=st.sampled_from([SYSTEM, "Be kind.", "Be brief."]))
    def configure(self, text: str) -> None:
        self.system = text

    @precondition(lambda self: len(self.log.tokens) >= LIMITS.high_water)
    @rule()
    def compact(self) -> None:
        self.log = prompt.build(self.model, self.system, self.path, LIMITS, budget=LIMITS.low_water, quotes=self.quotes)
        self.rewrites["compaction"] += 1
        self.given = list(self.log.tokens)

    @invariant()
    def marks_point_at_the_turns_of_the_log(self) -> None:
        starts = [mark.start for mark in self.log.marks]
        assert starts == sorted(starts)
        assert all(start < len(self.log.tokens) for start in starts)

    @invariant()
    def the_log_leaves_room_for_a_reply(self) -> None:
        assert len(self.asked) + LIMITS.reply <= LIMITS.context + 1


AppendOnly.TestCase.settings = examples(60, stateful_step_count=30)
TestAppendOnly = AppendOnly.TestCase


@given(st.text(min_size=1, max_size=40))
@examples(50)
def test_text_never_becomes_a_control_token(text: str) -> None:
    model = FakeGenerator()
    frames = model.frame("system", SYSTEM, first=True) + model.frame("user", "x")
    tokens = built(model, turn(0, "user", text)).tokens
    assert [token for token in tokens if token < FIRST_WORD] == [token for token in frames if token < FIRST_WORD]


def test_each_kind_of_thing_has_its_share_of_a_prompt() -> None:
    limits = Limits(context=16_000, high_water=9_000, low_water=6_000)
    shares = (limits.recalled, limits.references, limits.pins, limits.blocks, limits.lore, limits.passages)
    assert shares == (2_000, 2_000, 1_500, 1_500, 1_000, 600)
    assert limits.message == 6_000
    for role, most in (("user", 6_000), ("assistant", 6_000), ("tool", 1_000)):
        assert limits.of(turn(0, role, "hello")) == most


def test_a_block_is_quoted_with_its_version() -> None:
    assert [version_of(id) for id in ("block:persona@12", "block:a@b@3", "block:persona", "block:persona@x")] == [
        *(12, 3, 0, 0)
    ]
