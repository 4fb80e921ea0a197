"""The user's own clock."""

from datetime import tzinfo
from functools import cache


@cache
def local_zone() -> tzinfo:
    """The system's time zone."""
    from tzlocal import get_localzone

    return get_localzone()
