"""The tree as rows: what the chat took goes straight down, the rest is set in, however deep it is."""

from datetime import UTC, datetime

from graph.values import Branch
from tui.branch_handlers import head_of, painted, rows_of

AT = datetime(2025, 6, 3, tzinfo=UTC)


def branch(turn: str, *children: Branch, on_path: bool = False, head: bool = False, hidden: bool = False) -> Branch:
    return Branch(turn, "user", "you", None if hidden else turn, AT, on_path, head, hidden, children)


def test_side_branches_come_before_the_way_that_goes_on_and_are_set_in() -> None:
    left = branch("left", branch("on"))
    tree = branch("top", left, branch("took", branch("end", on_path=True, head=True), on_path=True), on_path=True)
    rows = rows_of([tree])
    assert [(row.branch.turn, row.depth) for row in rows] == [
        ("top", 0),
        ("left", 1),
        ("on", 1),
        ("took", 0),
        ("end", 0),
    ]
    assert head_of(rows) == "end"
    lines = [painted(row, 40, {})[0].plain for row in rows]
    assert lines == [
        "● you: top",
        "├─○ ‹1/2› you: left",
        "│ ○ you: on",
        "● ‹2/2› you: took",
        "◉ you: end",
    ]


def test_off_the_path_the_newest_goes_on_straight_and_five_thousand_turns_deep_is_no_matter() -> None:
    rows = rows_of([branch("top", branch("old"), branch("new"))])
    assert [(row.branch.turn, row.depth) for row in rows] == [("top", 0), ("old", 1), ("new", 0)]
    tree = branch("last", on_path=True, head=True)
    for number in range(5_000):
        tree = branch(f"T{number}", tree, on_path=True)
    rows = rows_of([tree])
    assert len(rows) == 5_001
    assert {row.depth for row in rows} == {0}


def test_what_is_hidden_is_not_told_and_forks_are_named() -> None:
    [row] = rows_of([branch("secret", hidden=True)])
    assert "secret" not in painted(row, 40, {})[0].plain
    fork = Branch("T", "user", "you", "words", AT, True, True, False, (), ("S2",))
    assert "↳ Atlantis" in painted(rows_of([fork])[0], 40, {"S2": "Atlantis"})[0].plain
