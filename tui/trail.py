"""Where the reader was before each jump, to go back to: a pure value, tested without an app."""

from dataclasses import dataclass

LONGEST = 50


@dataclass(frozen=True, slots=True)
class ChatPlace:
    """A place in a chat: the session (None: a new chat) and the turn at the top of the view (None: the end)."""

    session: str | None
    turn: str | None


class Trail:
    """The places left by jumps, the newest last."""

    def __init__(self) -> None:
        self._places: list[ChatPlace] = []

    def leave(self, place: ChatPlace) -> None:
        """A jump leads away from here."""
        if not self._places or self._places[-1] != place:
            self._places = [*self._places, place][-LONGEST:]

    def back(self) -> ChatPlace | None:
        """The place before the last jump, once; None if there is none."""
        return self._places.pop() if self._places else None
