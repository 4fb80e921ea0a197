"""Text to tokens and back in a model's chat format, learnt from the GGUF's template; of a reply what may be seen.

What is seen of a reply is pure: bytes and token ids in, pieces out. A reasoning segment opens a reply (`<think>` …
`</think>`, as Qwen3 and DeepSeek write it); its tokens and the white space after it belong to nobody's reply.

A prompt that only ever grows needs frames that do not depend on what comes later. The template is rendered with
sentinels for texts; what stands around them is a role's frame. Then a whole conversation is rendered and compared with
the frames put together: a template that rewrites its past (moves the system text into the last message, say) fails that
check, and the built-in frames of its family are taken. The template is a program from a file someone gave us: it runs
in Jinja's sandbox, in a process of its own (models/frames.py).
"""

import codecs
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from models.protocols import FrameRole

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


USER, REPLY, SYSTEM = "qUser1Textq", "qReply1Textq", "qSystemTextq"
USER_2, REPLY_2 = "qUser2Textq", "qReply2Textq"
Message = tuple[FrameRole, str]


@dataclass(frozen=True, slots=True)
class ChatFormat:
    """The strings around each role's text; control tokens are written out in them. `start` begins a prompt.

    `first_user` replaces `start + user[0]` where the template opens a conversation without a system text its own way.
    """

    name: str
    start: str
    system: tuple[str, str]
    user: tuple[str, str]
    assistant: tuple[str, str]
    first_user: str | None = None

    def around(self, role: FrameRole, *, first: bool = False) -> tuple[str, str]:
        before, after = {"system": self.system, "user": self.user, "assistant": self.assistant}[role]
        if first and role == "user" and self.first_user is not None:
            return self.first_user, after
        return (self.start + before if first else before), after

    def join(self, messages: Sequence[Message]) -> str:
        """The whole conversation as the frames give it."""
        parts: list[str] = []
        for number, (role, text) in enumerate(messages):
            before, after = self.around(role, first=number == 0)
            parts += [before, text, after]
        return "".join(parts)


def _turns(kind: str, start: str, before: str, after: str, roles: tuple[str, str, str]) -> ChatFormat:
    system, user, assistant = ((before.format(role), after) for role in roles)
    return ChatFormat(kind, start, system, user, assistant)


_HEADER = "<|start_header_id|>{}<|end_header_id|>\n\n"
_NAMES = ("system", "user", "assistant")
# By the marker that gives a family away; the first whose marker is in the vocabulary (or the template) is taken.
BUILT_IN: tuple[tuple[str, ChatFormat], ...] = (
    ("<|im_start|>", _turns("chatml", "", "<|im_start|>{}\n", "<|im_end|>\n", _NAMES)),
    ("<|start_header_id|>", _turns("llama3", "<|begin_of_text|>", _HEADER, "<|eot_id|>", _NAMES)),
    ("<start_of_turn>", _turns("gemma", "<bos>", "<start_of_turn>{}\n", "<end_of_turn>\n", ("user", "user", "model"))),
    ("<|end|>", _turns("phi3", "", "<|{}|>\n", "<|end|>\n", _NAMES)),
    ("<|start_of_role|>", _turns("granite", "", "<|start_of_role|>{}<|end_of_role|>", "<|end_of_text|>\n", _NAMES)),
    (
        "[INST]",
        ChatFormat("mistral", "<s>", ("[INST] ", "[/INST]"), ("[INST] ", "[/INST]"), (" ", "</s>")),
    ),
)
PLAIN = ChatFormat("plain", "", ("", "\n\n"), ("User: ", "\n"), ("Assistant: ", "\n"))


def choose_format(template: str | None, learnt: ChatFormat | None, *, markers: Iterable[str]) -> ChatFormat:
    """The frames that were `learnt` from the model's own template, else those of its family, else plain ones.

    `markers` are the control and user-defined tokens of the vocabulary.
    """
    if learnt is not None:
        return learnt
    known = set(markers)
    for marker, built_in in BUILT_IN:
        if marker in known or (template and marker in template):
            return built_in
    return PLAIN


def learn(template: str, *, bos: str, eos: str) -> ChatFormat | None:
    """The frames of a Jinja template, or None if it has none that hold for a growing prompt.

    The template runs here, for as long as it likes: see models/frames.py. `bos` and `eos` are as the vocabulary writes
    them.
    """
    render = _Renderer(template, bos=bos, eos=eos)
    alone = render(_user(USER))
    asked = render(_user(USER), ask=True)
    talk = render(_user(USER), _reply(REPLY), _user(USER_2), _reply(REPLY_2))
    if alone is None or asked is None or talk is None or not asked.startswith(alone):
        return None
    first_user, _, user_after = alone.partition(USER)
    between, end_of_reply = _between(talk, USER, REPLY), talk.rpartition(REPLY_2)[2]
    again = _between(talk, REPLY, USER_2)
    if between is None or again is None or not between.startswith(user_after) or not again.startswith(end_of_reply):
        return None
    user = (again[len(end_of_reply) :], user_after)
    assistant = (between[len(user_after) :], end_of_reply)
    # Some models write their BOS before every turn; then one is part of the frame, and only a second one begins it.
    begin = bos * 2 if user[0].startswith(bos) else bos
    start = bos if bos and first_user.startswith(begin) else ""
    system = _system(render, user, start) or user
    learnt = ChatFormat("template", start, system, user, assistant, first_user)
    return learnt if _holds(learnt, render, with_system=system is not user) else None


def _system(render: "_Renderer", user: tuple[str, str], start: str) -> tuple[str, str] | None:
    """A system text's own frame; None where the template has no place for one of its own."""
    text = render(_system_text(SYSTEM), _user(USER))
    between = _between(text, SYSTEM, USER) if text is not None else None
    if text is None or between is None or not between.endswith(user[0]):
        return None
    before = text.partition(SYSTEM)[0].removeprefix(start)
    after = between[: len(between) - len(user[0])]
    return (before, after) if after.strip() else None


def _holds(learnt: ChatFormat, render: "_Renderer", *, with_system: bool) -> bool:
    """Every beginning of a conversation renders as the beginning of the whole, and as the frames put together."""
    talk = [_user(USER), _reply(REPLY), _user(USER_2), _reply(REPLY_2), _user(USER), _reply(REPLY)]
    talks = [talk, [_system_text(SYSTEM), *talk]] if with_system else [talk]
    return all(
        render(*messages[:length]) == learnt.join(messages[:length])
        for messages in talks
        for length in range(2, len(messages) + 1)
    )


def _between(text: str, left: str, right: str) -> str | None:
    _, found_left, rest = text.partition(left)
    middle, found_right, _ = rest.partition(right)
    return middle if found_left and found_right else None


def _user(text: str) -> Message:
    return "user", text


def _reply(text: str) -> Message:
    return "assistant", text


def _system_text(text: str) -> Message:
    return "system", text


class _Renderer:
    """The template in a sandbox; a conversation it refuses gives None."""

    def __init__(self, template: str, *, bos: str, eos: str) -> None:
        import jinja2
        from jinja2.ext import loopcontrols
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        def refuse(message: str) -> None:
            raise jinja2.TemplateError(message)

        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols], autoescape=False
        )
        # No strftime_now: a template that writes today's date would give other frames tomorrow.
        environment.globals.update(raise_exception=refuse, bos_token=bos, eos_token=eos)
        # What a foreign template may raise while it runs, all of it meaning "not usable".
        self._errors = (jinja2.TemplateError, TypeError, ValueError, LookupError, ArithmeticError, AttributeError)
        self._template: jinja2.Template | None = None
        try:
            self._template = environment.from_string(template)
        except (jinja2.TemplateError, RecursionError):
            return

    def __call__(self, *messages: Message, ask: bool = False) -> str | None:
        if self._template is None:
            return None
        try:
            talk = [{"role": role, "content": text} for role, text in messages]
            return self._template.render(messages=talk, add_generation_prompt=ask)
        except (*self._errors, RecursionError, MemoryError):
            return None


# A user-defined token that acts like a control token; others are runs of white space and the like.
MARKER = re.compile(r"[<\[].*[>\]]\Z", re.DOTALL)


class Tokenizer(Protocol):
    """A model's own tokens: llama.cpp's here, or on a server."""

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        """The tokens of `text`; with `special` what is written like a control token becomes it."""
        ...

    def piece(self, token: int) -> bytes: ...

    def marked_tokens(self) -> dict[int, str]:
        """The control and user-defined tokens, as they are written."""
        ...

    def is_control(self, token: int) -> bool: ...

    def is_end(self, token: int) -> bool: ...


class Vocabulary:
    """Text to tokens and back, in this model's chat format; no text of anyone becomes a control token."""

    def __init__(self, model: Tokenizer, format: ChatFormat, *, spaced: bool) -> None:
        """`spaced`: the tokenizer puts a space before every text."""
        self._model = model
        self._marked = model.marked_tokens()
        self.format = format
        self.spaced = spaced
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

    def frame(self, role: FrameRole, text: str, *, first: bool) -> list[int]:
        """A whole message."""
        before, after = self.around(role, first=first)
        return [*before, *self.text(text), *after]

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
