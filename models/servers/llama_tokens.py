"""The tokens of a model on a llama-server: asked for over HTTP, and kept, as the same texts come again and again."""

from functools import lru_cache
from typing import Any

from models.errors import ServerBroken
from models.frames import learn_apart
from models.servers.client import RETRY, ServerClient
from models.template import MARKER, ChatFormat, Vocabulary, choose_format

KEPT = 2048  # texts
LONGEST_KEPT = 4096  # characters of one of them


class ServerTokenizer:
    """Tokenizes on a server; blocking, so that long texts want a thread. Every method raises ServerError.

    Of the control tokens it knows those that the chat format and the end of a text are written with: a server lists
    no others.
    """

    def __init__(self, client: ServerClient, format: ChatFormat, *, bos: str, eos: str) -> None:
        self._client = client
        self._kept = lru_cache(KEPT)(self._asked)
        roles = (format.system, format.user, format.assistant)
        written = {bos, eos, format.start, format.first_user or "", *(part for role in roles for part in role)}
        pieces = [piece for text in sorted(written) for piece in self._pieces(text, special=True)]
        self._marked = {token: text for token, text in pieces if text and MARKER.match(text)}
        self._ends = {token for token, text in self._marked.items() if text == eos}

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        return list(self._kept(text, special) if len(text) <= LONGEST_KEPT else self._asked(text, special))

    def piece(self, token: int) -> bytes:
        return self.words([token]).encode()

    def words(self, tokens: list[int]) -> str:
        """The text of `tokens`."""
        found = self._client.ask("/detokenize", {"tokens": tokens})
        if not isinstance(found, dict) or not isinstance(text := found.get("content"), str):
            raise unreadable(self._client, "text")
        return text

    def marked_tokens(self) -> dict[int, str]:
        return dict(self._marked)

    def is_control(self, token: int) -> bool:
        return token in self._marked

    def is_end(self, token: int) -> bool:
        return token in self._ends

    @property
    def spaced(self) -> bool:
        """Whether a space is put before every text."""
        return any(text.startswith((" ", "▁")) for _, text in self._pieces("a", special=False)[:1])

    def _asked(self, text: str, special: bool) -> tuple[int, ...]:
        if not text:
            return ()
        found = self._tokens({"content": text, "parse_special": special})
        if not all(isinstance(token, int) for token in found):
            raise unreadable(self._client, "tokens")
        return tuple(found)

    def _pieces(self, text: str, *, special: bool) -> list[tuple[int, str]]:
        """The tokens of a text, each as it is written; one that is no whole character as nothing."""
        asked = {"content": text, "parse_special": special, "with_pieces": True}
        made: list[tuple[int, str]] = []
        for found in self._tokens(asked) if text else ():
            match found:
                case {"id": int(token), "piece": str(piece)}:
                    made.append((token, piece))
                case {"id": int(token)}:
                    made.append((token, ""))
                case _:
                    raise unreadable(self._client, "tokens")
        return made

    def _tokens(self, asked: dict[str, Any]) -> list[Any]:
        found = self._client.ask("/tokenize", {"add_special": False, **asked})
        if not isinstance(found, dict) or not isinstance(tokens := found.get("tokens"), list):
            raise unreadable(self._client, "tokens")
        return tokens


def vocabulary_of(client: ServerClient, props: dict[str, Any]) -> tuple[Vocabulary, ServerTokenizer]:
    """The vocabulary of the model that a server's `/props` tell of. Blocking. Raises ServerError."""
    template, bos, eos = (props.get(name) for name in ("chat_template", "bos_token", "eos_token"))
    bos, eos = (text if isinstance(text, str) else "" for text in (bos, eos))
    template = template if isinstance(template, str) else None
    chosen = choose_format(template, learn_apart(template, bos=bos, eos=eos), markers=(bos, eos))
    tokenizer = ServerTokenizer(client, chosen, bos=bos, eos=eos)
    return Vocabulary(tokenizer, chosen, spaced=tokenizer.spaced), tokenizer


def unreadable(client: ServerClient, what: str) -> ServerBroken:
    """What it answered is not what was asked for."""
    return ServerBroken(client.address.name, f"it answered something else than {what}", RETRY)
