"""Times and places in a row for people: 14:02, yesterday, Tuesday, 3 Jun; 1st, 2nd, 3rd."""

from datetime import datetime, timedelta


def when(at: datetime, now: datetime) -> str:
    """A time for people, in their own time zone: 14:02, yesterday, Tuesday, 3 Jun, 3 Jun 2024."""
    local = at.astimezone(now.tzinfo)
    days = (now.date() - local.date()) / timedelta(days=1)
    if days <= 0:
        return f"{local:%H:%M}"
    if days == 1:
        return "yesterday"
    if days < 7:
        return f"{local:%A}"
    return day(at, now)


def day(at: datetime, now: datetime) -> str:
    """The day of a time in people's own time zone, which stays true as time goes on: 3 Jun, 3 Jun 2024."""
    local = at.astimezone(now.tzinfo)
    return f"{local.day} {local:%b}" if local.year == now.year else f"{local.day} {local:%b %Y}"
