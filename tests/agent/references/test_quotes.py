"""What was read, as prompts quote it: which versions may stand where they are, and how much is kept of it all."""

from datetime import UTC, datetime
from hashlib import sha256

import pytest

from agent.errors import Unreadable
from agent.references import quotes
from agent.references.address import Address, read_address
from agent.references.client import Busy, WebClient
from agent.references.hosts import Hosts
from agent.references.quotes import ReferenceQuotes
from agent.references.reader import Reading, ReferenceReader
from graph.events.references import quoted_as
from graph.values import Reference, Vector
from tests.agent.reflection.told import no_vectors

AT = "at://ada.example/app.bsky.feed.post/3k"
NOW = datetime(2026, 11, 27, 6, tzinfo=UTC)


class Said(ReferenceReader):
    """Reads what it is told to."""

    def __init__(self) -> None:
        super().__init__(WebClient(lambda host, own, port: True))
        self.says: str | Unreadable = ""

    async def read(self, address: Address) -> Reading:
        if isinstance(self.says, Unreadable):
            raise self.says
        return Reading(address, self.says, NOW, sha256(self.says.encode()).hexdigest())


async def nothing(text: str) -> Vector | None:
    return None


def hosts() -> Hosts:
    return Hosts(lambda: "", lambda said: None, threads_from=lambda: "https://posts.example")


def reference(id: str = "R", address: str = AT) -> Reference:
    return Reference(id, "S", read_address(address).sort, address, NOW)


@pytest.fixture
def said() -> Said:
    return Said()


@pytest.fixture
def read(said: Said) -> ReferenceQuotes:
    return ReferenceQuotes(said, hosts(), vectors=no_vectors, query=nothing)


async def version(read: ReferenceQuotes, said: Said, says: str, of: Reference) -> str:
    """Have it say something; the name that it is quoted by."""
    said.says = says
    await read.refresh([of])
    reading, why = read.reading(of.id)
    assert (reading is not None, why) == (True, "")
    assert reading is not None
    return quoted_as(of.id, reading.hash)


async def test_a_thread_that_grows_takes_nothing_back_one_that_shrinks_does(read: ReferenceQuotes, said: Said) -> None:
    first = await version(read, said, "one", reference())
    second = await version(read, said, "one\ntwo", reference())
    assert (read.taken_back([first, second]), list(read.quotes([first, second]))) == (set(), [second])
    third = await version(read, said, "two\nthree", reference())
    assert read.taken_back([first, second, third]) == {first, second}
    again = await version(read, said, "one", reference())
    assert again == first
    assert read.taken_back([first]) == set(), "it says so again"


async def test_a_page_takes_nothing_back_when_it_changes(read: ReferenceQuotes, said: Said) -> None:
    page = reference(address="https://example.org/")
    names = [await version(read, said, f"number {each}", page) for each in range(3)]
    assert read.taken_back(names) == set()
    assert list(read.quotes(names)) == names[-1:]


@pytest.mark.parametrize(("error", "gone"), [(Busy("Busy."), False), (Unreadable("Gone."), True)], ids=["busy", "gone"])
async def test_what_cannot_be_read_goes_only_where_it_is_not_there_any_more(
    read: ReferenceQuotes, said: Said, error: Unreadable, gone: bool
) -> None:
    name = await version(read, said, "one", reference())
    said.says = error
    await read.refresh([reference()])
    assert read.reading("R")[1] == str(error)
    assert read.taken_back([name]) == ({name} if gone else set())
    assert list(read.quotes([name])) == ([] if gone else [name])


async def test_of_a_thread_that_changes_all_day_the_last_versions_are_known(read: ReferenceQuotes, said: Said) -> None:
    names = [await version(read, said, "\n".join(map(str, range(each + 1))), reference()) for each in range(30)]
    assert read.taken_back(names) == set(names[: -quotes.VERSIONS])


async def test_no_more_is_kept_than_fits(read: ReferenceQuotes, said: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quotes, "MOST_TEXT", 3000)
    there = [reference(f"R{each}", f"https://example.org/{each}") for each in range(6)]
    names = [await version(read, said, f"{each.id} {'x' * 990}", each) for each in there]
    assert list(read.quotes(names)) == names[-3:]
    assert read.taken_back(names) == set(), "what stands in a prompt may stay"
    monkeypatch.setattr(quotes, "MOST_KEPT", 2)
    last = await version(read, said, "short", reference("R9", "https://example.org/9"))
    assert list(read.quotes([*names, last])) == [names[-1], last]


async def test_what_is_forgotten_is_quoted_no_more(read: ReferenceQuotes, said: Said) -> None:
    name = await version(read, said, "one", reference())
    read.forget(["R"])
    assert read.quotes([name]) == {}
    assert read.reading("R") == (None, "")
