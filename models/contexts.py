"""The two contexts of a chat model, which trade places.

They are of one size. A prefill is evaluated in the background's, and when it is done that one simply becomes the
foreground's: nothing is copied, and until then the old prompt stays warm.
"""

from collections.abc import Sequence

from models.engine import Engine
from models.errors import EngineClosed
from models.native import NativeContext, NativeModel
from models.pace import Paces
from models.vocabulary import Vocabulary


class Contexts:
    """What the jobs of one model work on, on the engine's thread."""

    def __init__(
        self, model: NativeModel, front: NativeContext, engine: Engine, *, vocabulary: Vocabulary, paces: Paces
    ) -> None:
        self.model = model
        self.front = front
        self.vocabulary = vocabulary
        self.between = engine.between
        self.closed = False
        self._back: NativeContext | None = None
        self._engine = engine
        self._paces = paces

    def check_open(self) -> None:
        """Raises EngineClosed after `close`."""
        if self.closed:
            raise EngineClosed

    def back(self) -> NativeContext | None:
        """The background's context, made when it is first needed; None if there is no memory for it."""
        if self._back is None:
            self._back = NativeContext.make(self.model, self._engine.flag, size=self.front.size, paces=self._paces)
        return self._back

    def nearest(self, prompt: Sequence[int]) -> NativeContext:
        """The context that has evaluated more of `prompt`, as the foreground's; on the engine's thread.

        A prefill that was interrupted, or that nobody waited for, has left its work in the background's.
        """
        if self._back is not None and self._back.common(prompt) > self.front.common(prompt):
            self.swap()
        return self.front

    def swap(self) -> None:
        """The background's context becomes the foreground's; on the engine's thread."""
        if self._back is not None:
            self.front, self._back = self._back, self.front

    def holder(self, tokens: Sequence[int]) -> NativeContext:
        """The context that has most of `tokens`, cut back to what it has of them; on the engine's thread."""
        context = self.front
        if self._back is not None and self._back.common(tokens) > self.front.common(tokens):
            context = self._back
        context.keep_shared(tokens)
        return context

    def common(self, prompt: Sequence[int]) -> int:
        """How many tokens of `prompt` are evaluated already, in the one that has most; from any thread."""
        return max(context.common(prompt) for context in (self.front, self._back or self.front))

    def free(self) -> None:
        """Give the contexts and the model back."""
        self.front.free()
        if self._back is not None:
            self._back.free()
        self.model.free()
