"""Which session an id, the beginning of one, or `last` means."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from graph.errors import Ambiguous, NotFound
from graph.values import Session
from tui.commands.choosing import choose_session

NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)


def session(id: str, *, hours: int = 0, archived: bool = False) -> Session:
    at = NOON + timedelta(hours=hours)
    return Session(id, None, False, "main", None, None, archived, False, at, at, 2)


NEWEST = replace(session("01JAAAZZZ"), archived=True)
SESSIONS = [NEWEST, session("01JAAB"), session("01JAA")]


def test_a_whole_id_beats_the_longer_ones_that_begin_with_it() -> None:
    assert choose_session(SESSIONS, "01JAA").id == "01JAA"


def test_the_beginning_of_an_id_is_enough_in_any_case_of_letters() -> None:
    assert choose_session(SESSIONS, "01jaab").id == "01JAAB"


def test_last_is_the_newest_that_is_not_archived() -> None:
    assert choose_session(SESSIONS, "last").id == "01JAAB"


def test_a_beginning_that_fits_several_is_refused() -> None:
    with pytest.raises(Ambiguous, match="3 chats have ids starting with 01J"):
        choose_session(SESSIONS, "01J")


@pytest.mark.parametrize("wanted", ["02", "", "  ", "01JAAAZZZZ", "\udcff", "%"])
def test_what_fits_none_is_refused(wanted: str) -> None:
    with pytest.raises(NotFound, match="There is no chat"):
        choose_session(SESSIONS, wanted)


def test_last_of_none_says_how_to_begin() -> None:
    with pytest.raises(NotFound, match="Leave out `--session`"):
        choose_session([NEWEST], "last")
