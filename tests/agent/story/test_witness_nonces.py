"""Who saw what, through the whole Agent: no voice is given a word that it did not see, or can tell that it missed one.

Deeds are done in any order, and after each all is looked through that a voice was given (bench/fiction/leaks.py); and
they are done again without what one of the cast did not see, which must be the same to it (bench/fiction/twin.py). That
the first finds what it is to find is tested with faults that are put in on purpose.
"""

import asyncio
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st

from agent.pending import PendingAnswer
from agent.prompts import Prompts
from agent.recall import Recaller
from agent.reply import Drawn, PartialReply
from agent.shelf import Shelf
from agent.story import voice
from agent.story.play import Play
from agent.story.stops import Stops
from bench.fiction import making
from bench.fiction.__main__ import leaks
from bench.fiction.episodes import FILE, Cast, Episode, Say, deed_of, read, to_json
from bench.fiction.leaks import LEAKS, Leak, Looker
from bench.fiction.playing import Actor, Performance, settings_of
from bench.fiction.real import LIMITS, Recorded, sampling
from bench.fiction.twin import twins
from bench.fiction.voices import Lines, begins_as, listen, of_two, talk
from graph.readings.conversation import Readings
from graph.values import Filters, Speaker
from models.protocols import Piece
from tests.examples import few, histories, soaking

STEPS = st.lists(st.tuples(st.sampled_from(making.KINDS), st.integers(0, 999)), min_size=4, max_size=14)
PHASES = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)  # to explain takes minutes, and tells little
LONG = "under the third stone from the left as one comes in from the sea, where nobody has looked for a hundred years"
CAST = Cast(
    host={"name": "Mara", "description": "A keeper.\n\nShe hid the key.", "greetings": ["Come in."]},
    guest={"name": "Jonas", "description": "A smuggler.\n\nHe fears water."},
    you="Ada",
)


def story(*deeds: dict[str, Any], cast: Cast = CAST) -> Episode:
    """An episode of these deeds."""
    return Episode(name="The Lighthouse", cast=cast, deeds=tuple(deed_of(**deed) for deed in deeds))


def say(text: str, **more: Any) -> dict[str, Any]:
    return {"do": "say", "text": text, **more}


def deed(do: str, **more: Any) -> dict[str, Any]:
    return {"do": do, **more}


SECRET = say(f"Mara, the gold lies {LONG}.", **{"as": "gold"})
AWAY, BACK = deed("away", who="Jonas"), deed("present", who="Jonas")
ASKED = say("Jonas, where is it?")


async def leaks_of(episode: Episode, folder: Path, **how: Any) -> list[Leak]:
    performance = Performance(episode, folder / "home", **how)
    looker, found = Looker(performance), list[Leak]()
    try:
        async for done in performance.play():
            found += await looker.look(done)
    finally:
        await performance.close()
    return [leak for leak in found if leak.kind in LEAKS]


# -- anything in any order --------------------------------------------------------------------------------------------


@given(STEPS, st.booleans(), st.booleans())
@histories(60, excused=[HealthCheck.function_scoped_fixture], phases=PHASES)
def test_no_voice_is_given_a_word_that_it_did_not_see(steps: list[tuple[str, int]], judges: bool, kv: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        made = making.of("steps", steps, CAST)
        asked = tuple(deed_of(**each) for each in (deed("present", who="Mara"), BACK, ASKED, say("Mara, and you?")))
        episode = made.model_copy(update={"deeds": (*made.deeds, *asked)})
        assert asyncio.run(leaks_of(episode, Path(folder), kv_mb=int(kv), model=Actor(judges=judges))) == []


@given(STEPS, st.sampled_from(("Mara", "Jonas")), st.booleans())
@histories(25, excused=[HealthCheck.function_scoped_fixture], phases=PHASES)
def test_a_voice_is_given_the_same_without_what_it_missed(steps: list[tuple[str, int]], who: str, recall: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(twins(making.of("steps", steps, CAST), Path(folder), b=who, recall=recall))
        assert (found.difference, found.undone) == (None, "")


@pytest.mark.stateful
async def test_no_voice_is_given_a_word_that_it_did_not_see_in_scripted_stories(tmp_path: Path) -> None:
    for episode in read(FILE)[:: 50 // few(10)]:
        assert await leaks_of(episode, tmp_path / episode.name, kv_mb=1) == [], episode.name


def test_the_scripted_stories_are_no_two_alike() -> None:
    episodes = read(FILE)
    assert len({episode.name for episode in episodes}) == len(episodes) == 50
    said = Counter(each.text for episode in episodes for each in episode.deeds if isinstance(each, Say))
    assert said.most_common(1)[0][1] == 1
    done = {each.do for episode in episodes for each in episode.deeds}
    assert done >= {"speak", "join", "leave", "witness", "rewind", "switch", "regenerate", "edit", "fork", "reset"}


def test_an_episode_is_read_as_it_was_written_and_a_file_that_has_none_is_told_by_its_name(tmp_path: Path) -> None:
    made, file = making.episode(7), tmp_path / "episodes.json"
    file.write_text(to_json([made]), encoding="utf-8")
    assert read(file) == (made,) == (making.episode(7),)
    for wrong in ('[{"name": "x"}]', '[{"name": "x", "cast": {"host": {}}, "deeds": [{"do": "fly"}]}]'):
        file.write_text(wrong, encoding="utf-8")
        with pytest.raises(ValueError, match=r"episodes\.json"):
            read(file)


# -- what is looked for is found --------------------------------------------------------------------------------------


HELLO = say("Hello.")
UNHEARD = (HELLO, AWAY, SECRET, BACK, ASKED)


def unfiltered(patch: pytest.MonkeyPatch) -> None:
    thread = Readings.thread
    patch.setattr(Readings, "thread", lambda self, session, *, witness=None, **more: thread(self, session, **more))


def another_path(patch: pytest.MonkeyPatch) -> None:
    def path(self: Prompts, key: Any, limit: int | None = None) -> Any:
        return voice.as_seen(self._memory.readings.thread(key.session), self._voices[key.voice])

    patch.setattr(Prompts, "_path", path)


def whole_cards(patch: pytest.MonkeyPatch) -> None:
    acquainted = voice._acquainted

    def told_whole(play: Any, of: Any) -> Any:
        others = acquainted(play, of)
        return (replace(each, name=f"{each.name}: {voice.card_of(play, each).description}") for each in others)

    patch.setattr(voice, "_acquainted", told_whole)


def all_seen(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Readings, "seen", lambda self, session, member, turns: set(turns))


def all_pins(patch: pytest.MonkeyPatch) -> None:
    all_seen(patch)
    pinned = Readings.pinned
    patch.setattr(Readings, "pinned", lambda self, world, *, seen_by=None, **more: pinned(self, world, **more))


def no_view(patch: pytest.MonkeyPatch) -> None:
    recall = Recaller.recall

    async def unfiltered(self: Recaller, query: str, *, limit: int, filters: Filters) -> Any:
        return await recall(self, query, limit=limit, filters=Filters(world=filters.world, exclude=filters.exclude))

    all_seen(patch)
    patch.setattr(Recaller, "recall", unfiltered)


def all_present(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Play, "is_present", lambda self, member: True)


def all_hear(patch: pytest.MonkeyPatch) -> None:
    def heard(self: PendingAnswer) -> Speaker:
        assert self.play is not None
        assert self.taken.voice is not None
        return Speaker(self.taken.voice, self.play.hearers(self.taken.voice))

    patch.setattr(PendingAnswer, "heard", property(heard))


def nothing_forgotten(patch: pytest.MonkeyPatch) -> None:
    async def nothing(self: Shelf, turns: Any) -> None:
        return None

    patch.setattr(Shelf, "forget_turns", nothing)


TOLD = say(f"Jonas, the gold lies {LONG}.", **{"as": "gold"})
PINNED = (HELLO, AWAY, SECRET, deed("pin", turn="gold"), BACK, ASKED)
ASKED_BY_WORDS = say("Jonas, which gold lies under the third stone from the left?")
TAKEN = deed("witness", turn="gold", who=["you", "Mara"])
FAULTS: list[tuple[Callable[[pytest.MonkeyPatch], None], Sequence[dict[str, Any]], set[str], set[str]]] = [
    (unfiltered, UNHEARD, {"unseen"}, {"reply of Jonas", "seen_by of Jonas"}),
    (another_path, UNHEARD, {"unseen"}, {"reply of Jonas"}),
    (whole_cards, (HELLO,), {"unseen"}, {"cards and minds in a reply of Mara"}),
    (all_pins, PINNED, {"unseen"}, {"quotes of a reply of Jonas"}),
    (no_view, (HELLO, AWAY, SECRET, BACK, ASKED_BY_WORDS), {"unseen"}, {"hits of Jonas"}),
    (all_present, (HELLO, AWAY, SECRET), {"witnesses", "cast"}, set()),
    (all_hear, (HELLO, say("Not a word of the gold.", whisper="Mara")), {"witnesses"}, set()),
    (nothing_forgotten, (TOLD, deed("rest"), TAKEN), {"unseen"}, {"a state of Jonas"}),
]


@pytest.mark.parametrize(("fault", "deeds", "kinds", "where"), FAULTS, ids=[fault.__name__ for fault, *_ in FAULTS])
async def test_a_fault_that_is_put_in_is_found(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fault: Callable[[pytest.MonkeyPatch], None],
    deeds: Sequence[dict[str, Any]],
    kinds: set[str],
    where: set[str],
) -> None:
    fault(monkeypatch)
    found = await leaks_of(story(*deeds), tmp_path, kv_mb=1)
    assert {leak.kind for leak in found} == kinds
    assert where <= {f"{leak.where} of {leak.who}" for leak in found}


async def test_a_twin_that_differs_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def path(self: Prompts, key: Any, limit: int | None = None) -> Any:
        thread, seen = self._memory.readings.thread, self._memory.readings.thread(key.session, witness=key.voice)
        missed = len(thread(key.session)) - len(seen)
        shown = voice.as_seen(seen, self._voices[key.voice])
        return shown[1:] if missed else shown

    monkeypatch.setattr(Prompts, "_path", path)
    found = await twins(story(*UNHEARD), tmp_path, b="Jonas", recall=False)
    assert found.difference is not None


# -- what was found, as short as it is --------------------------------------------------------------------------------


def edit(text: str) -> dict[str, Any]:
    return deed("edit", turn="gold", text=text)


WHISPERED = say("The gold is in the well.", whisper="Mara", **{"as": "gold"})
SAFE: dict[str, Sequence[dict[str, Any]]] = {
    "who was away hears no edit of what was said then": (HELLO, AWAY, SECRET, BACK, edit("It is in the well."), ASKED),
    "who was there hears an edit of what was said then": (HELLO, TOLD, AWAY, edit("Jonas, it is in the tower.")),
    "an edit of a whisper is a whisper": (HELLO, WHISPERED, edit("The gold is in the tower."), ASKED),
    "a chat that is looked at while nobody is there": (HELLO, AWAY, deed("away", who="Mara"), deed("look")),
    "who is reset after a restart leaves no state": (TOLD, deed("restart"), deed("reset", who="Jonas")),
    **{
        f"what was taken by {deed['do']} from who is away goes to no disk": (
            *(TOLD, AWAY, deed, say("Mara, and now?")),
            {"do": "rest"},
        )
        for deed in (deed("hide", turn="gold"), TAKEN)
    },
}


@pytest.mark.parametrize("deeds", SAFE.values(), ids=SAFE)
async def test_no_voice_is_given_what_it_did_not_see_where(deeds: Sequence[dict[str, Any]], tmp_path: Path) -> None:
    assert await leaks_of(story(*deeds), tmp_path, kv_mb=1) == []


STAGED = (deed("scene", name="Dusk"), say(f"Mara, it lies {LONG}."), deed("rest"))


async def kept_after(folder: Path, *deeds: dict[str, Any], graph: bool = False) -> int:
    """How many states are on the disk after these deeds."""
    performance = Performance(story(*deeds), folder / "home", kv_mb=1, graph=graph)
    try:
        async for _ in performance.play():
            pass
        return len(list(performance.states()))
    finally:
        await performance.close()


async def test_a_state_that_quotes_the_stage_outlives_a_restart(tmp_path: Path) -> None:
    assert await kept_after(tmp_path, *STAGED, deed("restart"), graph=True)


async def test_a_state_that_quotes_the_stage_outlives_what_is_hidden_elsewhere(tmp_path: Path) -> None:
    assert await kept_after(tmp_path, *STAGED, say("((slower please))"), deed("hide", turn=-1))


async def test_only_the_first_paragraph_of_a_card_is_told_whatever_ends_it(tmp_path: Path) -> None:
    for at, gap in enumerate(("\r\n\r\n", "\n \n", "\n\t\n")):
        host = {**CAST.host, "description": f"A keeper (nonceo0z).{gap}She hid noncep0z."}
        cast = CAST.model_copy(update={"host": host})
        assert await leaks_of(story(HELLO, ASKED, cast=cast), tmp_path / str(at)) == [], gap


async def test_who_is_away_stays_so_where_the_message_it_left_at_is_deleted(tmp_path: Path) -> None:
    performance = Performance(story(say("Hello."), AWAY, deed("delete", turn=-1), SECRET), tmp_path / "home")
    try:
        async for _ in performance.play():
            pass
        (session,) = performance.book.chats
        seen = await performance.agent.stories.seen_by(session, performance.member["Jonas"])
        assert not any("gold" in (turn.text or "") for turn in seen)
    finally:
        await performance.close()


PEBBLES = " ".join(f"pebble{at}" for at in range(200))


async def test_who_speaks_unasked_recalls_by_what_it_heard_last(tmp_path: Path) -> None:
    long = deed("compact")
    deeds = [HELLO, *[long] * 4, say("Jonas, hm."), *[long] * 3, say("Mara, not a word.", whisper="Mara")]
    found = await twins(story(*deeds, deed("speak", who="Jonas")), tmp_path, b="Jonas", recall=True)
    assert found.difference is None


async def test_a_quote_is_the_same_however_much_was_missed(tmp_path: Path) -> None:
    told = say("Jonas, the gold lies buried under the chapel floor.")
    long = say(f"Jonas, {PEBBLES}.")
    missed = [AWAY, say("Mara, a fine morning."), say("Mara, a fine evening."), BACK]
    asked = say("Jonas, where was the gold buried under the chapel?")
    deeds = [told, *[long] * 3, *[*missed, long] * 6, asked]
    assert (await twins(story(*deeds), tmp_path, b="Jonas", recall=True)).difference is None


# -- voices -----------------------------------------------------------------------------------------------------------


def drawn(names: Sequence[str], *steps: Piece) -> PartialReply:
    """A reply of these steps, which must not speak for some names."""
    reply = PartialReply()
    drawn = Drawn(reply, [Stops(names)])
    for step in steps:
        if drawn.take(step)[1]:
            break
    drawn.end(Actor())
    return reply


def test_a_line_of_somebody_by_a_part_of_their_name_is_cut_and_leaves_no_half_of_a_letter() -> None:
    reply = drawn(["Émile"], Piece((1,), ""), Piece((2,), "É"), Piece((3,), "mile:"))  # the letter is two tokens
    assert (reply.text, reply.tokens) == ("", [])
    part = drawn(["Jonas Feld"], Piece((1,), "Hm."), Piece((2,), "\nJonas: I know."))
    assert part.text == "Hm."


def test_a_line_of_another_is_known() -> None:
    for line in ("Jonas: Hm.", "**Jonas**: Hm.", "“JONAS: Hm."):
        assert begins_as(line, ["Jonas"]), line
    for line in ("Jonas looks: there.", "Hm."):
        assert not begins_as(line, ["Jonas"]), line


def test_what_is_found_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    episodes = [story(*UNHEARD), story(say("Good evening, Jonas."))]
    assert leaks(episodes, "two", kv_mb=0)["two_leaks"] == 0
    unfiltered(monkeypatch)
    assert leaks(episodes, "two", kv_mb=0)["two_leaking_episodes"] == 1


# -- a real model -----------------------------------------------------------------------------------------------------


@pytest.fixture
def _untrusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The default model is not trusted to judge, and is not asked again and again whether it can."""

    async def probe(generator: Any) -> float:
        return 0.0

    monkeypatch.setattr("agent.composition.learning.probe", probe)


@pytest.mark.model
@pytest.mark.usefixtures("_untrusted")
async def test_a_real_voice_writes_no_line_of_another_and_its_prompts_follow(tmp_path: Path, generator: Any) -> None:
    says, most, least = (5, 32, 18) if soaking() else (3, 16, 3)
    lines, cache = Lines(), tmp_path / "cache"
    for at, episode in enumerate(list(of_two(read(FILE)))[: few(3)]):
        short, folder = talk(episode, says=says), tmp_path / str(at)
        await listen(short, folder, model=Recorded(generator), lines=lines, seed=at, cache=cache, most=most)
    assert lines.replies >= least
    assert (lines.of_another, lines.untold, lines.rewritten) == ([], [], [])


@pytest.mark.model
@pytest.mark.usefixtures("_untrusted")
async def test_no_real_voice_is_given_a_word_that_it_did_not_see(tmp_path: Path, generator: Any) -> None:
    settings = settings_of(recall=True, kv_mb=0, **{**LIMITS, "sampling": sampling(1, few(32))})
    more = [say("Mara, and you?", whisper="Mara")] if soaking() else []
    episode = story(*UNHEARD[1:], *more, deed("speak", who="Jonas"))
    assert await leaks_of(episode, tmp_path, model=Recorded(generator), settings=settings) == []
