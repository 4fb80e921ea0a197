"""What is no answer but a frame: a call of a tool, a header or a line of quotes, another's turn; and going in circles.

How the memory itself begins its answers is one too: a model that has seen one goes on to invent what was said.

A reply that begins with one shows nothing, and is drawn again; one that comes to one later ends before it. What may yet
become one is held back until it is told which it is. What the message itself has, or asks for, is no stray: who wants a
dialogue, or pastes a call, gets it. Within a block of code a line that begins as another's turn is code.
"""

import re

from agent.quoting import HEADERS
from agent.recounting import KNOWN, RECURRING, TALKED
from graph.events import StopReason

CALLED = ("recent_conversations(", "search_memory(", "open_turn(", "write_block(")  # that no sentence begins with
ROLES = ("user", "assistant", "system", "human")
CALLS = r"json|schema|api|(?:tool|function)[- ]?call\w*|calls? (?:to )?(?:an? |the )?(?:tool|function)s?"
DIALOGUES = "dialog(?:ue)?s?|screenplays?|transcripts?|interviews?|yaml"
# What begins a frame, and the words of a message that asks for such a thing.
KINDS = (
    (r'(?:```\w*\s*)?\{\s*"tool"\s*:', CALLS),
    (r'(?:```\w*\s*)?\{\s*"name"\s*:\s*"\w+"\s*,\s*"(?:arguments|parameters)"', CALLS),
    ("|".join(map(re.escape, CALLED)), CALLS),
    (r"</?tool_call|\[TOOL_CALLS\]|<function=|<\||<(?:start|end)_of_turn>|\[/?INST\]|<<SYS>>", "tokens?|templates?"),
    (r"</?think(?:ing)?>", "think(?:ing)? tags?|thinking"),
    *((rf"\[?{role}\]?\s*:", f"{role}s?|{DIALOGUES}") for role in ROLES),
    (r'- (?:#\w{6} )?\d{4}-\d\d-\d\d,? (?:the )?(?:user|assistant): "', "logs?"),
    (r"\[From \S+, read \d", "quotes?"),
)
REPEATED = re.compile(
    r"\b(?:(?:\d+|three|four|five|six|seven|eight|nine|ten|twenty|fifty|a hundred|many) times|repeat\w*|refrain|chorus"
    r"|over and over|again and again)\b",
    re.IGNORECASE,
)
# What may yet become one of them, as far as it has come.
PARTLY = re.compile(
    r'(?:`{1,3}\w*\s*)?(?:\{\s*(?:"(?:t|to|too|tool"?|n|na|nam|name"?)?\s*)?)?'
    r'|(?:`{3}\w*\s*)?\{\s*"name"\s*:\s*(?:"\w*(?:"\s*(?:,\s*(?:"\w*)?)?)?)?'
    r"|[<\[][/|<]{0,2}\w{0,20}[|>]?"
    r"|\[From(?: \S*(?: r?e?a?d?)?)?"
    r'|- (?:#\w{0,6} ?)?(?:\d{1,4}|\d{4}-\d{0,2}|\d{4}-\d\d-\d{0,2}|\d{4}-\d\d-\d\d,[^:\n"]{0,60}(?:: ?)?)?'
)
BEGINNINGS = (*CALLED, *(f"{role}{mark}:" for role in ROLES for mark in ("", " ", "]", "] ")))
FENCE = "```"
LETTERS = re.compile(r"[^\W\d_]{2}")
LONGEST_UNIT = 400  # characters of what is said over and over, of which
LEAST_UNIT = 24  # so many three times are enough to expect a fourth,
SHORT_UNIT, TIMES = 4, 7  # and of less, or in code, so many times
CERTAIN = 40  # characters that tell that it comes again


class Stray:
    """Watches one reply as it comes; `asked` is the message."""

    def __init__(self, asked: str) -> None:
        kinds = (
            kind
            for kind, words in KINDS
            if re.search(rf"^[^\S\n]*(?:{kind})", asked, re.IGNORECASE | re.MULTILINE) is None
            and re.search(rf"\b(?:{words})\b", asked, re.IGNORECASE) is None
        )
        self._begins = re.compile("|".join(kinds), re.IGNORECASE)
        self._may_repeat = REPEATED.search(asked) is not None
        self._lines = [line for line in (*HEADERS, TALKED, KNOWN, RECURRING) if line not in asked]
        self._line = 0  # where the last line begins: those before it are the reply's own
        self._circle: tuple[int, str] | None = None  # from where on it may be saying again what
        self.met = False
        self.why = StopReason.END

    def kept(self, text: str, *, ended: bool = False) -> int:
        """How many characters of a reply, as far as it has come, are its own and may be shown."""
        while True:
            start, end = self._line, text.find("\n", self._line)
            if self._strays(text, start):
                self.met = True
                return len(text[:start].rstrip())
            if end < 0 or PARTLY.fullmatch(text.lstrip()):
                break
            self._line = end + 1
        if not ended and self._may_stray(text, start):
            return len(text[:start].rstrip())
        return self._before_circle(text, ended=ended)

    def _strays(self, text: str, start: int) -> bool:
        """Whether the line that begins there is a frame; at the head of a reply a call may go over several."""
        line = text[start:].lstrip()
        return not _in_code(text, start) and (
            self._begins.match(line) is not None or any(map(line.startswith, self._lines))
        )

    def _may_stray(self, text: str, start: int) -> bool:
        line = text[start:].lstrip()
        if _in_code(text, start):
            return False
        begun = [*self._lines, *BEGINNINGS]
        return any(each.startswith((line, line.lower())) for each in begun) or PARTLY.fullmatch(line) is not None

    def _before_circle(self, text: str, *, ended: bool) -> int:
        """All of it, or up to where it begins to say once more what it has said over and over."""
        if self._circle is None and not ended:
            self._circle = None if self._may_repeat else _circle(text)
            return len(text)
        if self._circle is None:
            return len(text)
        start, unit = self._circle
        more = text[start:]
        if not (unit * (len(more) // len(unit) + 1)).startswith(more):
            self._circle = None
            return len(text)
        if len(more) >= min(len(unit), CERTAIN):
            self.met, self.why = True, StopReason.REPEATING
        return len(text) if ended and not self.met else start


def _circle(text: str) -> tuple[int, str] | None:
    """Where a text ends that has just said something over and over, and what."""
    code = _in_code(text, len(text))
    for length in range(SHORT_UNIT, min(LONGEST_UNIT, len(text) // 3) + 1):
        unit = text[-length:]
        if text.endswith(unit * (3 if length >= LEAST_UNIT and not code else TIMES)) and LETTERS.search(unit):
            return len(text), unit
    return None


def _in_code(text: str, start: int) -> bool:
    return text.count(FENCE, 0, start) % 2 == 1
