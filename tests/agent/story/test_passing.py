"""Time that passes, another place, and the end of a scene, as the user tells them; little else is taken for it."""

from pathlib import Path

from agent.story.passing import Passing, passing
from tests.phrases import scored
from tests.tables import each


def test_what_the_user_tells_is_found_and_little_else() -> None:
    def told(text: str) -> list[str]:
        found = passing(text)
        return [] if found is None else [found.sort]

    scored(Path(__file__).with_name("passing.toml"), told, 0.95, held_out=0.975)


TOLD = [
    ("Three days later, the ferry is back.", Passing("time", "Three days later")),
    ("Skip to the wedding.", Passing("time", "the wedding")),
    ("*we walk over to the old chapel, in the rain*", Passing("place", "the old chapel")),
    ("Cut to the harbour.", Passing("place", "the harbour")),
    ("Fade to black.", Passing("close", "")),
    ("((Three days later, please.)) Good evening.", None),
    ("", None),
    ("?" * 5000, None),
]


def test_it_is_told_in_which_words() -> None:
    def told(row: tuple[str, Passing | None]) -> None:
        assert passing(row[0]) == row[1]

    each(TOLD, told)
