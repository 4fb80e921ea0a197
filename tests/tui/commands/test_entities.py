"""Who somebody is, said from the shell."""

import pytest

from tests.tui.commands.conftest import Clew, refused
from tui.entities import typed


def listed(clew: Clew) -> list[tuple[str, str, list[str]]]:
    """Name, kind and other names of all but the user."""
    found = clew("entity", "--json").json
    return [(each["name"], each["kind"], each["others"]) for each in found if each["id"] != "you"]


@pytest.mark.restarts
def test_people_are_listed_renamed_merged_and_told_apart_again(clew: Clew) -> None:
    assert listed(clew) == []
    for said in ("Ada trusts Bobby", "Bob works_for Siemens"):
        assert clew("relate", *said.split()).code == 0
    assert listed(clew) == [
        ("Ada", "person", []), ("Bob", "person", []), ("Bobby", "person", []), ("Siemens", "organisation", []),
    ]  # fmt: skip
    merged = clew("entity", "merge", "Bob", "Bobby")
    assert merged.code == 0
    assert merged.out.startswith("Bob · person · also Bobby · ")
    assert "Bobby is Bob: they are one." in merged.err
    assert "Ada —trusts→ Bob " in clew("relations", "bobby").out
    assert clew("entity", "rename", "Ada", "Ada Lovelace").code == 0
    assert clew("entity", "alias", "ada lovelace", "my sister").code == 0
    assert clew("entity", "kind", "Siemens", "group").code == 0
    about = clew("about", "my", "sister", "--json").json
    assert [each["object"] for each in about["relationships"]] == ["Bob"]
    assert listed(clew) == [
        ("Ada Lovelace", "person", ["my sister"]), ("Bob", "person", ["Bobby"]), ("Siemens", "group", []),
    ]  # fmt: skip
    undone = [clew("undo").err for _ in range(4)]
    assert undone == [
        "You said what Siemens is: a group; that has been undone.\n",
        "You gave Ada Lovelace the alias “my sister”; that has been undone.\n",
        "You gave Ada the name “Ada Lovelace”; that has been undone.\n",
        "You merged Bobby into Bob; that has been undone.\n",
    ]
    assert [name for name, _, _ in listed(clew)] == ["Ada", "Bob", "Bobby", "Siemens"]


@pytest.mark.restarts
def test_what_cannot_be_is_refused_in_words(clew: Clew) -> None:
    assert clew("relate", "Ada works_for Siemens").code == 0
    for words, code, told in (
        ("rename Zed Zoe", 66, "Nobody and nothing is called “Zed”. Nothing was changed. `clew entity` lists"),
        ("rename Ada", 1, "`rename` takes NAME NEW. Nothing was changed. Put names of several words in quotes"),
        ("merge Ada Siemens", 1, "Ada is a person and Siemens an organisation. Nothing was changed."),
        ("kind Ada robot", 1, "There is no kind “robot”. Nothing was changed. Choose from: person,"),
        ("alias Ada Siemens", 1, "“Siemens” is somebody else already: Siemens (an organisation; "),
        ("merge Ada ada", 1, "Both are Ada already. Nothing was changed."),
        ("merge Ada Bob --another", 1, "--another with `rename`"),
        ("split Ada nowhere", 1, "nowhere is no message or memory that names Ada. Nothing was changed."),
    ):
        refused(clew, (("entity", *words.split()), code, told))


def test_one_line_has_names_in_quotes_and_options() -> None:
    assert typed('rename Ada "Ada Lovelace" --another') == (["rename", "Ada", "Ada Lovelace"], None, True)
    assert typed("split Ada 01AB --as 'Ada B'") == (["split", "Ada", "01AB"], "Ada B", False)
