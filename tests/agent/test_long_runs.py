"""What somebody pastes, or sends, is read in time, also where one letter of it comes again and again."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from agent.importing.chats import moment
from agent.language.clauses import clauses
from agent.language.doubt import injected
from agent.language.sentences import sentences
from agent.references.address import addresses_in
from agent.story.book import Book, Entry
from agent.story.lore import TOO_SLOW, Lore, matching
from agent.stray import Stray
from graph.recall.intent import spoken

LONG = 60_000  # letters; what looks at each of them from each takes minutes
READERS: dict[str, Callable[[str], object]] = {
    "clauses": clauses,
    "sentences": sentences,
    "injected": injected,
    "moment": lambda text: moment(f"1{text}1"),
    "stray": Stray,
    "spoken": lambda text: spoken(text, now=datetime(2026, 11, 28, tzinfo=UTC), timezone=UTC),
    "addresses": lambda text: list(addresses_in(f"https://a.example/{text}")),
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", READERS)
def test_a_run_of_a_letter_is_read_in_time(name: str) -> None:
    for unit in (" ", "\n", "\n ", "\t", ".", "…", "—", "-", ")", "(", "“", "*", "a", "1", "and "):
        READERS[name](f"I live in Rome{unit * (LONG // len(unit))}b")


def lore(keys: Iterable[str], content: str = "x", *, regex: bool = False) -> Lore:
    entry = Entry(keys=tuple(keys), content=content, use_regex=regex)
    return Lore(content[:9] + str(regex), "Eve", content, entry)


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "entries",
    [
        [*(lore(["the"], f"{number} {'a' * 100_000}") for number in range(19)), lore("a" * n for n in range(1, 200))],
        [lore((f"(?:a|aa|.)+(?:b|.)+(?:c|.)+[0-9]{{{n}}}" for n in range(1, 400)), regex=True)],
    ],
    ids=["that stand within words", "patterns"],
)
def test_all_keys_of_a_book_together_take_so_long_and_no_longer(entries: list[Lore]) -> None:
    book = Book(entries=tuple(each.entry for each in entries), recursive=True)
    seen: list[Any] = [SimpleNamespace(text="the quick brown fox " * 200)]
    found, left_out = matching([(book, entries)], seen, lambda _: False)
    assert entries[-1] not in found
    assert [each.why for each in left_out] == [TOO_SLOW], "and it is told"
