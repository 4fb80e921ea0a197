"""One question on its way to a query: what its words mean here, as parameters and conditions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from typing import Any

from graph.recall.times import Span

from .phrases import Fit
from .wording import subject

USER, ASSISTANT = "you", "assistant"
_SPEAKERS = {"i": USER, "me": USER, "you": ASSISTANT, "clew": ASSISTANT, "the assistant": ASSISTANT}


class Unfit(Exception):
    """A question that only looked like one of these."""


@dataclass(slots=True)
class Asking:
    """One question being made a query: its words, its time, the names there are, and the parameters as they come."""

    fit: Fit
    span: Span | None
    zone: tzinfo
    names: Mapping[str, str]  # by casefolded name
    speakers: Mapping[str, str]
    now: datetime
    parameters: dict[str, Any] = field(default_factory=dict)
    timed: bool = False

    def what(self, key: str = "what") -> str:
        """The words under `key` that a text is to have, as $what; how to call them in a sentence.

        Raises Unfit where they are no name of anything.
        """
        found = subject(self.fit.words.get(key, ""))
        if found is None:
            raise Unfit
        self.parameters["what"] = self.names.get(found.casefold(), found)
        return f"“{self.parameters['what']}”"

    def named(self, key: str, parameter: str) -> str:
        """The name under `key`, as it is written in the memory where it is there; how to call it. Raises Unfit."""
        found = subject(self.fit.words.get(key, ""))
        if found is None:
            raise Unfit
        self.parameters[parameter] = self.known(found) or found
        return f"“{self.parameters[parameter]}”"

    def known(self, said: str) -> str | None:
        """The name that is meant: this one in any case, or the only longer one that begins with these words."""
        key = said.casefold()
        longer = [name for folded, name in self.names.items() if folded.startswith(f"{key} ")]
        return self.names.get(key) or (longer[0] if len(longer) == 1 else None)

    def by(self, key: str = "by") -> tuple[list[str], str]:
        """A condition on who wrote `t`, if it matters, and "your messages", "messages", "messages of Ada"."""
        said = self.fit.words.get(key, "").casefold()
        if said in ("", "we"):
            return [], "messages"
        if said in _SPEAKERS:
            speaker = _SPEAKERS[said]
            return [f"t.speaker = '{speaker}'"], "your messages" if speaker == USER else "the assistant's replies"
        name = self.speakers.get((subject(said) or "").casefold())
        if name is None:
            raise Unfit  # of somebody who never spoke here nothing can be found
        self.parameters["who"] = name
        return ["lower(t.speaker) = lower($who)"], f"messages of “{name}”"

    def time(self, column: str = "t.at") -> list[str]:
        """Conditions on when it was."""
        self.timed = True
        conditions = []
        for name, sign, moment in (("since", ">=", self._since), ("until", "<", self._until)):
            if moment is not None:
                self.parameters[name] = moment.astimezone(self.zone).isoformat(timespec="seconds")
                conditions.append(f"{column} {sign} to_epoch_ms(timestamp(${name}))")
        return conditions

    @property
    def when(self) -> str:
        """The time in a sentence, with a blank before it; nothing where none was said."""
        since, until = self._since, self._until
        match since, until:
            case None, None:
                return ""
            case datetime(), None:
                return f" since {_day(since, self.zone)}"
            case None, datetime():
                return f" before {_day(until, self.zone)}"
        assert since is not None
        assert until is not None
        first, last = _day(since, self.zone), _day(until, self.zone)
        if "," in first or "," in last:  # a time of day
            return f" from {first} to {last}"
        last = _day(until - timedelta(hours=1), self.zone).partition(",")[0]
        return f" on {first}" if first == last else f" from {first} to {last}"

    @property
    def _since(self) -> datetime | None:
        return self.span.since if self.span else None

    @property
    def _until(self) -> datetime | None:
        return self.span.until if self.span else None


def _day(moment: datetime, zone: tzinfo) -> str:
    local = moment.astimezone(zone)
    day = f"{local.day} {local:%B} {local.year}"
    return day if (local.hour, local.minute) == (0, 0) else f"{day}, {local:%H:%M}"
