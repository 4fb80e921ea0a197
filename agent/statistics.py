"""The numbers of the charts, for the faces."""

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graph.asked import Asked
    from graph.statistics import Statistics


class Counting:
    """What the Agent counts of its memory."""

    @property
    def _graphed(self) -> "Asked":
        """The memory that is asked."""
        raise NotImplementedError

    async def statistics(self) -> "Statistics":
        """How much is in the memory since when, and how fast replies came. Raises GraphFailure."""
        return await asyncio.to_thread(self._graphed.statistics, now=datetime.now(UTC))
