"""Stories: begun with a cast from character cards, and who of it is there, sees and remembers what.

A story is a world of its own. What is set by hand holds from the turn on at which it was set, so that going back takes
it back.
"""

import asyncio
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agent.errors import AgentError
from agent.prompts import Prompts
from agent.recall import Recaller
from agent.recorder import Recorder
from agent.story.book import Book, Salvage, book_json, book_of, normal_book
from agent.story.cards import Card, always_told, card_json, drawn, filled, read_card
from agent.story.decay import Decay, decay
from agent.story.knowledge import MOST, Knowledge, knowledge
from agent.story.lore import BOOK
from agent.story.overview import Change, Overview, SkipPlan, overview, set_lines
from agent.story.play import ABSENT, CARD, MET, NOT_MET, PRESENT, WORLD, Play, meant, play_of
from agent.story.plots import ACTIVE, COMPLETED, PLANNED, PLOT, Plot, Sort, moved, plot_by, plots_of, spent
from agent.story.plots import TEXTS as PLOT_TEXTS
from agent.story.scenes import CLOSED, OPEN, SCENE, STATE, TITLE, Scene, scenes_of, summary
from agent.story.stage import FACT, GAP, LONGEST, RESTATED, aspects_of
from agent.story.ties import AFFINITY, SUMMARY, TRUST, Tie, amount, pair, ties_of
from agent.story.triggers import due, started
from agent.story.voice import READ_AS, SCENARIO, card_of
from graph.events import (
    CastReset,
    CastSet,
    Event,
    HeadMoved,
    Role,
    Seat,
    SessionRenamed,
    SessionStarted,
    StageSet,
    StopReason,
    StoryBegun,
    TurnSaid,
    TurnWitnessed,
)
from graph.ids import new_id
from graph.memory import Memory
from graph.values import Filters, Kind, Member, Recorded, StageLine, StoryWorld, Turn

NO_STORY = "This chat plays in no story. Nothing was changed. /story begins one."
LONGEST_NAME = 120
MOST_BOOK = 2 << 20  # bytes
MOST_OF_PROMPT = 0.75  # that a card may take
QUOTED = 160  # characters of a message that a change stands at
PASSING = ("posture", "action", "holding", "attention")  # what is over when time skips
PROMOTED = ("inventory", "fact", AFFINITY, TRUST, SUMMARY)  # what a plot may leave behind
FULL = "There is a guest already. Nothing was changed. Let {name} leave first: /cast leave."


@dataclass(frozen=True, slots=True)
class Player:
    """A member of the cast as it is shown: its seat, whether it is there, and what everybody knows of it."""

    member: str
    name: str
    seat: Seat
    present: bool
    card: Card


class Stories:
    """What people do with stories."""

    def __init__(
        self,
        memory: Memory,
        recorder: Recorder,
        prompts: Prompts,
        recaller: Recaller,
        *,
        client: str,
        context: Callable[[], int],
    ) -> None:
        """`context` is how many tokens a prompt may have."""
        self._memory = memory
        self._recaller = recaller
        self._recorder = recorder
        self._prompts = prompts
        self._client = client
        self._context = context

    # -- reading --------------------------------------------------------------------------------------------------

    async def all(self) -> list[StoryWorld]:
        """The stories that have a chat, the oldest first."""
        return await asyncio.to_thread(self._memory.readings.stories)

    async def cast(self, session: str) -> list[Player]:
        """Who plays in a chat: you, host, guest; empty for a chat of no story. Raises NotFound."""
        play = await asyncio.to_thread(self._play_or_none, session)
        if play is None:
            return []
        return [Player(each.id, each.name, each.seat, play.is_present(each), card_of(play, each)) for each in play.cast]

    async def overview(self, session: str) -> Overview:
        """All that stands on a chat's stage. Raises NotFound or AgentError."""

        def read() -> Overview:
            return overview(self._play(session), self._memory.readings.thread(session))

        return await asyncio.to_thread(read)

    async def seen_by(self, session: str, member: str) -> list[Turn]:
        """A chat as a member of its cast saw it, oldest first. Raises NotFound, or AgentError."""
        return await asyncio.to_thread(self._seen_by, session, member)

    async def knows(self, session: str, member: str, topic: str) -> Knowledge:
        """What a member of a chat's cast knows of something, and what of it it does not. Raises AgentError."""
        play = await asyncio.to_thread(self._play, session)
        _known(play, member)
        world = (await asyncio.to_thread(self._memory.readings.session, session)).world
        kinds: frozenset[Kind] = frozenset({"turn"})
        every = await self._recaller.recall(topic, limit=MOST, filters=Filters(world=world, kinds=kinds))
        own = Filters(world=world, kinds=kinds, witness=member)
        return knowledge(topic, await self._recaller.recall(topic, limit=MOST, filters=own), every)

    async def named(self, session: str, name: str) -> str:
        """The member of a chat's cast that a name means: all of it, or a word of it that only one has, in any case.

        Raises AgentError.
        """
        play = await asyncio.to_thread(self._play, session)
        return meant(play, name)

    # -- beginning ------------------------------------------------------------------------------------------------

    async def begin(
        self,
        name: str,
        host: Card,
        *,
        guest: Card | None = None,
        you: str = "You",
        scenario: str | None = None,
        strangers: bool = False,
    ) -> str:
        """A story with its first chat, which begins with the host's greeting; the chat's id. Raises AgentError.

        `you` is what the cast calls the user; without a `scenario` it is that of the host's card. Where host and guest
        are `strangers`, the guest is away, and neither is told of the other until they have met.
        """
        for card in (host, guest):
            self._fitting(card)
        names = [_fit(each) for each in (you, host.name, *([guest.name] if guest is not None else []))]
        for at, each in enumerate(names):
            if each.casefold() in (other.casefold() for other in names[:at]):
                raise AgentError(f"Two of the cast would be called {each}. Nothing was begun. Give one another name.")
        world, session = new_id(), new_id()
        you_id, host_id, guest_id = new_id(), new_id(), new_id()
        events: list[Event] = [
            StoryBegun(world=world, text=_fit(name)),
            CastSet(world=world, member=you_id, seat="you", text=names[0]),
            *_seated(world, host_id, "host", host, None),
        ]
        present = [you_id, host_id]
        if guest is not None:
            events += _seated(world, guest_id, "guest", guest, None)
            if strangers:
                line = {"world": world, "aspect": MET, "text": NOT_MET}
                ends = (pair(host_id, guest_id), pair(guest_id, host_id))
                events += (StageSet.model_validate({**line, "owner": each}) for each in ends)
                events.append(StageSet(world=world, owner=guest_id, aspect=PRESENT, text=ABSENT))
            else:
                present.append(guest_id)
        told = scenario if scenario is not None else filled(host.scenario, char=host.name, user=names[0])
        if told.strip():
            events.append(StageSet(world=world, owner=WORLD, aspect=SCENARIO, text=told.strip()))
        events += [
            SessionStarted(session=session, world=world, client=self._client),
            SessionRenamed(session=session, text=_fit(name)),
        ]
        events += self._greetings(session, host_id, host, guest is not None, names[0], present)
        await self._recorder.record(*events)
        return session

    def _fitting(self, card: Card | None) -> None:
        """Raises AgentError for a card beside which a prompt has no room for a story."""
        if card is not None and (size := always_told(card)) > (most := self._context()) * MOST_OF_PROMPT:
            raise AgentError(
                f"{_fit(card.name)}'s card takes about {size:,} tokens of every prompt, which can have {most:,}. "
                "Nothing was changed. Shorten its description or its examples, or raise context in the settings."
            )

    def _greetings(
        self, session: str, host: str, card: Card, company: bool, user: str, present: Sequence[str]
    ) -> list[Event]:
        """The first message and its alternatives, side by side; the head stands at the first."""
        said = (card.group_greetings if company else ()) or card.greetings
        rng = random.Random(session)
        turns = [
            TurnSaid(
                turn=new_id(),
                session=session,
                role=Role.ASSISTANT,
                speaker=host,
                client=self._client,
                stop_reason=StopReason.END,
                witnesses=tuple(present),
                text=filled(drawn(text, rng), char=card.name, user=user).strip(),
            )
            for text in said
            if text.strip()
        ]
        moves = [HeadMoved(session=session, turn=turns[0].turn)] if len(turns) > 1 else []
        return [*turns, *moves]

    # -- the cast -------------------------------------------------------------------------------------------------

    async def join(self, session: str, card: Card) -> str:
        """A guest joins, from here on; its id. Raises AgentError where there is one already, or one of that name."""
        self._fitting(card)
        play, world, head = await asyncio.to_thread(self._standing, session)
        there = play.seated("guest")
        if there is not None:
            raise AgentError(FULL.format(name=there.name))
        if any(each.name.casefold() == card.name.casefold() for each in play.cast):
            raise AgentError(f"{card.name} plays already. Nothing was changed. Give the guest another name.")
        member = new_id()
        await self._recorder.record(*_seated(world, member, "guest", card, head))
        return member

    async def leave(self, session: str, member: str) -> None:
        """A guest leaves the cast. Raises AgentError."""
        play, world, head = await asyncio.to_thread(self._standing, session)
        if _known(play, member).seat != "guest":
            raise AgentError("Only a guest can leave the cast. Nothing was changed. /away takes others off the scene.")
        await self._recorder.record(CastSet(world=world, member=member, seat=None, after=head, text=None))

    async def rename(self, session: str, member: str, name: str) -> None:
        """A member is called otherwise, everywhere. Raises AgentError."""
        play, world, head = await asyncio.to_thread(self._standing, session)
        who = _known(play, member)
        if any(each.name.casefold() == _fit(name).casefold() for each in play.cast if each.id != member):
            raise AgentError(f"{_fit(name)} plays already. Nothing was changed.")
        await self._recorder.record(CastSet(world=world, member=member, seat=who.seat, after=head, text=_fit(name)))

    async def place(self, session: str, member: str, *, present: bool) -> None:
        """Somebody comes into the scene, or leaves it, from here on. Raises AgentError."""
        play, world, head = await asyncio.to_thread(self._standing, session)
        if play.is_present(_known(play, member)) != present:
            text = None if present else ABSENT
            line = StageSet(world=world, owner=member, aspect=PRESENT, after=head, text=text)
            await self._recorder.record(line, *started(play, [line]))

    async def put(self, session: str, owner: str, aspect: str, text: str) -> Recorded:
        """Set what something on the stage is, from here on; nothing takes it away. Raises AgentError.

        `owner` is a member, "world", "group", or "place:" and its name; see agent/story/stage.py for the aspects.
        """
        play, world, head = await asyncio.to_thread(self._standing, session)
        known = aspects_of(owner, play)
        if aspect not in known:
            raise AgentError(f"There is no {aspect} to set there. Nothing was changed. There are: {', '.join(known)}.")
        says = _worded(text)
        if aspect in (AFFINITY, TRUST) and says:
            says = _value(says)
        if owner.startswith(PLOT):
            says = _of_plot(play, aspect, says)
        line = StageSet(world=world, owner=owner, aspect=aspect, after=head, text=says or None)
        return await self._recorder.record(line, *started(play, [line]))

    async def restate(self, session: str) -> Recorded:
        """Have all voices told anew what everybody does, with their next message. Raises AgentError."""
        _, world, head = await asyncio.to_thread(self._standing, session)
        line = {"world": world, "owner": WORLD, "aspect": RESTATED, "after": head, "text": "asked"}
        return await self._recorder.record(StageSet.model_validate(line))

    async def ties(self, session: str) -> list[Tie]:
        """How each of a cast stands to each other one, with all that changed it. Raises NotFound or AgentError."""
        play = await asyncio.to_thread(self._play, session)
        return ties_of(play.cast, play.history)

    async def changes(self, session: str, owner: str, aspect: str) -> list[Change]:
        """All that one aspect of something was on the path of a chat, the oldest first, with what was said there."""
        return await asyncio.to_thread(self._changes, session, owner, aspect)

    def _changes(self, session: str, owner: str, aspect: str) -> list[Change]:
        lines = self._memory.readings.stage_history(session, owner)
        path = {turn.id: turn for turn in self._memory.readings.thread(session)}
        found = []
        for line in lines:
            if line.aspect == aspect:
                turn = path.get(line.after or "")
                said = turn.text if turn is not None and not turn.hidden else None
                found.append(Change(line, turn.speaker if turn is not None and said else "", (said or "")[:QUOTED]))
        return found

    async def learn(self, session: str, member: str, fact: str) -> Recorded:
        """A member knows something from here on. Raises AgentError."""
        play, world, head = await asyncio.to_thread(self._standing, session)
        text = _worded(fact)
        if not text:
            raise AgentError("There is nothing to know. Nothing was changed.")
        owner, aspect = _known(play, member).id, f"{FACT}{new_id()}"
        return await self._recorder.record(StageSet(world=world, owner=owner, aspect=aspect, after=head, text=text))

    # -- lore and how it goes -------------------------------------------------------------------------------------

    async def add_lore(self, session: str, book: Book, *, member: str | None = None) -> Recorded:
        """A lorebook is known from here on: to a member, or (None) to everybody. Raises AgentError."""
        play, world, head = await asyncio.to_thread(self._standing, session)
        owner = _known(play, member).id if member is not None else WORLD
        name = _fit(book.name or "lore")
        text = json.dumps(book_json(book), ensure_ascii=False)
        return await self._recorder.record(
            StageSet(world=world, owner=owner, aspect=f"{BOOK}{name}", after=head, text=text)
        )

    async def decay(self, session: str) -> dict[str, Decay]:
        """How the last replies of each voice are against its first, by its id; of those with enough of them."""
        path = await asyncio.to_thread(self._memory.readings.thread, session)
        said: dict[str, list[str]] = {}
        for turn in path:
            if turn.member is not None and turn.role == Role.ASSISTANT and turn.text and not turn.hidden:
                said.setdefault(turn.member, []).append(turn.text)
        return {member: found for member, texts in said.items() if (found := decay(texts)) is not None}

    # -- plots ----------------------------------------------------------------------------------------------------

    async def plots(self, session: str) -> list[Plot]:
        """The events and threads of a story, in the order in which they were noted. Raises NotFound or AgentError."""
        return plots_of(await asyncio.to_thread(self._play, session))

    async def note_plot(
        self, session: str, title: str, *, sort: Sort = "event", texts: Mapping[str, str] | None = None
    ) -> str:
        """Plan an event, or open a thread; its id. `texts` are aspects of agent/story/plots.py. Raises AgentError."""
        texts = texts or {}
        if unknown := sorted(set(texts) - set(PLOT_TEXTS)):
            raise AgentError(f"A plot has no {unknown[0]}. Nothing was changed. It has: {', '.join(PLOT_TEXTS)}.")
        play, world, head = await asyncio.to_thread(self._standing, session)
        plot = new_id()
        line = {"world": world, "owner": f"{PLOT}{plot}", "after": head}
        said = {"title": _fit(title), "sort": sort, "state": ACTIVE if sort == "thread" else PLANNED, **texts}
        events = [
            StageSet.model_validate({**line, "aspect": aspect, "text": _of_plot(play, aspect, _worded(text))})
            for aspect, text in said.items()
            if text.strip()
        ]
        await self._recorder.record(*events)
        return plot

    async def due(self, session: str) -> list[Plot]:
        """The planned events whose time has come: their trigger and what they need are there. Raises AgentError."""
        return due(await asyncio.to_thread(self._play, session))

    async def move_plot(
        self, session: str, plot: str, state: str, *, keep: Sequence[tuple[str, str, str]] = ()
    ) -> Plot:
        """A plot starts, is completed, cancelled or expires.

        Of one that is completed, `keep` is what stays: owner, aspect ("inventory", "fact", or of a tie) and words.
        Raises AgentError.
        """
        play, world, head = await asyncio.to_thread(self._standing, session)
        found = plot_by(play, plot)
        line = {"world": world, "owner": f"{PLOT}{found.id}", "after": head}
        events: list[Event] = [StageSet.model_validate({**line, "aspect": "state", "text": moved(found, state)})]
        if state == COMPLETED and found.on_complete:
            events.append(StageSet(world=world, owner=WORLD, aspect="anchor", after=head, text=found.on_complete))
        for owner, aspect, text in keep if state == COMPLETED else ():
            if aspect not in PROMOTED or (aspect != "fact" and aspect not in aspects_of(owner, play)):
                raise AgentError(f"A plot leaves nothing as {aspect}. Nothing was changed.")
            says = _worded(text)
            if aspect == "inventory" and (has := play.text(owner, aspect)):
                says = _worded(f"{has}, {text}")
            elif aspect == "fact":
                owner, aspect = _known(play, owner).id, f"{FACT}{new_id()}"
            elif aspect in (AFFINITY, TRUST):
                says = _value(says)
            events.append(StageSet(world=world, owner=owner, aspect=aspect, after=head, text=says))
        events += started(play, events)
        await self._recorder.record(*events)
        return replace(found, state=state)

    # -- time -----------------------------------------------------------------------------------------------------

    async def skip_plan(self, session: str, clock: str) -> SkipPlan:
        """What a skip to a time would do. Raises AgentError."""
        play = await asyncio.to_thread(self._play, session)
        now = _fit(clock)
        line = StageSet(world=WORLD, owner=WORLD, aspect="clock", text=now)
        begin = {event.owner.removeprefix(PLOT) for event in started(play, [line])}
        return SkipPlan(
            now,
            play.text(WORLD, "clock"),
            tuple(_open_scenes(play)),
            tuple(line for line in map(play.lines.get, _passing(play)) if line is not None),
            tuple(plot for plot in plots_of(play) if plot.id in begin),
        )

    async def skip(
        self, session: str, clock: str, *, narration: str = "", gaps: Mapping[str, str] | None = None
    ) -> str:
        """Time passes: the scene closes, what people do is over, and it is `clock`; the id of the skip.

        What was to begin then begins. `narration` is told to whoever is present; `gaps` is what members remember of the
        time between, by their ids, as the user accepted it. Raises AgentError.
        """
        play, world, head = await asyncio.to_thread(self._standing, session)
        now = _fit(clock)
        if now.casefold() == play.text(WORLD, "clock").casefold():
            raise AgentError(f"It is {now} already. Nothing was changed. Say to when time skips.")
        you = play.seated("you")
        skipped, events = new_id(), await asyncio.to_thread(self._closing, session, play, _open_scenes(play))
        if events:
            events.append(StageSet(world=world, owner=WORLD, aspect="scene", after=head, text=None))
        if narration.strip() and you is not None:
            told = TurnSaid(
                turn=new_id(),
                session=session,
                parent=head,
                role=Role.NOTE,
                speaker=you.id,
                client=self._client,
                witnesses=tuple(each.id for each in play.present),
                text=narration.strip(),
            )
            events.append(told)
            head = told.turn
        events.append(StageSet(world=world, owner=WORLD, aspect="clock", after=head, text=now))
        events += [
            StageSet(world=world, owner=owner, aspect=aspect, after=head, text=None) for owner, aspect in _passing(play)
        ]
        for member_id, text in (gaps or {}).items():
            _known(play, member_id)
            if text.strip():
                aspect = f"{GAP}{skipped}"
                says = _worded(text)
                events.append(StageSet(world=world, owner=member_id, aspect=aspect, after=head, text=says))
        await self._recorder.record(*events, *started(play, events))
        await self._prompts.compress(session)
        return skipped

    # -- scenes ---------------------------------------------------------------------------------------------------

    async def scenes(self, session: str) -> list[Scene]:
        """The scenes of a chat, in the order in which they began. Raises NotFound or AgentError."""
        return scenes_of(await asyncio.to_thread(self._play, session))

    async def open_scene(self, session: str, title: str) -> str:
        """Begin a scene; the one that is open is closed. Its id. Raises AgentError."""
        return await self._open(session, title)

    async def meanwhile(self, session: str, title: str = "Meanwhile") -> str:
        """A scene of the others without you, who see nothing of it; its id. Raises AgentError."""
        play, world, head = await asyncio.to_thread(self._standing, session)
        you = play.seated("you")
        if you is None or len(play.voices) < 2:
            raise AgentError("Two others have to be there to go on without you. Nothing was changed. /present NAME.")
        if not play.is_present(you):
            raise AgentError("They are without you already. Nothing was changed. /meanwhile end comes back.")
        away = StageSet(world=world, owner=you.id, aspect=PRESENT, after=head, text=ABSENT)
        return await self._open(session, title, away)

    async def come_back(self, session: str) -> Scene:
        """End the scene without you: each who was there keeps a summary of it, and you are there. Raises AgentError."""
        play, world, head = await asyncio.to_thread(self._standing, session)
        you = play.seated("you")
        if you is None or play.is_present(you):
            raise AgentError("You are there already. Nothing was changed.")
        back = StageSet(world=world, owner=you.id, aspect=PRESENT, after=head, text=None)
        return await self._close(session, back)

    async def _open(self, session: str, title: str, *more: Event) -> str:
        play, world, head = await asyncio.to_thread(self._standing, session)
        events = await asyncio.to_thread(self._closing, session, play, _open_scenes(play))
        scene = new_id()
        line = {"world": world, "owner": f"{SCENE}{scene}", "after": head}
        events += [
            StageSet.model_validate({**line, "aspect": TITLE, "text": _fit(title)}),
            StageSet.model_validate({**line, "aspect": STATE, "text": OPEN}),
            StageSet(world=world, owner=WORLD, aspect="scene", after=head, text=_fit(title)),
        ]
        events += more
        await self._recorder.record(*events, *started(play, events))
        await self._prompts.compress(session)
        return scene

    async def close_scene(self, session: str) -> Scene:
        """Close the scene that is open: whoever was there keeps a summary of what it saw. Raises AgentError."""
        return await self._close(session)

    async def _close(self, session: str, *more: Event) -> Scene:
        play, world, head = await asyncio.to_thread(self._standing, session)
        closing = _open_scenes(play)
        if not closing:
            raise AgentError("No scene is open. Nothing was changed. /scene TITLE begins one.")
        events = await asyncio.to_thread(self._closing, session, play, closing)
        events += [StageSet(world=world, owner=WORLD, aspect="scene", after=head, text=None), *more]
        await self._recorder.record(*events, *started(play, events))
        await self._prompts.compress(session)
        return closing[-1]

    def _closing(self, session: str, play: Play, scenes: Sequence[Scene]) -> list[Event]:
        """What closes some scenes, with what each voice keeps of them."""
        about = self._memory.readings.session(session)
        events: list[Event] = []
        for scene in scenes:
            line = {"world": about.world, "after": self._memory.readings.stands_at(session)}
            closed = {**line, "owner": f"{SCENE}{scene.id}", "aspect": STATE, "text": CLOSED}
            events.append(StageSet.model_validate(closed))
            for member in play.cast:
                if member.seat == "you":
                    continue
                seen = self._seen_since(session, member.id, scene.after)
                ratings = self._memory.readings.ratings(turn.id for turn in seen)
                says = summary(scene.title, seen, ratings, {word for words in spent(play) for word in words})
                if says:
                    kept = {"owner": member.id, "aspect": f"{SCENE}{scene.id}", "text": says, "by": "rule"}
                    sources = tuple(turn.id for turn in seen)
                    events.append(StageSet.model_validate({**line, **kept, "sources": sources}))
        return events

    def _seen_since(self, session: str, member: str, after: str | None) -> list[Turn]:
        """What a member saw of a chat below a turn; all of it where that is None."""
        path = self._memory.readings.thread(session)
        first = next((at for at, turn in enumerate(path, start=1) if turn.id == after), 0)
        below = {turn.id for turn in path[first:]}
        seen = self._memory.readings.thread(session, witness=member)
        return [turn for turn in seen if turn.id in below and turn.text is not None and not turn.hidden]

    async def stage(self, session: str) -> list[StageLine]:
        """What stands on a chat's stage, but for seats and cards. Raises NotFound, or AgentError."""
        return set_lines(await asyncio.to_thread(self._play, session))

    async def witnessed(self, turn: str, members: Sequence[str]) -> Recorded:
        """Only these members of the cast saw a message. Raises NotFound or AgentError."""
        before = await asyncio.to_thread(self._memory.readings.turn, turn)
        if before.witnesses is None:
            raise AgentError(NO_STORY)
        return await self._recorder.record(TurnWitnessed(turn=turn, witnesses=tuple(members)))

    async def reset(self, session: str, member: str) -> Recorded:
        """A member forgets all that it saw so far, in every chat of the story; undone as any change."""
        play, world, _ = await asyncio.to_thread(self._standing, session)
        _known(play, member)
        head = await asyncio.to_thread(self._memory.head)
        return await self._recorder.record(CastReset(world=world, member=member, since=head))

    # -- cards ----------------------------------------------------------------------------------------------------

    async def card(self, session: str, member: str) -> bytes:
        """A member's card as JSON of version 3. Raises AgentError."""
        return card_json(await asyncio.to_thread(self._card, session, member))

    # -- inside ---------------------------------------------------------------------------------------------------

    def _card(self, session: str, member: str) -> Card:
        play = self._play(session)
        who = _known(play, member)
        as_read = play.text(member, READ_AS)
        return read_card(as_read.encode(), who.name) if as_read else card_of(play, who)

    def _seen_by(self, session: str, member: str) -> list[Turn]:
        _known(self._play(session), member)
        return [
            turn
            for turn in self._memory.readings.thread(session, witness=member)
            if turn.text is not None and not turn.hidden
        ]

    def _play_or_none(self, session: str) -> Play | None:
        return play_of(self._memory.readings, self._memory.readings.session(session))

    def _play(self, session: str) -> Play:
        play = self._play_or_none(session)
        if play is None:
            raise AgentError(NO_STORY)
        return play

    def _standing(self, session: str) -> tuple[Play, str, str | None]:
        """The play of a chat, its world, and the turn from which on something is to hold."""
        about = self._memory.readings.session(session)
        play = play_of(self._memory.readings, about)
        if play is None:
            raise AgentError(NO_STORY)
        return play, about.world, self._memory.readings.stands_at(session)


async def read_card_file(path: Path) -> Card:
    """The card of a file. Raises CardError, or AgentError for a file that cannot be read."""

    def read() -> Card:
        try:
            return read_card(path.read_bytes(), path.stem)
        except OSError as error:
            raise AgentError(f"{path} cannot be read: {error.strerror}. Nothing was changed.") from error

    return await asyncio.to_thread(read)


async def read_book_file(path: Path) -> Book:
    """The lorebook of a JSON file. Raises AgentError."""

    def read() -> Book:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise AgentError(f"{path} cannot be read: {error.strerror}. Nothing was changed.") from error
        salvage = Salvage()
        try:
            value = normal_book(json.loads(data), salvage) if len(data) <= MOST_BOOK else None
        except (ValueError, RecursionError):
            value = None
        book = book_of(value, salvage) if value is not None else Book()
        if not book.entries:
            advice = "Nothing was changed. Export it as JSON."
            raise AgentError(f"{path.name} holds no lorebook of at most {MOST_BOOK >> 20} MB. {advice}")
        return book if book.name else replace(book, name=path.stem)

    return await asyncio.to_thread(read)


def _open_scenes(play: Play) -> list[Scene]:
    return [each for each in scenes_of(play) if each.open]


def _known(play: Play, member: str) -> Member:
    found = play.member(member)
    if found is None:
        raise AgentError("There is nobody like that in this cast. Nothing was changed. /cast tells who plays.")
    return found


def _value(text: str) -> str:
    """A value of a tie as a line sets it. Raises AgentError."""
    number = amount(text)
    if number is None or not -100 <= number <= 100:
        raise AgentError(f"“{text[:20]}” is no number from -100 to 100. Nothing was changed.")
    return f"={number}"


def _worded(text: str) -> str:
    """The words of a line, on one line. Raises AgentError where they are too many."""
    says = " ".join(text.split())
    if len(says) > LONGEST:
        raise AgentError(f"That is {len(says):,} characters of at most {LONGEST}. Nothing was changed. Shorten it.")
    return says


def _of_plot(play: Play, aspect: str, says: str) -> str:
    """An aspect of a plot as it is stored: members by their ids. Raises AgentError."""
    if aspect == "title":
        return _fit(says)
    if aspect == "significance" and says not in ("", "0", "1", "2", "3"):
        raise AgentError(f"“{says[:20]}” is no significance from 0 to 3. Nothing was changed.")
    if aspect != "known" or all(play.member(each) is not None for each in says.split()):
        return says
    return " ".join(meant(play, name) for name in says.split(",") if name.strip())


def _passing(play: Play) -> list[tuple[str, str]]:
    """What of the cast is over when time skips, by owner and aspect."""
    return [(each.id, aspect) for each in play.cast for aspect in PASSING if play.text(each.id, aspect)]


def _fit(name: str) -> str:
    """A name on one line, with something to read in it. Raises AgentError."""
    fit = " ".join("".join(char if char.isprintable() else " " for char in name).split())[:LONGEST_NAME]
    if not fit:
        raise AgentError("A name needs a letter to read. Nothing was changed.")
    return fit


def _seated(world: str, member: str, seat: Seat, card: Card, after: str | None) -> list[Event]:
    """A member with a card, whose dice are thrown once, here."""
    rng = random.Random(member)
    thrown = replace(
        card,
        description=drawn(card.description, rng),
        personality=drawn(card.personality, rng),
        scenario=drawn(card.scenario, rng),
        examples=drawn(card.examples, rng),
        system_prompt=drawn(card.system_prompt, rng),
        post_history=drawn(card.post_history, rng),
    )
    place = {"world": world, "owner": member, "after": after}
    events: list[Event] = [
        CastSet(world=world, member=member, seat=seat, after=after, text=_fit(card.name)),
        StageSet.model_validate({**place, "aspect": CARD, "text": card_json(thrown).decode()}),
    ]
    if thrown != card:
        events.append(StageSet.model_validate({**place, "aspect": READ_AS, "text": card_json(card).decode()}))
    return events
