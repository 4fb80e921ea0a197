"""How fast a server reads: a part that every request costs, and a part for each token of it.

Where a server has others to serve too, a request of eight tokens takes as long as one of a hundred; steps that only got
smaller because they take long would take ever longer in all.
"""

from collections import deque

STEP_S = 0.1  # of evaluating, as what a closed connection leaves unfinished is evaluated to its end
FIRST_STEP, LEAST_STEP, LONGEST_STEP = 64, 16, 2048  # tokens
STEPS = 8  # by which it is known
LONGEST_S = 1e6  # what takes longer, or no time that could be, is no pace


class Pace:
    """By the last steps."""

    def __init__(self) -> None:
        self._steps: deque[tuple[int, float]] = deque(maxlen=STEPS)

    def note(self, tokens: int, seconds: float) -> None:
        """So many tokens took so long."""
        if tokens >= LEAST_STEP // 2 and 0 <= seconds < LONGEST_S:
            self._steps.append((tokens, seconds))

    @property
    def reading_s(self) -> float | None:
        """Seconds a token; None before the first step."""
        total = sum(tokens for tokens, _ in self._steps)
        return sum(seconds for _, seconds in self._steps) / total if total else None

    def step(self) -> int:
        """Tokens for about STEP_S; where a request costs more than half of that, as many as cost the same again."""
        if not self._steps:
            return FIRST_STEP
        each, fixed = self._parts()
        wanted = max(STEP_S - fixed, fixed) / max(each, 1e-9)
        return max(LEAST_STEP, min(LONGEST_STEP, int(wanted)))

    def _parts(self) -> tuple[float, float]:
        """Seconds for each token, and for a request; as good as the steps tell them apart."""
        count = len(self._steps)
        tokens, seconds = (sum(each) / count for each in zip(*self._steps, strict=True))
        spread = sum((each - tokens) ** 2 for each, _ in self._steps)
        if not spread:
            return seconds / tokens, 0.0
        slope = sum((each - tokens) * (took - seconds) for each, took in self._steps) / spread
        slope = max(slope, 0.1 * seconds / tokens)  # noise makes a lie of it, and no token costs nothing
        return (slope, max(0.0, seconds - slope * tokens)) if slope * tokens < seconds else (seconds / tokens, 0.0)
