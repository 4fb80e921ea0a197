"""Whom a sentence names: names, possessives, words of relationship and pronouns, read as chunks of its tokens."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from agent.relations.words import Language, Noun, Token

OPENS, CLOSES = (",", "(", "-", "–", "—", ":", "="), (",", ")", "-", "–", "—", ";", ".", "!", ":")
GROWN = 18  # years; whoever is called by "my" and a name, and is younger, is the speaker's child
LISTS = (":", "=", "-", "–", "—")
ASIDE = 6  # tokens of what may stand in brackets after a name of a list
OURS = ("works_with", "friend_of", "neighbour_of")
OF_WORK = ("manages", "works_with", "works_for", "teaches", "treats", "landlord_of", "neighbour_of", "lives_with")


@dataclass(frozen=True, slots=True)
class Kin:
    """Somebody without a name in the text: the owner's sister, boss or landlord."""

    owner: str
    word: str


End = str | Kin


@dataclass(frozen=True, slots=True)
class Called:
    """That somebody is somebody's sister or boss; `over`: was."""

    owner: End
    noun: Noun
    who: End
    over: bool
    first: bool = False  # whether `who` was said first


@dataclass(slots=True)
class Chunk:
    """Who is named up to token `end` (nobody who is known: no `ends`), and what that tells by itself.

    Of "Ada's boss", without a name, `noun` and `owner` are told.
    """

    ends: list[End]
    end: int
    told: list[Called] = field(default_factory=list)
    noun: Noun | None = None
    owner: End | None = None
    over: bool = False
    parts: "list[Chunk]" = field(default_factory=list)
    also: End | None = None  # who "we" are, besides who speaks


@dataclass(slots=True)
class Known:
    """Who was named in a text so far: where first, and of which gender as far as words tell it."""

    speaker: str
    words: Language
    people: dict[End, tuple[int, str | None]] = field(default_factory=dict)
    kin: dict[End, str] = field(default_factory=dict)
    small: set[str] = field(default_factory=set)  # names that were written in lower case
    things: set[End] = field(default_factory=set)
    groups: set[End] = field(default_factory=set)  # bands, clubs
    group: list[End] = field(default_factory=list)  # the last ones who were named together

    def call(self, kin: Kin, name: str) -> None:
        """Somebody's sister has a name."""
        self.kin[kin] = name
        self.people.pop(kin, None)

    def note(self, end: End, at: int, gender: str | None = None) -> None:
        first, known = self.people.get(end, (at, None))
        if end != self.speaker:
            self.people[end] = (min(first, at), gender or known or self._usual(end))

    def _usual(self, end: End) -> str | None:
        """Of which gender most people of a name are; None where that is unclear."""
        first = end.split()[0].lower() if isinstance(end, str) and end else ""
        return "f" if self.words.has("women", first) else "m" if self.words.has("men", first) else None

    def one(self, gender: str, at: int, but: Sequence[End]) -> list[End]:
        """Whom he or she is, where only one can be."""
        fitting = [
            end
            for end, (first, known) in self.people.items()
            if first < at and known in (None, gender) and end not in but and end not in self.things
        ]
        sure = [end for end in fitting if self.people[end][1] == gender]
        return next((each for each in (fitting, sure) if len(each) == 1), [])

    def others(self, at: int) -> list[End]:
        """All people who were named before."""
        return [end for end, (first, _) in self.people.items() if first < at and end not in self.things]

    def all(self, at: int) -> list[End]:
        """Whom "they" are, where nobody but them was named."""
        people = self.others(at)
        return people if len(people) == 2 or set(people) == set(self.group) else []


@dataclass(slots=True)
class Naming:
    """Reads the chunks of one sentence; `start` is where it begins among all tokens of the text."""

    tokens: Sequence[Token]
    words: Language
    known: Known
    start: int
    subject: list[End] = field(default_factory=list)  # whom no pronoun means while its object is read
    near: list[End] = field(default_factory=list)  # who stands before "and"
    ended: dict[int, Chunk] = field(default_factory=dict)  # who was named, by where that ended

    def low(self, at: int) -> str:
        return self.tokens[at].low if 0 <= at < len(self.tokens) else ""

    def has(self, role: str, at: int) -> bool:
        return self.words.has(role, self.low(at))

    def chunk(self, at: int, *, whole: bool = False) -> Chunk | None:
        """Who is named from a token on: one, or a list. `whole`: of a list, only what surely belongs together."""
        self.near = self.ended[at - 1].ends if self.has("and", at - 1) and at - 1 in self.ended else []
        first, self.near = self.single(at), []
        if first is None:
            return None
        parts, end, joined = [first], first.end, False
        while not joined and (self.low(end) == "," or self.has("and", end)):
            joined = self.has("and", end) or self.has("and", end + 1)
            self.near = parts[-1].ends
            begin = end + 1 + (self.low(end) == "," and self.has("and", end + 1))
            other = self.has("nominative", begin) and not self.has("speaker", begin)  # "a sister, Ada, and she's tall"
            next_ = (
                None
                if other and self.low(begin + 1) in self.words.forms
                else self._one(begin) or self._another(begin, parts[-1])
            )
            if next_ is None:
                joined = False
                break
            parts.append(next_)
            end = next_.end
            joined = joined and not self.has("and", end)
        self.near = []
        followed = whole and end < len(self.tokens) and self.tokens[end].word
        if len(parts) == 1 or not joined or (followed and not self._goes_on(end, parts[-1])):
            return first
        speaker = self.known.speaker  # "Ada and Bob's son" is one, or two
        owned = any(part.noun and part.owner not in (None, speaker) for part in parts[1:])
        unclear = owned or not all(part.ends for part in parts)
        ends = [] if unclear else [each for part in parts for each in part.ends]
        self.known.group = ends
        return Chunk(ends, end, [told for part in parts for told in part.told], parts=parts)

    def _another(self, at: int, before: Chunk) -> Chunk | None:
        """Who is called by one more word of the owner's: "my daughter Zoe and son Max"."""
        told = before.told[-1] if before.told else None
        if told is None or told.first or self._matching(at)[1] is None:
            return None
        found = self._noun(at, told.owner, given=True)
        return found if found is not None and found.told else None

    def _goes_on(self, at: int, last: Chunk) -> bool:
        """Whether a list surely ends before a word: not "at Siemens and Tom at Bosch"."""
        return self.has("joins", at) or (bool(last.told) and self.has("after", at) and not self.has("tells", at))

    def aside(self, at: int) -> int:
        """Where what only says which one ends: "Trevor from the flat upstairs"."""
        size = self.words.starts("aside", self.tokens, at)
        if size or not self.has("aside_begins", at):
            return at + size
        for end in range(at + 2, at + 6):
            closed = end < len(self.tokens) and (self.low(end) in OPENS or self.low(end) in self.words.forms)
            if closed and all(token.text.isalnum() and not token.capital for token in self.tokens[at:end]):
                return end
        return at

    def _from_where(self, at: int) -> int:
        """Where "at Bombardier" ends in "our gaffer at Bombardier, Ken Tully"."""
        end, name = self.name(at + 1) if self.has("aside_begins", at) else (at, "")
        listed = self.low(end) == "," and end + 1 < len(self.tokens) and self.tokens[end + 1].capital
        return end if name and listed and not self.words.starts("places", self.tokens, end + 1) else at

    def single(self, at: int) -> Chunk | None:
        """The one who is named from a token on."""
        one = self._one(at)
        if one is None:
            return None
        self._placed(one)
        chunk = self.ended[one.end] = self._apposed(one, at)
        return self.ended.setdefault(chunk.end, chunk)

    def _placed(self, one: Chunk) -> None:
        """What "Rita from next door" and "Chris from work" tell, of who speaks."""
        size, noun = self.words.calls(self.tokens, one.end)
        who = one.ends[0] if len(one.ends) == 1 else self.known.speaker
        if noun is not None and isinstance(who, str) and who not in (self.known.speaker, *self.known.things):
            one.told = [*one.told, Called(self.known.speaker, noun, who, False)]
            one.end += size

    def named(self) -> set[End]:
        """All whom the sentence names, or means by a word of relationship or a pronoun."""
        found: set[End] = set()
        at = 0
        while at < len(self.tokens):
            chunk = self.single(at)
            told = chunk.told if chunk else ()
            ends = [*(chunk.ends if chunk else ()), *(end for each in told for end in (each.owner, each.who))]
            found |= {*ends, *(end.owner for end in ends if isinstance(end, Kin))}
            at = max(chunk.end, at + 1) if chunk else at + 1
        return found

    def before(self, at: int) -> Chunk | None:
        """The one who was named right before a token, or before a comma."""
        chunk = self.ended.get(at) or (self.ended.get(at - 1) if self.low(at - 1) == "," else None)
        return chunk if chunk and len(chunk.ends) == 1 and chunk.ends[0] != self.known.speaker else None

    def ours(self, chunk: Chunk, at: int) -> Chunk:
        """ "A colleague", "a good friend": where nothing else is said, of who speaks."""
        if chunk.noun is None or chunk.owner is not None or chunk.ends or not self.has("some", at):
            return chunk
        if chunk.noun.kind not in OURS or chunk.noun.plural:
            return chunk
        return replace(chunk, ends=[Kin(self.known.speaker, chunk.noun.word)], owner=self.known.speaker)

    def _one(self, at: int) -> Chunk | None:
        chunk = self._begun(at)
        while chunk is not None and self.low(chunk.end) == self.words.option("possessive"):
            if self.has("name", chunk.end + 1):
                chunk.end += 2
                break
            owned = self._noun(chunk.end + 1, chunk.ends[0] if len(chunk.ends) == 1 else None, given=True)
            if owned is None:
                break
            owned.told = chunk.told + owned.told
            chunk = owned
        return chunk

    def _of_age(self, at: int) -> Chunk | None:
        """After "my": "Kofi is 3", "Kofi (3)", somebody's child."""
        noun = self.words.nouns.get((str(self.words.option("child")),))
        if noun is None or at >= len(self.tokens) or not self.tokens[at].capital or not self.has("people", at):
            return None
        end, name = self.name(at)
        begins = end + (self.low(end) == "(" or self.words.starts("aged", self.tokens, end))
        age = self.low(begins)
        if not name or begins == end or not age.isdigit() or int(age) >= GROWN or not self._closed_age(begins + 1):
            return None
        self.known.note(name, self.start + at)
        return Chunk([name], end, [Called(self.known.speaker, noun, name, False)])

    def _closed_age(self, at: int) -> bool:
        return self.has("ages", at) or self._closed(at)

    def _begun(self, at: int) -> Chunk | None:
        speaker = self.known.speaker
        dialect = self.has("mine_of_kin", at) and self._matching(at + 1)[1]  # "me mate Dave"
        if dialect or self.words.starts("the_mine", self.tokens, at):
            return self._noun(at + 1, speaker, given=True)
        if self.has("speaker", at):
            others = self.known.others(self.start + at) if self.has("ours", at) else []
            return Chunk([speaker], at + 1, also=others[0] if len(others) == 1 else None)
        if self.has("mine", at):
            return self._noun(at + 1, speaker, given=True) or self._of_age(at + 1) or self._some(at + 1)
        if self.has("they", at):
            return Chunk(who, at + 1) if (who := self.known.all(self.start + at)) else None
        owners = self.known.all(self.start + at) if self.has("theirs", at) else []
        if len(owners) == 2 and (owned := self._noun(at + 1, owners[0], given=True)) is not None:
            also = [replace(told, owner=owners[1]) for told in owned.told if told.owner == owners[0]]
            return replace(owned, told=[*owned.told, *also]) if also else None
        if self.has("whose", at):
            whom = self.before(at)
            if whom and self.has("name", at + 1):
                return Chunk(whom.ends, at + 2)
            return self._noun(at + 1, whom.ends[0], given=True) if whom else None
        for gender, own, pronoun in (("m", "his", "he"), ("f", "hers", "she")):
            if self.has(own, at) or self.has(pronoun, at):
                return self._pronoun(at, gender, own=self.has(own, at), pronoun=self.has(pronoun, at))
        if self.has("determiners", at) or self.has("numbers", at):
            if self.has("of", at + 1) and self.has("mine", at + 2):
                return self._noun(at + 3, speaker, given=True, single=self.has("determiners", at))
            if self.has("name", at + 1) and self.has("of", at + 2):
                return self._begun(at + 3)
            if introduced := self._introduced(at + 1):
                return introduced
            found = self._noun(at + 1, None)
            if found is not None:
                return found
        return self._alone(at) or self._bare(at) or self._by_name(at)

    def _pronoun(self, at: int, gender: str, *, own: bool, pronoun: bool) -> Chunk | None:
        who = self.known.one(gender, self.start + at, self.subject if pronoun else [])
        if own and self.has("name", at + 1):
            return Chunk(who, at + 2)
        if own:
            owner = self.known.one(gender, self.start + at, []) or self.near[:1] * self._is_of(gender)
            owned = self._noun(at + 1, owner[0] if owner else None, given=True)
            if owned is not None:
                return owned
        return Chunk(who, at + 1) if pronoun else None

    def _bare(self, at: int) -> Chunk | None:
        """ "Mum", "Grandma Elsie", "hubby Piotr": the speaker's."""
        owned = any(self.has(role, at - 1) for role in ("determiners", "mine", "his", "hers", "numbers"))
        verb = self.low(at - 1) in self.words.forms
        before = at == 0 or not self.tokens[at - 1].word or self.has("after", at - 1) or verb
        short = self.has("bare_before_names", at) and self.name(at + 1)[1] != ""
        if owned or not before or not (short or self.has("bare", at)) or self.words.starts("nobody", self.tokens, at):
            return None
        (end, name), noun = self.name(at), self._matching(at)[1]
        if name.count(" ") and noun is not None:
            self.known.note(name, self.start + at, noun.gender)
            return Chunk([name], end, [Called(self.known.speaker, noun, name, False)])
        return self._noun(at, self.known.speaker, given=True, bare=True)

    def _by_name(self, at: int) -> Chunk | None:
        the = self.low(at) in ("the", "la", "el", "le") or self.has("titles", at + 1)
        end, name = self.name(at + (the and self.has("determiners", at)))
        if not name:
            return None
        gender = "f" if self.has("ladies", at) else "m" if self.has("gentlemen", at) else None
        owns, known = self.low(end) == self.words.option("possessive"), self.has("people", end - 1)
        to_person = self.has("toward", at - 1) and not self.has("motion", at - 2) and not self.has("places", at)
        if gender or owns or known or to_person or not self.has("places_before", at - 1):
            self.known.note(name, self.start + at, gender)
        if self.words.option("genitive") and name.endswith("s") and not known and self._matching(end)[1]:
            return self._noun(end, name[:-1], given=True) or Chunk([name], end)  # "Adas Schwester"
        return Chunk([name], end)

    def _introduced(self, at: int) -> Chunk | None:
        """After "an": "older lady called Agnes", "band called The Wet Socks"."""
        for last in range(at, at + 5):
            person = self.has("persons", last)
            known = self._matching(last)[1] and not person and not self.has("groups", last)
            if not self.low(last).isalpha() or known or self.has("after", last):
                return None
            within = self.words.starts("who_i", self.tokens, last + 1)  # "guy I work with, Pete", "… called Pete"
            ahead = range(last + 2, last + 9) if within else (last + 1,)
            until = next((each for each in ahead if self.has("named", each) or self.low(each) in (",", "(")), 0)
            if until and (self.has("named", until) or person or (within and self._matching(last)[1])):
                end, name = self.name(until + 1, introduced=True)
                if not self.has("named", until) and not (name and self.low(end) in (*CLOSES, "")):
                    return None
                end = last + 1 if within else end + (self.low(end) == "," and self.low(until) == ",")
                if name and (self.has("things", last) or self.has("groups", last)):
                    self.known.things.add(name)
                    self.known.groups |= {name} if self.has("groups", last) else set()
                elif name:
                    self.known.note(name, self.start + at)
                return Chunk([name], end) if name else None
        return None

    def _some(self, at: int) -> Chunk | None:
        """After "our": "goalkeeper Ines", of whom that tells nothing that is known."""
        for name in range(at + 1, at + 4):
            before = self.tokens[name - 1] if name < len(self.tokens) else None
            if before is None or not before.word or before.capital or before.low in self.words.forms:
                return None
            if self.has("after", name - 1) or self.has("joins", name - 1):
                return None
            if self.tokens[name].capital:
                return self._begun(name)
        return None

    def _alone(self, at: int) -> Chunk | None:
        """The speaker's without "my", as in notes: "Boss is Carla", "sister: Ada", "old friend of Tom's, Bob"."""
        opens = at == 0 or not self.tokens[at - 1].word or self.has("and", at - 1) or self.has("leads", at - 1)
        if not opens or not self.words.option("implied") or self.words.starts("nobody", self.tokens, at):
            return None
        end, noun = self._matching(at)
        if noun is None and self._matching(at + 1)[1] and self.has("fond", at):
            end, noun = self._matching(at + 1)
        if noun is None:
            return None
        if noun.plural:
            return self._noun(at, self.known.speaker, given=True) if self.low(end) in LISTS else None
        if self.has("of", end):
            return self._noun(at, None)
        named = self.low(end) in (":", "(") and self.name(end + 1, introduced=True)[1]
        copula = any(self.words.has("copula", lemma) for lemma, _ in self.words.forms.get(self.low(end), ()))
        return self._noun(at, self.known.speaker, given=True) if named or copula else None

    def _noted(self, at: int) -> int:
        """Where what is noted beside a name of a list ends: "Timo 6, Bea (9 months), …"."""
        if self.low(at) == "(":
            return next((end + 1 for end in range(at, at + ASIDE) if self.low(end) == ")"), at)
        if at < len(self.tokens) and self.tokens[at].text.isdigit():
            at += 1
            return at + self.has("ages", at)
        return at

    def _apposed(self, chunk: Chunk, at: int) -> Chunk:
        """With what is told of a name right after it: "Carla, my boss, …", "Bob (a friend of mine)"."""
        single = len(chunk.ends) == 1 and isinstance(chunk.ends[0], str) and chunk.ends[0] != self.known.speaker
        direct = at == 0 and self.has("mine", chunk.end)  # "Janine my manager was …"
        opened = chunk.end + (self.low(chunk.end) in OPENS)
        known = self.words.starts("apposing", self.tokens, opened)  # "Hank being my foreman", "Wade, that's my pal"
        opened, direct = opened + known, direct or known > 0
        if not single or not (direct or opened > chunk.end) or self.has("no_names", at):
            return chunk
        if self.low(opened - 1) == "(":  # "Mason (turning 7, my youngest)"
            more = range(opened + 1, opened + 4)
            opened = next((each + 1 for each in more if self.low(each) == "," and self.has("mine", each + 1)), opened)
        if self.low(at - 1) == "," and at > 1 and self.tokens[at - 2].capital:
            return chunk  # one of a list
        told = self._one(opened)
        told = told and self.ours(told, opened)
        if told is None or told.noun is None or told.owner is None or told.noun.plural:
            return chunk
        closed = told.end < len(self.tokens) and self.low(told.end) in CLOSES
        last = told.end >= len(self.tokens) or self.low(told.end) in (".", "!", ";")
        goes_on = at > 0 and self.tokens[at - 1].word and self.has("goes_on", told.end)  # "my boss from Siemens"
        listed = self.low(told.end) == "," and self.has("and", told.end + 1)
        if (last and at == 0) or listed or not (closed or last or goes_on or direct):
            return chunk
        who = chunk.ends[0]
        self.known.note(who, self.start + at, told.noun.gender)
        if isinstance(told.owner, str) and isinstance(who, str):
            self.known.call(Kin(told.owner, told.noun.word), who)
        called = Called(told.owner, told.noun, who, told.over, first=True)
        return Chunk([who], told.end + (closed and not last), [*chunk.told, *told.told, called])

    def _is_of(self, gender: str) -> bool:
        """Whether who stands before "and" is surely of a gender: "my brother Tim and his wife"."""
        return bool(self.near) and self.known.people.get(self.near[0], (0, None))[1] == gender

    def _matching(self, at: int) -> tuple[int, Noun | None]:
        """The longest word of relationship at a token."""
        for size in (4, 3, 2, 1):
            noun = self.words.nouns.get(tuple(token.low for token in self.tokens[at : at + size]))
            if noun is not None and at + size <= len(self.tokens):
                return at + size, noun
        return at, None

    def _noun(
        self, at: int, owner: End | None, *, given: bool = False, bare: bool = False, single: bool = False
    ) -> Chunk | None:
        """A word of relationship with what stands before and after it; whose it is, was told before it if `given`."""
        over, before, begin = False, [], at
        while True:
            end, noun = self._matching(at)
            if self.has("over", at) and self._matching(at + 1)[1]:
                over, noun = True, None
            if noun is not None and not (self.has("fond", at) and self._matching(end)[1]):
                break
            token = self.tokens[at] if at < len(self.tokens) else None
            closed = ("determiners", "mine", "and", "of", "not", "who", "speaker", "his", "hers", "after", "copula")
            if token is None or not token.word or bare or at - begin > 2:
                return None
            if token.low not in ("old", "best", "good", "great", "last", "two", "three", "one") and (
                any(self.has(role, at) for role in closed) or (token.capital and not self.has("no_names", at))
            ):
                return None
            before.append(token.low)
            at += 1
        if any(
            noun.word not in self.words.data.get("unreal_but", {}).get(each, ())
            for each in before
            if self.words.has("unreal", each)
        ):
            return None
        noun = replace(noun, plural=False) if single else noun
        work = [each for each in before if self.words.has("over_of_work", each)]
        over |= self.words.has("over", noun.word) or bool(work and noun.kind in OF_WORK)
        over |= any(each not in ("old", "last") for each in work) and noun.kind == "spouse_of"
        if self._matching(end)[1] is not None and not self.has("bare", end):
            return None  # a boss friend
        end += self.has("following", end)  # as "mayor" in Spanish
        if not given and self.has("of", end):
            if self.has("of_mine", end + 1):
                owner, end = self.known.speaker, end + 2
            else:
                whose = self._one(end + 1)
                if whose is not None and self.low(whose.end) == self.words.option("possessive"):
                    whose.end += 1  # "a friend of my dad's"
                if whose is None or len(whose.ends) != 1:
                    return Chunk([], whose.end if whose else end, whose.told if whose else [])
                return self._named(whose.end, whose.ends[0], noun, over, whose.told)
        return self._named(end, owner, noun, over, [], given=given)

    def _named(
        self, end: int, owner: End | None, noun: Noun, over: bool, told: list[Called], *, given: bool = True
    ) -> Chunk:
        """What is called by a word of relationship, with the names that follow it."""
        names, after = self._names(end, noun, given=given, own=owner == self.known.speaker)
        if owner is None:  # "a sister", or whose is not known
            return self._unowned(names, after, noun) if names else Chunk([], after, told, noun)
        for name in names:
            self.known.note(name, self.start + end, noun.gender)
        told = told + [Called(owner, noun, name, over) for name in names if name != owner]
        if names:
            if len(names) == 1 and isinstance(owner, str):
                self.known.call(Kin(owner, noun.word), names[0])
            self.known.group = list(names)
            return Chunk(list(names), after, told)
        if self.words.has("only_named", noun.word):
            return Chunk([], end, told)
        if noun.plural or isinstance(owner, Kin):
            return Chunk([], end, told, noun, owner, over)
        kin: End = Kin(owner, noun.word)
        kin = self.known.kin.get(kin, kin)
        self.known.note(kin, self.start + end - 1, noun.gender)
        return Chunk([kin], end, told, noun, owner, over)

    def _unowned(self, names: list[str], after: int, noun: Noun) -> Chunk:
        for name in names:
            self.known.note(name, self.start + after - 1, noun.gender)
        return Chunk(list(names), after, noun=noun)

    def _names(self, at: int, noun: Noun, *, given: bool, own: bool) -> tuple[list[str], int]:
        """The names after a word of relationship: "Ada", ", Ada,", "(Ada)", "named Ada", of several "Tim and Tom"."""
        begin, opened = at, False
        after = self.aside(at)
        after = self._from_where(at) if after == at else after
        at = after if self.words.starts("aside", self.tokens, at) or self.low(after) in OPENS else at
        if self.has("named", at) and (not given or self.low(at) == "named"):
            at += 1
        elif self.low(at) in OPENS:
            at, opened = at + 1, True
        shown = self._introduced(at + 1) if opened and self.has("some", at) else None
        end, name = (shown.end, str(shown.ends[0])) if shown else self.name(at, introduced=not opened)
        if not name and not opened:
            end, name = self.small(at, noun, named=at > begin) if own or at > begin else (at, "")
        if not name:
            return self._also(at) if opened and not own and not noun.plural else [], begin
        names = [name]
        if noun.plural:
            end = self._noted(end)
            while self.low(end) == "," or self.has("and", end):
                joined = self.has("and", end)
                next_, name = self.name(end + 1 + (not joined and self.has("and", end + 1)), introduced=True)
                if not name:
                    break
                joined |= self.has("and", end + 1)
                names, end = [*names, name], self._noted(next_)
                if joined:
                    break
            if len(names) < 2:
                return [], begin
        if opened and not noun.plural:
            closed = end >= len(self.tokens) or self.low(end) in CLOSES
            joined = self.has("and", end + 1)
            more = joined and (self.has("mine", end + 2) or self.has("speaker", end + 2))
            listed = self.low(end) == "," and (more or bool(self.name(end + 1 + joined)[1]))
            if not closed or listed:
                return [], begin
        return names, end + (opened and self.low(end) in (",", ")", "-", "–", "—"))

    def _also(self, at: int) -> list[str]:
        """Who is called by another word of relationship as well: "his mum, my sister Clare, …"."""
        told = self._one(at) if self.has("mine", at) else None
        if told is None or not told.told or len(told.ends) != 1 or self.low(told.end) not in (",", ".", "!", ")"):
            return []
        return [str(told.ends[0])] if not self.has("and", told.end + 1) and not self.has("mine", told.end + 1) else []

    def small(self, at: int, noun: Noun, *, named: bool) -> tuple[int, str]:
        """A name in lower case, where what stands around it leaves nothing else."""
        token = self.tokens[at] if at < len(self.tokens) else None
        if token is None or not token.text.isalpha() or len(token.text) < 2 or noun.plural or token.capital:
            return at, ""
        listed = ("no_names_small", "adverbs", "after", "places_before", "unsure", "doubts", "who", "not", "has")
        if any(self.has(role, at) for role in listed) or token.low in self.words.forms or self._matching(at)[1]:
            return at, ""
        if token.low.endswith(("ing", "ed", "ly")) or not self.words.option("small_names"):
            return at, ""
        next_ = at + 1 + self.has("adverbs", at + 1)
        finite = any(form in ("third", "past", "base") for _, form in self.words.forms.get(self.low(next_), ()))
        finite |= self.low(next_).endswith("ed")
        people = self.words.has("people", token.low)
        ends = self._closed(at + 1)
        named |= self.has("and", at + 1) and self.has("speaker", at + 2)
        if not (finite and self.low(at + 1) != "like") and not ((people or named) and ends) and not people:
            return at, ""
        self.known.small.add(token.text)
        return at + 1, token.text

    def name(self, at: int, *, introduced: bool = False) -> tuple[int, str]:
        """A name at a token and where it ends; "" where there is none."""
        begin = at
        opens = at == 0 or not self.tokens[at - 1].word
        skipped = (self.has("fond", at) and (opens or self.low(at) == self.tokens[at].text)) or (
            introduced and self.low(at) == "the"
        )
        if at == 0 and self.low(at).endswith("ing") and self.tokens[at].capital:
            skipped |= self.has("people", at + 1)  # "Picking Priya up"
        at += skipped and at + 1 < len(self.tokens) and self.tokens[at + 1].capital
        first = at
        small = at + 1 < len(self.tokens) and self.tokens[at + 1].text in self.known.small
        titled = self.has("titles", at) and (self.tokens[at].capital or self.low(at + 1) == "." or small)
        if titled:
            at += 1 + (self.low(at + 1) == ".")
        if at >= len(self.tokens) or not self._can_be(at, introduced=introduced or titled):
            return begin, ""
        if not self.tokens[at].capital:
            return at + 1, " ".join(token.text for token in self.tokens[first : at + 1]).replace(" .", ".")
        at += 1
        while at < len(self.tokens):
            inside = self.has("inside_names", at) and not self.tokens[at].capital
            next_ = at + inside
            possessive = self.low(at) == self.words.option("possessive")
            if possessive and self.has("houses", at + 1) and self.tokens[at + 1].capital:
                at += 2  # "Queen's Hospital"
                continue
            shop = self.has("shops_after", begin - 1) and not self.has("people", at - 1)
            if possessive and (shop or self.has("saints", first)) and self._closed(at + 1):
                at += 1  # "at St Mary's", "from Nando's"
                break
            if next_ >= len(self.tokens) or not self.tokens[next_].capital or self.has("no_names", next_):
                break
            if self._matching(next_)[1] and self.low(at) != "&":
                break
            at = next_ + 1
        grouped = next((size for size in (2, 1) if self.has("groups", at + size - 1)), 0)  # "Ravens hockey team"
        if grouped and all(token.word and not self._finite(token) for token in self.tokens[at : at + grouped]):
            at += grouped
        return at, " ".join(token.text for token in self.tokens[first:at]).replace(" .", ".").replace(" 's", "'s")

    def _closed(self, at: int) -> bool:
        """Whether no word that belongs to a name or chunk stands at a token."""
        return at >= len(self.tokens) or not self.tokens[at].word or self.has("after", at)

    def _finite(self, token: Token) -> bool:
        return any(form != "ing" for _, form in self.words.forms.get(token.low, ()))

    def _can_be(self, at: int, *, introduced: bool) -> bool:
        token = self.tokens[at]
        if not token.capital:
            place = self.words.option("small_names") and self.has("places", at) and len(token.text) > 3
            return token.text in self.known.small or (bool(place) and self.has("places_before", at - 1))
        if self._matching(at)[1] or not token.word or (len(token.text) == 1 and not introduced):
            return False
        if self.has("first_of_names", at) and at + 1 < len(self.tokens) and self.tokens[at + 1].capital:
            return True
        if self.has("no_names", at):
            within = at > 0 and self.tokens[at - 1].word and self.has("names_within", at)
            return within or (introduced and self.has("also_names", at))
        opener = token.low in self.words.forms or any(self.has(role, at) for role in ("adverbs", "leads", "openers"))
        opener |= any(self.has(role, at + 1) for role in ("determiners", "mine", "his", "hers"))
        first = at == 0 and opener and not self.has("people", at)
        return not first and (not self.words.option("nouns_capital") or self._is_known(at, introduced=introduced))

    def _is_known(self, at: int, *, introduced: bool) -> bool:
        """In a language that writes every noun with a capital: whether a name is one."""
        token = self.tokens[at]
        named = introduced or token.text in self.known.people or self.has("people", at) or self.has("places", at)
        return named or self.has("names_after", at - 1) or at == 0
