"""Turns sampled tokens into what a reader may see: whole characters, and none of the model's reasoning.

Pure: bytes and token ids in, pieces out. A reasoning segment opens a reply (`<think>` … `</think>`, as Qwen3 and
DeepSeek write it); its tokens and the white space after it belong to nobody's reply.
"""

import codecs
from dataclasses import dataclass, field

_utf8 = codecs.getincrementaldecoder("utf-8")
OPEN, CLOSE = "<think>", "</think>"


@dataclass
class ReplyText:
    """Collects tokens; `take` gives what is ready since the last time, `thinking` whether a segment is open."""

    skip_space: bool = False  # SentencePiece writes a space before the first word
    thinking: bool = False
    _decoder: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-8")("replace")
    )
    _begun: bool = False
    _after_thought: bool = False
    _head: str = ""
    _held: list[int] = field(default_factory=list)
    _tokens: list[int] = field(default_factory=list)
    _text: list[str] = field(default_factory=list)

    @property
    def begun(self) -> bool:
        """Whether a token was taken for the reply itself."""
        return self._begun

    def push(self, token: int, data: bytes) -> None:
        """One sampled token and the bytes it stands for."""
        text = self._decoder.decode(data)
        if self._begun:
            self._tokens.append(token)
            self._text.append(text)
        elif self.thinking:
            self._think(token, text)
        else:
            self._open(token, text)

    def take(self) -> tuple[tuple[int, ...], str]:
        """Tokens and text that became ready; a character cut in two waits for its other bytes."""
        taken = tuple(self._tokens), "".join(self._text)
        self._tokens.clear()
        self._text.clear()
        return taken

    def end(self) -> tuple[tuple[int, ...], str]:
        """The last of it: what was held back in case it became a segment, and a broken character as U+FFFD."""
        if not self._begun and not self.thinking and self._held:
            self._begin(self._head)
        tail = self._decoder.decode(b"", True)
        if self._begun:
            self._text.append(tail)
        return self.take()

    def _open(self, token: int, text: str) -> None:
        """At the head of a reply: held back while it may still become `<think>`."""
        self._held.append(token)
        self._head += text
        head = self._head.lstrip()
        if head.startswith(OPEN):
            self.thinking = True
            self._held.clear()
            self._head = ""
            self._think(token, head[len(OPEN) :])
        elif self._after_thought and not head:
            self._held.clear()  # the white space between a segment and the reply
            self._head = ""
        elif not OPEN.startswith(head):
            self._begin(self._head)

    def _begin(self, text: str) -> None:
        self._begun = True
        if self._after_thought:
            text = text.lstrip()
        elif self.skip_space:
            text = text.removeprefix(" ")
        self._tokens += self._held
        self._text.append(text)
        self._held.clear()

    def _think(self, token: int, text: str) -> None:
        self._head = (self._head + text)[-200:]
        _, closed, rest = self._head.partition(CLOSE)
        if closed:
            self.thinking = False
            self._after_thought = True
            self._head = ""
            if rest.strip():
                self._open(token, rest)
