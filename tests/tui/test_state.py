"""The fold of events into what the screen knows, without an app."""

from functools import reduce

from agent import events as happened
from tui.fold import fold
from tui.state import RECALLS_KEPT, State, activity, model_label, model_step, resumed


def accepted(turn: str, *, queued: bool = False, session: str = "S") -> happened.TurnAccepted:
    return happened.TurnAccepted(session, turn, f"text {turn}", queued, False)


READY: tuple[happened.AgentEvent | happened.Notice, ...] = (happened.MemoryReady(0, 0), happened.ModelReady("m", 8192))
BEGUN = (*READY, accepted("T1"), happened.ReplyStarted("S", "T1", "R1", "m", 10))
ENDED = happened.ReplyEnded("S", "T1", "R1", "Hi.", False, "end", None, 10, 4, 3, 50.0, 100.0, 13, 8192)


def folded(*events: happened.AgentEvent | happened.Notice, state: State | None = None) -> State:
    return reduce(fold, events, state or State())


def test_a_message_waits_until_its_reply_starts_which_grows_with_its_own_tokens_and_ends() -> None:
    state = folded(*READY, accepted("T1"))
    assert [message.turn for message in state.waiting_in("S")] == ["T1"]
    assert activity(state, "S") == "looking in your memory"
    assert activity(fold(state, happened.RecallDone("S", "T1", "recall", (), 1.0)), "S") == "thinking"
    state = folded(BEGUN[-1], accepted("T2", queued=True), state=state)
    assert [message.turn for message in state.waiting_in("S")] == ["T2"]
    assert activity(state, "S") == "thinking"
    for token in (("R1", "Hel", 1, 9.0), ("other", "no", 1, 9.0), ("R1", "lo", 2, 10.0)):
        state = fold(state, happened.TokensArrived("S", *token))
    assert state.reply is not None
    assert (state.reply.text, state.reply.tokens, state.reply.tokens_per_second) == ("Hello", 2, 10.0)
    assert activity(state, "S") == "writing"
    assert activity(state, "elsewhere") == "replying in another chat"
    state = fold(state, ENDED)
    assert (state.reply, state.context["S"]) == (None, (13, 8192))
    assert [(message.turn, message.queued) for message in state.waiting_in("S")] == [("T2", True)], "the queued stay"
    assert activity(folded(*BEGUN, ENDED), "S") == "ready"


def test_between_two_tool_calls_it_looks_things_up_and_only_so_many_recalls_are_kept() -> None:
    state = folded(*READY, accepted("T1"), happened.RecallDone("S", "T1", "recall", (), 1.0))
    assert state.recall_for("T1") is not None
    assert state.recall_for("T2") is None
    state = fold(state, happened.ToolAsked("S", "T1", "C1", "themes", {}))
    assert activity(state, "S") == "looking it up"
    assert activity(state, "elsewhere") == "ready"
    state = fold(state, happened.ToolDone("S", "T1", "C1", "themes", "none"))
    assert activity(state, "S") == "looking it up"
    assert activity(fold(state, happened.Failed("gone", "T1")), "S") == "ready"
    state = fold(state, BEGUN[-1])
    assert activity(state, "S") == "thinking"
    assert state.tool is None
    state = folded(*(happened.RecallDone("S", f"T{number}", "recall", (), 1.0) for number in range(3 * RECALLS_KEPT)))
    assert len(state.recalls) == RECALLS_KEPT
    assert state.recall_for(f"T{3 * RECALLS_KEPT - 1}") is not None


def test_reading_a_long_prompt_is_told_until_the_first_word_and_a_failure_ends_its_own_reply_only() -> None:
    state = folded(*BEGUN, happened.PromptRead("S", "T1", 3_100, 8_000))
    assert activity(state, "S") == "reading 3,100 of 8,000 tokens"
    assert activity(state, "elsewhere") == "replying in another chat"
    assert activity(fold(state, happened.TokensArrived("S", "R1", "", 0, 0.0, thinking=True)), "S") == "thinking"
    assert fold(state, ENDED).read is None
    assert fold(state, happened.Failed("no", None)).reply is state.reply
    after = fold(state, happened.Failed("no", "T1"))
    assert (after.read, after.reply, after.trouble) == (None, None, "no")


def test_a_queued_message_is_on_hold_until_it_is_looked_for_or_taken_back() -> None:
    events = (*READY, accepted("T1", queued=True), accepted("T2", queued=True), happened.QueueHeld("S", ("T1", "T2")))
    state = folded(*events)
    assert [message.turn for message in state.queued_in("S")] == list(state.held["S"]) == ["T1", "T2"]
    assert (state.coming, activity(state, "S")) == ((), "ready")
    state = folded(
        *events,
        happened.QueueHeld("S", ()),
        happened.RecallDone("S", "T1", "recall", (), 1.0),
        happened.TurnWithdrawn("S", "T2"),
    )
    assert (state.queued_in("S"), state.held["S"]) == ((), ())
    assert [message.turn for message in state.waiting_in("S")] == ["T1"]


def test_the_model_goes_from_fetching_to_ready_or_failed_which_leaves_the_one_that_is() -> None:
    state = folded(happened.MemoryReady(3, 1), happened.ModelProgress("fetching", "m", 5, 10))
    assert state.recovered == 1
    assert activity(state, None) == "downloading a model"
    assert model_step("fetching", "minilm-l6") == "downloading the search model minilm-l6"
    assert model_step("loading", "My.gguf") == "loading the chat model My.gguf"
    assert activity(fold(state, happened.ModelProgress("loading", "m")), None) == "loading the model"
    assert activity(fold(state, happened.ModelProgress("loading", "m", 62, 100)), None) == "loading the model 62%"
    assert activity(fold(state, happened.ModelFailed("m", "not a GGUF")), None) == "no model"
    assert activity(State(), None) == "opening"
    state = folded(*READY, happened.ModelProgress("loading", "x"), happened.ModelFailed("x", "not a GGUF"))
    assert activity(state, None) == "ready"
    assert (state.model.name, state.trouble) == ("m", "not a GGUF")
    assert model_label("smollm2-135m") == "smollm2-135m"
    assert model_label("/some/where/tiny.Q4_0.gguf") == "tiny.Q4_0"


def test_the_context_is_that_of_the_last_reply_of_a_compaction_or_of_a_model_with_another_size() -> None:
    state = folded(*BEGUN, ENDED, happened.Compaction("S", "started", 6100, 0))
    assert state.compacting == "S"
    state = fold(state, happened.Compaction("S", "done", 6100, 2900))
    assert (state.compacting, state.context["S"]) == (None, (2900, 8192))
    state = folded(
        *READY, ENDED, happened.Compaction("S", "started", 9, 0), happened.Compaction("S", "interrupted", 9, 9)
    )
    assert (state.compacting, state.context["S"]) == (None, (13, 8192)), "as it was"
    assert folded(ENDED, happened.ModelReady("m", 16384)).context["S"] == (13, 16384)
    assert resumed(State(), "S", 40).context["S"] == (40, 0)
    assert resumed(folded(ENDED), "S", 40).context["S"] == (13, 8192), "it is known"
    state = folded(*READY)
    assert fold(state, happened.SessionsChanged("S")) == state
    assert fold(state, happened.Warned("careful")).trouble == "careful"
    assert fold(state, happened.GraphProgress("rebuilding", 1, 2)).graph == happened.GraphProgress("rebuilding", 1, 2)
