"""`clew about` as a dossier, and questions about relationships in plain words, on the command line."""

import pytest

from tests.tui.commands.conftest import Clew, refused


@pytest.mark.restarts
def test_about_tells_relationships_beliefs_and_times_before_the_words(clew: Clew) -> None:
    for stated in ("Ada works_with Bob", "Ada works_for Siemens"):
        assert clew("relate", stated, "--since", "2020").code == 0
    assert clew("relate", "Ada works_for Bosch", "--since", "2023-05").code == 0
    first = clew("remember", "Ada is allergic to peanuts", "--json").json
    assert clew("correct", first["id"], "Ada can eat peanuts again").code == 0
    found = clew("about", "ada", "--json").json
    assert found["name"] == "Ada"
    told = [(each["kind"], each["object"], each["until"]) for each in found["relationships"]]
    assert told == [("works_with", "Bob", None), ("works_for", "Bosch", None), ("works_for", "Siemens", "2023-05")]
    assert all(len(each["proofs"]) >= 1 for each in found["relationships"])
    assert [each["text"] for each in found["believed"]] == ["Ada can eat peanuts again"]
    assert [(each["text"], each["instead"]) for each in found["was"]] == [
        ("Ada is allergic to peanuts", found["believed"][0]["id"])
    ]
    seen = [(each["when"], each["what"]) for each in found["timeline"]][2:4]
    assert seen == [("2023-05", "no longer: Ada works for Siemens"), ("2023-05", "Ada works for Bosch")]
    page = clew("about", "Ada").out
    order = ["Ada —works with→ Bob", "Ada —worked for→ Siemens", "Believed now", "Believed before", "Timeline"]
    assert [page.index(each) for each in order] == sorted(page.index(each) for each in order)
    assert "Ada is allergic to peanuts → Ada can eat peanuts again" in page
    assert clew("about", "Nobody").out == ""


@pytest.mark.process
@pytest.mark.restarts
def test_how_two_are_related_is_told_in_words(clew: Clew) -> None:
    for stated in ("Ada works_with Bob", "Bob landlord_of Kim"):
        assert clew("relate", stated).code == 0
    told = clew("query", "--ask", "How is Ada related to Kim?")
    assert (told.code, "▲ Ada —works with→ ▲ Bob —is the landlord of→ ▲ Kim" in told.out) == (0, True), told
    assert "works with" in clew("query", "--ask", "who works with Ada?").out


def test_about_me_is_about_you_and_a_date_that_is_none_is_refused(clew: Clew) -> None:
    assert clew("relate", "me likes Zed").code == 0
    no_date = ("relate", "me likes Ida", "--since", "banana")
    refused(clew, (no_date, 1, "“banana” is no day, month or year. Nothing was stored."))
    found = clew("about", "me", "--json").json
    assert [(each["subject"], each["object"]) for each in found["relationships"]] == [("you", "Zed")]
