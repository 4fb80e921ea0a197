"""Text to tokens and back, in a model's chat format."""

import re
from collections.abc import Sequence

from models.header import GgufHeader
from models.native import NativeModel
from models.protocols import FrameRole
from models.reply import CLOSE, OPEN
from models.template import choose_format

# A user-defined token that acts like a control token; others are runs of white space and the like.
MARKER = re.compile(r"[<\[].*[>\]]\Z", re.DOTALL)


class Vocabulary:
    """Text to tokens and back, in this model's chat format; no text of anyone becomes a control token."""

    def __init__(self, model: NativeModel, header: GgufHeader) -> None:
        self._model = model
        self._marked = model.marked_tokens()
        special = {str(header.values.get(f"tokenizer.ggml.{kind}_token_id")): kind for kind in ("bos", "eos")}
        named = {kind: model.piece(int(token)).decode() for token, kind in special.items() if token.isdigit()}
        self.format = choose_format(
            header.chat_template, bos=named.get("bos", ""), eos=named.get("eos", ""), markers=self._marked.values()
        )
        space = header.values.get("tokenizer.ggml.add_space_prefix", True)
        self.spaced = header.values.get("tokenizer.ggml.model") == "llama" and bool(space)
        self._around: dict[tuple[FrameRole, bool], tuple[list[int], list[int]]] = {}
        self._reply_pieces: dict[int, bytes] = {}
        frames = {token for role in ("system", "user", "assistant") for part in self.around(role) for token in part}
        controls = {token for token in self._marked if model.is_control(token)}
        self.ends = {token for token in self._marked if model.is_end(token)} | (controls & frames)
        self._forbidden = {token for token, text in self._marked.items() if token in controls or MARKER.match(text)}
        self.never_in_text = sorted(token for token in self._forbidden if not model.is_end(token))

    def around(self, role: FrameRole, *, first: bool = False) -> tuple[list[int], list[int]]:
        """The tokens before and after a message."""
        found = self._around.get((role, first))
        if found is None:
            before, after = self.format.around(role, first=first)
            if self.spaced:
                before = before.removesuffix(" ")  # the tokenizer puts one before every text
            found = self._model.tokenize(before, special=True), self._model.tokenize(after, special=True)
            self._around[role, first] = found
        return found

    def text(self, text: str) -> list[int]:
        """Plain tokens of `text`. A marker that the tokenizer knows even in plain text is broken up."""
        tokens = self._model.tokenize(text, special=False)
        met = self._forbidden.intersection(tokens)
        if not met:
            return tokens
        marker = max((self._marked[token] for token in met), key=len)
        if len(marker) < 2 or marker not in text:
            return [token for token in tokens if token not in met]
        inside = f"(?<={re.escape(marker[0])})(?={re.escape(marker[1:])})"
        return [token for part in re.split(inside, text) for token in self.text(part)]

    def words(self, tokens: Sequence[int]) -> str:
        """The text of `tokens`, control tokens left out."""
        text = b"".join(self.reply_piece(token) for token in tokens).decode("utf-8", "replace")
        return text.removeprefix(" ") if self.spaced else text

    def reply_piece(self, token: int) -> bytes:
        """The bytes a sampled token adds to a reply: nothing for control tokens but the marks of reasoning."""
        found = self._reply_pieces.get(token)
        if found is None:
            found = self._model.piece(token)
            if token in self._marked and self._model.is_control(token) and found.decode() not in (OPEN, CLOSE):
                found = b""
            self._reply_pieces[token] = found
        return found
