"""Plays an episode on a real Agent, with a fake model or a given one, and tells of each deed what came of it.

What a model is given is told with the voice it was for: that is known by the card which the prompt begins with, and a
prompt for a reply has to end with the name of the same voice. The Agent is let alone: nothing is changed in it, and
what is not told by its events is read from its memory.
"""

import asyncio
import random
import re
import shutil
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from pydantic import BaseModel

from agent.agent import Agent
from agent.errors import AgentError
from agent.events import AgentEvent, Failed, RecallDone, ReplyEnded
from agent.home import Home
from agent.model_host import LoadedEmbedder
from agent.settings import Settings
from agent.shelf import from_note
from agent.story.judging import EVERYBODY
from agent.story.probing import TASKS
from agent.story.ties import pair
from bench.fiction import nonces
from bench.fiction.book import PRESENT, SEAT, Book, Chat, Line, Told, World
from bench.fiction.episodes import (
    Compact,
    Deed,
    Edit,
    Episode,
    Fork,
    Inner,
    Join,
    Kill,
    OfTurn,
    Person,
    Plain,
    Ref,
    Regenerate,
    Rename,
    Rewind,
    Say,
    Scene,
    Witness,
    card_of,
)
from graph.errors import InvalidEvent, NotFound
from graph.events import TurnDeleted
from graph.values import Hit
from models.protocols import Finished, Generator, Piece, ReadProgress, SamplingParams
from tests.fakes import CLOSE, FIRST_WORD, FakeEmbedder, FakeGenerator

JUDGED = re.compile(r"(?:^|\x1e)What (.+) saw and heard just now:$", re.MULTILINE)
How = Literal["reply", "prefill", "judgement"]
SMALL = {"context": 1024, "high_water": 640, "low_water": 320}
SAYINGS = (
    "{}, and she looks at the window for a while.",
    "*shrugs* {} it is.",
    "I would say {} and leave it at that.",
    "{}? Ask me again when the storm is over.",
    "Nobody told me, {} or not.",
    "{}!",
    "She counts to ten. {} is all there is to say about it.",
)
BREATH_S = 0.7  # in which a reply that is being written is on the disk as far as it has come
PAUSE = 8  # pieces of a reply after which the model waits, where clew is to be killed


def settings_of(*, recall: bool, kv_mb: int, **more: Any) -> Settings:
    """A story in which nothing but what is asked for asks the model."""
    given: dict[str, Any] = {"tools": "off", "reflect": False, "recall": recall, "kv_mb": kv_mb, **SMALL, **more}
    return Settings.model_validate(given)


class Heard(Protocol):
    """A generator that keeps what it was given, in order."""

    heard: list[tuple[How, list[int]]]
    line: int  # the number of the deed that is being done

    def again(self) -> Generator:
        """The same model for another start of clew."""
        ...

    def text(self, tokens: Sequence[int]) -> str:
        """What some tokens say; frames are apart."""
        ...


class Actor(FakeGenerator):
    """A fake model whose replies depend on nothing but the deed, and which may begin to speak for the user."""

    def __init__(self, *, name: str = "fake", judges: bool = False) -> None:
        """One that `judges` passes the probe, and finds something in whatever it is asked about."""
        super().__init__(self._line, context=SMALL["context"], name=name)
        self._judges = judges
        self.heard: list[tuple[How, list[int]]] = []
        self.line = 0
        self.you = "User"
        self.stops_after: int | None = None
        self._of_line = (0, -2)  # how many replies there were before in a deed, and which

    def _line(self, prompt: str) -> str:
        self._of_line = self._of_line[0] + 1 if self._of_line[1] == self.line else 0, self.line
        said = SAYINGS[self.line % len(SAYINGS)].format(nonces.of("r", self.line, self._of_line[0]))
        cut = f"\n{self.you}: I say {nonces.of('x', self.line)} to that." if self.line % 3 == 0 else ""
        return f"{said}{cut}"

    def again(self) -> "Actor":
        other = Actor(name=self.info.name, judges=self._judges)
        other._vocabulary, other.heard, other.you = self._vocabulary, self.heard, self.you
        return other

    def text(self, tokens: Sequence[int]) -> str:
        pieces = self._vocabulary.pieces
        return "".join("\n\x1e" if each < FIRST_WORD else pieces[each - FIRST_WORD] for each in tokens if each != CLOSE)

    async def generate(
        self,
        prompt: Sequence[int],
        params: SamplingParams,
        *,
        schema: type[BaseModel] | None = None,
        progress: ReadProgress | None = None,
    ) -> AsyncGenerator[Piece | Finished, None]:
        self.heard.append(("reply" if schema is None else "judgement", list(prompt)))
        pieces = 0
        async with aclosing(super().generate(prompt, params, schema=schema, progress=progress)) as steps:
            async for step in steps:
                yield step
                pieces += 1
                if pieces == self.stops_after:
                    self.gate.clear()

    async def prefill(self, prompt: Sequence[int]) -> bool:
        self.heard.append(("prefill", list(prompt)))
        return await super().prefill(prompt)

    async def structured(self, prompt: Sequence[int], schema: Any, *, max_tokens: int = 512) -> Any:
        self.heard.append(("judgement", list(prompt)))
        if not self._judges:
            return await super().structured(prompt, schema, max_tokens=max_tokens)
        return schema.model_validate(_judgement(schema, self.detokenize(prompt)))


def _judgement(schema: type[BaseModel], asked: str) -> dict[str, Any]:
    """An answer that fits: what is right to a task of the probe, else anything, which depends on what is asked."""
    right = next((task.right for task in TASKS if all(f"{who}: {said}" in asked for who, said in task.said)), None)
    rng = random.Random(asked)
    answer: dict[str, Any] = {}
    for name, about in schema.model_json_schema()["properties"].items():
        if right is not None:
            usual: Any = 0 if about.get("type") == "integer" else "same"
            answer[name] = next(iter(right[name])) if name in right else usual
        elif about.get("type") == "boolean":
            answer[name] = rng.random() < 0.3
        elif "enum" in about:
            answer[name] = rng.choice(about["enum"])
        else:
            answer[name] = rng.randint(about.get("minimum", 0), about.get("maximum", 0))
    return answer


@dataclass(frozen=True, slots=True)
class Given:
    """What a model was given: for whom (None: nobody knows), and what it says."""

    how: How
    voice: str | None
    tokens: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Kept:
    """A state on the disk: whose it says it is, whose it is by its words, and the words."""

    session: str
    claims: str | None
    voice: str | None
    text: str


@dataclass(slots=True)
class Done:
    """What came of a deed; `among` are those who saw what a new reply answers, None where that was all the same."""

    deed: Deed
    chat: Chat
    refused: str | None = None
    given: list[Given] = field(default_factory=list)
    recalled: list[tuple[Hit, ...]] = field(default_factory=list)  # for one reply after the other
    ended: list[ReplyEnded] = field(default_factory=list)
    new: list[Told] = field(default_factory=list)
    meant: str | None = None  # the turn that the deed is of
    instead: Told | None = None  # of an edit: what was said before
    whispered: str | None = None
    among: frozenset[str] | None = None
    heads: dict[str, str | None] = field(default_factory=dict)
    cast: dict[str, tuple[tuple[str, str, str, bool], ...]] = field(default_factory=dict)
    stage: dict[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)  # what people set: aspects and texts

    @property
    def n(self) -> int:
        """The number of the deed."""
        assert self.deed.n is not None
        return self.deed.n

    @property
    def repliers(self) -> list[str | None]:
        """Whom the model spoke for, one after the other."""
        return [each.voice for each in self.given if each.how == "reply"]

    @property
    def hits(self) -> list[tuple[str | None, Hit]]:
        """What was recalled, and for whom."""
        whose = [*self.repliers, *([None] * len(self.recalled))]
        return [(voice, hit) for voice, hits in zip(whose, self.recalled, strict=False) for hit in hits]


class Refused(Exception):
    """A deed that cannot be done."""


@dataclass(slots=True)
class Reset:
    """A reset that may be undone: by its event."""

    seq: int
    member: str
    world: str
    was: int


class Performance:
    """An episode on the way. `home` is a folder; `member` maps the names that people came with to their ids."""

    def __init__(
        self,
        episode: Episode,
        home: Path,
        *,
        recall: bool = True,
        kv_mb: int = 0,
        graph: bool = False,
        model: Any = None,
        settings: Settings | None = None,
        cache: Path | None = None,
    ) -> None:
        """`cache` is a folder of what was found out about models, for all performances with the same one."""
        self.episode = nonces.marked(episode)
        self.book = Book()
        self.member: dict[str, str] = {}
        self.names: dict[str, set[str]] = {}  # all that somebody was ever called
        self.cards: dict[int, str] = {}
        self.minds: dict[str, str] = {}  # whose is what was set of somebody's mind, by its nonce
        self.labels: dict[str, str] = {}
        self.order: list[str] = []
        self.model: Any = model if model is not None else Actor()
        self.agent: Agent
        self._home = home
        self._cache = cache
        self._graph = graph
        self._settings = settings or settings_of(recall=recall, kv_mb=kv_mb)
        self._embeds = self._settings.recall
        self._starts = 0
        self._read = 0
        self._was: dict[str, str | None] = {}  # where chats stood before they were last rewound
        self._resets: list[Reset] = []
        self._chats: list[str] = []

    # -- life -----------------------------------------------------------------------------------------------------

    async def begin(self) -> Done:
        """Begin the story; what came of it."""
        if self._cache is not None and self._cache.is_dir():
            await asyncio.to_thread(shutil.copytree, self._cache, self._home / "cache", dirs_exist_ok=True)
        await self._start()
        cast = self.episode.cast
        host, guest = card_of(cast.host), card_of(cast.guest) if cast.guest else None
        self.model.you = cast.you
        session = await self.agent.stories.begin(
            self.episode.name, host, guest=guest, you=cast.you, scenario=cast.scenario
        )
        about = await self.agent.chats.get(session)
        self.book.worlds[about.world] = World(about.world)
        self.book.chats[session] = chat = Chat(session, about.world)
        self._chats.append(session)
        named = {"you": ("you", None), "host": (host.name, 0), "guest": (guest.name if guest else "", 1)}
        for each in await self.agent.stories.cast(session):
            name, number = named[each.seat]
            self._know(name, each.name, each.member, number)
            self.book.lines.append(Line(self.head, about.world, each.member, SEAT, each.seat, None))
        done = Done(Plain(do="look", n=-1), chat)
        await self._finish(done, "greeting")
        return done

    async def play(self) -> "AsyncGenerator[Done, None]":
        """All deeds, one after another; what came of each."""
        yield await self.begin()
        for deed in self.episode.deeds:
            yield await self.do(deed)

    async def close(self) -> None:
        """End."""
        await self.agent.close()
        if self._cache is not None:
            trusted = sorted((self._home / "cache").glob("trusted*.json"))
            await asyncio.to_thread(self._cache.mkdir, parents=True, exist_ok=True)
            for each in trusted:
                await asyncio.to_thread(shutil.copy, each, self._cache)

    async def _start(self) -> None:
        if self._starts:
            self.model = self.model.again()
        self._starts += 1
        model = self.model
        agent = Agent(
            Home.resolve(self._home),
            self._settings,
            client="bench",
            loader=lambda name, progress: model,
            embedder_loader=lambda name: LoadedEmbedder(FakeEmbedder(), "fake@0"),
        )
        await agent.start(load_embedder=self._embeds, open_graph=self._graph)
        self.agent = agent
        await agent.models.ready()
        await agent.idle()

    @property
    def head(self) -> int:
        """The number of the last event."""
        return self.agent._memory.head()

    # -- deeds ----------------------------------------------------------------------------------------------------

    async def do(self, deed: Deed) -> Done:
        """One deed, until nothing runs any more."""
        self.model.line = deed.n
        try:
            chat = self.book.chats[self._session(deed.chat)]
        except Refused as refused:
            return Done(deed, next(iter(self.book.chats.values())), str(refused))
        done = Done(deed, chat)
        try:
            await self._do(deed, chat, done)
        except (Refused, AgentError, InvalidEvent, NotFound) as refused:
            done.refused = f"{type(refused).__name__}: {refused}"
        await self.agent.idle()
        await self._finish(done, deed.label)
        return done

    async def _do(self, deed: Deed, chat: Chat, done: Done) -> None:
        match deed:
            case Say():
                done.whispered = self._who(deed.whisper) if deed.whisper is not None else None
                await self._hear(done, self.agent.send(chat.session, deed.text, whisper=done.whispered))
            case Edit():
                done.instead = self._turn(deed.turn, chat)
                done.meant = done.instead.id
                await self._hear(done, self.agent.edit(chat.session, done.instead.id, deed.text))
            case Regenerate():
                turn = self._turn(deed.turn, chat).id if deed.turn is not None else None
                answered = self._answered(turn or chat.head, chat)
                done.meant, done.among = (answered.id, answered.witnesses) if answered else (None, None)
                await self._hear(done, self.agent.regenerate(chat.session, turn))
            case Person():
                await self._of_person(deed, chat, done)
            case Join():
                card = card_of(deed.card)
                anchor = chat.head
                member = await self.agent.stories.join(chat.session, card)
                self._know(card.name, card.name, member, nonces.JOINED + done.n)
                self._set(chat, member, SEAT, "guest", anchor)
            case Rename():
                member = self._who(deed.who)
                await self.agent.stories.rename(chat.session, member, deed.name)
                self.names[member].add(deed.name)
                seats = {who: seat for seat, who in self.book.cast(chat.world, chat.head).items()}
                self._set(chat, member, SEAT, seats[member], chat.head)
                if seats[member] == "you":
                    self.model.you = deed.name
            case Witness():
                turn = done.meant = self._turn(deed.turn, chat).id
                saw = [self._who(each) for each in deed.who]
                await self.agent.stories.witnessed(turn, saw)
            case Rewind():
                to = self._turn(deed.turn, chat).id if deed.turn is not None else None
                await self._go(chat, to)
            case OfTurn():
                done.meant = self._turn(deed.turn, chat).id
                await self._of_turn(deed, done.meant, chat)
            case Scene():
                await self.agent.stories.open_scene(chat.session, deed.name)
            case Inner():
                who = self._who(deed.who)
                owner = who if deed.to is None else pair(who, self._who(deed.to))
                await self.agent.stories.put(chat.session, owner, deed.aspect, deed.text)
                self.minds |= dict.fromkeys(nonces.found([deed.text]), who)
            case Fork():
                await self._fork(deed, chat)
            case Kill():
                await self._kill(deed, chat, done)
            case Plain():
                await self._plain(deed, chat)
            case Compact():
                raise Refused("nothing was marked")

    async def _of_person(self, deed: Person, chat: Chat, done: Done) -> None:
        member, stories = self._who(deed.who), self.agent.stories
        match deed.do:
            case "speak":
                await self._hear(done, self.agent.speak(chat.session, member))
            case "away" | "present":
                there = member in self.book.present(chat.world, chat.head)
                await stories.place(chat.session, member, present=deed.do == "present")
                if there != (deed.do == "present"):
                    self._set(chat, member, PRESENT, "no" if deed.do == "away" else None, chat.head)
            case "leave":
                await stories.leave(chat.session, member)
                self._set(chat, member, SEAT, None, chat.head)
            case "reset":
                was, since = self.book.since(chat.world, member), self.head
                recorded = await stories.reset(chat.session, member)
                self.book.resets.append(Line(self.head, chat.world, member, "reset", str(since), None))
                self._resets.append(Reset(recorded.seq, member, chat.world, was))

    async def _of_turn(self, deed: OfTurn, turn: str, chat: Chat) -> None:
        chats = self.agent.chats
        match deed.do:
            case "hide":
                await chats.hide(turn)
            case "unhide":
                await chats.unhide(turn)
            case "pin":
                await chats.pin(turn)
            case "unpin":
                await chats.unpin(turn)
            case "delete":
                await self.agent.stories._recorder.record(TurnDeleted(turn=turn))
            case "switch":
                self._was[chat.session] = chat.head
                await self.agent.branches.switch(chat.session, turn)

    async def _go(self, chat: Chat, to: str | None) -> None:
        was = chat.head
        await self.agent.branches.rewind(chat.session, to)
        self._was[chat.session] = was

    async def _fork(self, deed: Fork, chat: Chat) -> None:
        at = self._turn(deed.turn, chat).id if deed.turn is not None else self.book.kept(chat.head)
        if at is None:
            raise Refused("there is nothing to fork from")
        inherits = self.book.inherited(chat.world, at)
        session = await self.agent.branches.fork(chat.session, at=at, what_if=deed.what_if)
        about = await self.agent.chats.get(session)
        if about.world not in self.book.worlds:
            self.book.worlds[about.world] = World(about.world, chat.world, at, self.head, inherits)
        self.book.chats[session] = Chat(session, about.world, at)
        self._chats.append(session)
        self.labels[f"@chat{deed.n}"] = session

    async def _plain(self, deed: Plain, chat: Chat) -> None:
        match deed.do:
            case "forward":
                if (to := self._was.get(chat.session)) is None:
                    raise Refused("there is no way forward")
                await self._go(chat, to)
            case "undo":
                if not self._resets:
                    raise Refused("nobody was reset")
                reset = self._resets[-1]
                await self.agent.history.undo(reset.seq)
                self._resets.pop()
                self.book.resets.append(Line(self.head, reset.world, reset.member, "reset", str(reset.was), None))
            case "look":
                await self.agent.opened(chat.session)
            case "close":
                await self.agent.stories.close_scene(chat.session)
            case "rest":
                await self.agent._prompts.shelf.save()
            case "restart":
                await self.agent.close()
                await self._restarted(chat)

    async def _kill(self, deed: Kill, chat: Chat, done: Done) -> None:
        """What is on the disk is copied as it is, and what goes on without it is of no account."""
        going: asyncio.Task[None] | None = None
        if deed.text is not None and isinstance(self.model, Actor):
            self.model.stops_after = PAUSE
            lost = Done(deed, chat)
            going = asyncio.create_task(self._hear(lost, self.agent.send(chat.session, deed.text)))
            waits = asyncio.create_task(self.model.waiting.wait())
            await asyncio.wait({going, waits}, return_when=asyncio.FIRST_COMPLETED)
            waits.cancel()
            await asyncio.sleep(BREATH_S)
        self._starts += 1
        home = self._home.with_name(f"{self._home.name}-{self._starts}")
        await asyncio.to_thread(shutil.copytree, self._home, home, ignore=shutil.ignore_patterns("*.lock", "lock"))
        heard = len(self.model.heard)
        if going is not None:
            self.model.stops_after = None  # it may not have come so far
            self.model.gate.set()
            await asyncio.gather(going, return_exceptions=True)
        await self.agent.close()
        del self.model.heard[heard:]
        await asyncio.to_thread(shutil.rmtree, self._home)
        self._home = home
        await self._restarted(chat)

    async def _restarted(self, chat: Chat) -> None:
        line = self.model.line
        await self._start()
        self.model.line = line
        await self.agent.opened(chat.session)

    async def _hear(self, done: Done, events: AsyncGenerator[AgentEvent, None]) -> None:
        async with aclosing(events):
            async for event in events:
                match event:
                    case RecallDone():
                        done.recalled.append((*event.hits, *event.quotes))
                    case ReplyEnded():
                        done.ended.append(event)
                    case Failed():
                        raise Refused(event.message)

    # -- what is meant --------------------------------------------------------------------------------------------

    def _session(self, chat: Ref) -> str:
        if isinstance(chat, str):
            if chat not in self.labels:
                raise Refused(f"there is no chat {chat}")
            return self.labels[chat]
        if not 0 <= chat < len(self._chats):
            raise Refused(f"there is no chat {chat}")
        return self._chats[chat]

    def _who(self, name: str) -> str:
        if name not in self.member:
            raise Refused(f"nobody came as {name}")
        return self.member[name]

    def _turn(self, ref: Ref, chat: Chat) -> Told:
        if isinstance(ref, int):
            if not self.order:
                raise Refused("nothing was said yet")
            return self.book.turns[self.order[ref % len(self.order)]]
        kind, _, number = ref.partition(":")
        if kind in ("message", "reply", "turn") and number.isdecimal():
            role = {"message": "user", "reply": "assistant"}.get(kind)
            path = [told for told in self.book.path(chat) if role in (None, told.role)]
            if not path:
                raise Refused(f"there is no {kind}")
            return path[int(number) % len(path)]
        if ref not in self.labels:
            raise Refused(f"nothing is called {ref}")
        return self.book.turns[self.labels[ref]]

    def _answered(self, turn: str | None, chat: Chat) -> Told | None:
        """What is answered anew: the reply that is, else the message."""
        meant = self.book.turns.get(turn or "")
        if meant is not None and meant.role == "note":
            meant = next((told for told in reversed(self.book.path(chat)) if told.role == "user"), None)
        return meant

    def _know(self, name: str, called: str, member: str, number: int | None) -> None:
        self.member[name] = member
        self.names[member] = {called}
        if number is not None:
            self.cards[number] = member

    def _set(self, chat: Chat, member: str, aspect: str, value: str | None, after: str | None) -> None:
        self.book.lines.append(Line(self.head, chat.world, member, aspect, value, after))

    # -- what came of it ------------------------------------------------------------------------------------------

    async def _finish(self, done: Done, label: str | None) -> None:
        await self._read_log(done, label)
        done.given = [self._given(how, tokens) for how, tokens in self.model.heard]
        self.model.heard.clear()
        for chat in self.book.chats.values():
            chat.head = await asyncio.to_thread(self.agent._memory.readings.stands_at, chat.session)
            players = await self.agent.stories.cast(chat.session)
            done.cast[chat.session] = tuple((each.member, each.name, each.seat, each.present) for each in players)
            lines = await self.agent.stories.stage(chat.session)
            set_ = [(each.aspect, each.text or "") for each in lines if each.by == "user"]
            done.stage[chat.session] = tuple(sorted(set_))
        done.heads = {chat.session: chat.head for chat in self.book.chats.values()}

    async def _read_log(self, done: Done, label: str | None) -> None:
        """New turns, and what became of the others."""
        counts = dict.fromkeys(("said", "reply", "note", "greeting"), 0)
        for told in await asyncio.to_thread(self._rows):
            before = self.book.turns.get(told.id)
            if before is not None:
                told.key, told.ever = before.key, before.ever
                told.seq, told.parent = before.seq, before.parent if told.parent is None else told.parent
            else:
                self.order.append(told.id)
                done.new.append(told)
                kind = {"user": "said", "assistant": "reply"}.get(told.role, "note") if label != "greeting" else label
                told.key = f"{done.n}.{kind}{counts[kind]}"
                for each in (f"@{done.n}", *([label] if label is not None else [])):
                    self.labels[f"{each}.{kind}{counts[kind]}"] = told.id
                    self.labels.setdefault(f"{each}.{kind}", told.id)
                    if kind in ("said", "greeting"):
                        self.labels.setdefault(each, told.id)
                counts[kind] += 1
            told.ever |= told.witnesses
            self.book.turns[told.id] = told

    def _rows(self) -> list[Told]:
        query = """
        SELECT turns.id, turns.seq, turns.session, turns.parent, turns.role, turns.speaker, event.text,
            turns.witnesses, turns.hidden, turns.deleted
        FROM turns JOIN events AS event ON event.seq = turns.seq ORDER BY turns.seq
        """
        with self.agent._memory.readings.snapshot() as db:
            rows = db.execute(query).fetchall()
        return [
            Told(
                id,
                seq,
                session,
                parent,
                role,
                speaker,
                text,
                frozenset((saw or "").split()),
                hidden=bool(hidden),
                deleted=bool(deleted),
            )
            for id, seq, session, parent, role, speaker, text, saw, hidden, deleted in rows
        ]

    def _given(self, how: How, tokens: Sequence[int]) -> Given:
        text = self.model.text(tokens)
        voice = self.voice_of(text)
        if how == "reply" and voice is not None and not self._ends_as(text, voice):
            voice = None
        return Given(how, voice, tuple(tokens), text)

    def voice_of(self, text: str) -> str | None:
        """Whose prompt begins so: the first card that is told in it is the voice's own."""
        judged = JUDGED.search(text)
        if judged is not None and judged[1] == EVERYBODY:
            return EVERYBODY
        if judged is not None:
            return next((member for member, names in self.names.items() if judged[1] in names), None)
        first = nonces.OPEN.search(text)
        return self.cards.get(int(first[1])) if first is not None else None

    def _ends_as(self, text: str, voice: str) -> bool:
        return any(text.rstrip().endswith(f"{name}:") for name in self.names[voice])

    def states(self) -> Iterator[Kept]:
        """The states that are on the disk."""
        states = self.agent._states
        for stored in states.kept():
            log = from_note(stored.header.note)
            whole = states.read(stored)
            parts = [stored.header.tokens, log.tokens if log is not None else (), whole.tokens if whole else ()]
            text = "\n".join([*map(self.model.text, parts), *(text for _, text in (log.systems if log else ()))])
            yield Kept(stored.header.session, stored.header.voice, self.voice_of(text), text)
