"""What somebody said of themselves is told to them, and nothing else is turned."""

from hypothesis import given
from hypothesis import strategies as st

from agent.language.person import as_you
from tests.agent.scored import tables
from tests.tables import each

TABLES = tables(__file__)


def test_what_is_sure_is_turned_and_nothing_else() -> None:
    def check(row: list[str]) -> None:
        said, told = row
        assert as_you(said) == (told or None)

    each(TABLES["turned"], check)


@given(st.text())
def test_any_text_is_turned_or_left(text: str) -> None:
    told = as_you(text)
    assert told is None or told
