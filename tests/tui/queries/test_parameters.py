"""What a line stands for as a value, and that it comes back as the same line."""

from hypothesis import given
from hypothesis import strategies as st

from tui.queries.runner import line_of, value_of

LINES: tuple[tuple[str, object], ...] = (
    ("12", 12),
    ("-1.5", -1.5),
    ("true", True),
    ("null", None),
    ('["a", 1]', ["a", 1]),
    ('{"a": 1}', {"a": 1}),
    (" Mara ", "Mara"),
    ('"12"', "12"),
)
TEXTS = ("Mara", "", "NaN", "Infinity", "[1, 2", "2025-03-01", "[" * 100_000)


def test_a_line_is_json_where_it_is_json_and_else_text() -> None:
    for line, value in (*LINES, *((text, text) for text in TEXTS)):
        assert value_of(line) == value
        assert type(value_of(line)) is type(value)


@given(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\r"))
    | st.lists(st.integers())
)
def test_a_value_comes_back_from_its_line(value: object) -> None:
    assert value_of(line_of(value)) == value
    assert "\n" not in line_of(value)
