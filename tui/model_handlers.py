"""What a chat has of its own: what the model is told first, how words are drawn, its model, a better one offered."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from tui.chat_view import NOT_YET, ChatView
from tui.state import model_label, speed_of
from tui.text import one_line, size_of
from tui.widgets.dialogs import AskText, Confirm
from tui.widgets.message import UserMessage

if TYPE_CHECKING:
    from agent.events import ReplyEnded
    from graph.events import Sampling
    from graph.values import Session
    from tui.backstage import Backstage, Choice
    from tui.chat import Chat


MODELS_NOT_YET = "The list of models is still loading."
NONE_FITS = "No better model in the catalogue fits this computer. Use /model to see them all."
LATER = "You will be asked again in a week. Use /better to download it any time."
AS_PROMISED = 0.7  # of the pace that was told
NEVER = "You will not be asked again. Use /better or /model to change the model."


async def after_reply(view: ChatView, event: "ReplyEnded") -> None:
    """The first reply has ended: offer what this machine could run, unless that is not wanted."""
    chat, backstage = view.chat, view.backstage
    if chat is None or backstage is None:
        return
    if (promised := view.promised) is not None and promised.name == chat.state.model.name:
        view.promised, pace = None, speed_of(event)
        if 0 < pace < AS_PROMISED * promised.pace:
            name = one_line(promised.name)
            view.ui.say(
                f"{name} writes {pace:.0f} tokens/s here, not the {promised.pace:.0f} expected. /model changes it."
            )
    if not backstage.may_offer():
        return
    if (found := await asyncio.to_thread(backstage.better, speed_of(event))) is not None:
        chat.offer(found)


async def better(view: ChatView, argument: str) -> None:
    """F5: get what is offered; where nothing is, offer it. `not now` and `never` are remembered."""
    match argument.strip().lower():
        case "never":
            await never(view)
        case "not now" | "later":
            await later(view)
        case _:
            await _get_or_offer(view)


async def later(view: ChatView) -> None:
    """Esc on the offer."""
    if view.chat is None or view.backstage is None:
        return
    view.chat.offer(None)
    await asyncio.to_thread(view.backstage.postpone_offer)
    view.ui.say(LATER)


async def never(view: ChatView) -> None:
    if view.chat is None or view.backstage is None:
        return
    view.chat.offer(None)
    await asyncio.to_thread(view.backstage.keep, "offer_model", False)
    view.ui.say(NEVER)


async def _get_or_offer(view: ChatView) -> None:
    chat, backstage = view.chat, view.backstage
    if chat is None or backstage is None:
        view.ui.say(MODELS_NOT_YET)
        return
    offered, session = chat.state.offer, chat.session
    if offered is None:  # F5 was pressed by chance, or /better typed: nothing is fetched that was not shown before
        found = await asyncio.to_thread(backstage.better, speed_of(chat.state.last))
        if found is None:
            view.ui.say(NONE_FITS)
        else:
            chat.offer(found)
        return
    chat.offer(None)
    if not offered.installed:
        await fetch(view, chat, backstage, offered.name)
    await use_everywhere(view, chat, backstage, offered.name, session)
    view.promised = offered
    view.ui.say(f"{one_line(offered.name)} is now the model. Use /model to change it.")


DEFAULT = "default"
HERE = "here"
HERE_TITLE = "Model of this chat"
Fetch = Callable[[ChatView, "Chat", "Backstage", str], Awaitable[None]]


async def system(view: ChatView, argument: str) -> None:
    chat = view.chat
    if chat is None:
        view.ui.say(NOT_YET)
        return
    session = chat.session  # another chat may be opened while what follows waits
    text: str | None = argument
    if not argument:
        about = await _about(chat, session)
        now = (about.system_prompt if about else None) or chat.service.settings.system_prompt
        words = "The system prompt of this chat. Leave it empty for the default."
        text = await view.ui.ask(AskText("System prompt", now, words=words))
        if text is None:
            return
    told = (text or "").strip() or None
    await _configure(view, chat, session, system_prompt=told)
    view.ui.say("The system prompt is set for this chat." if told else "The default system prompt is back.")


async def sampling(view: ChatView, argument: str) -> None:
    """`temperature=0.2 top_k=10` on top of what is in force; `default` brings the defaults back."""
    from agent.settings import read_sampling
    from graph.events import Sampling

    chat = view.chat
    if chat is None:
        view.ui.say(NOT_YET)
        return
    session = chat.session
    about = await _about(chat, session)
    own = about.sampling if about else None
    now = Sampling.model_validate(own) if own else chat.service.settings.sampling
    text = argument or await _edited(view, now)
    if text is None:
        return
    if text == DEFAULT:
        await _configure(view, chat, session, sampling=None)
        view.ui.say("The default sampling settings are back.")
        return
    wanted = read_sampling(text, now)
    if wanted == now:
        view.ui.say("Nothing was changed.")
        return
    await _configure(view, chat, session, sampling=wanted)
    view.ui.say(f"From the next reply on in this chat: {_changes(now, wanted)}.")


async def _edited(view: ChatView, now: "Sampling") -> str | None:
    """The settings as edited in a dialog, one a line; what is wrong is told there, and can be mended there."""
    from agent.errors import SettingsError
    from agent.settings import read_sampling, write_sampling

    text: str | None = write_sampling(now).replace(" ", "\n")
    words = f"The sampling settings of this chat. “{DEFAULT}” brings the defaults back."
    while (text := await view.ui.ask(AskText("Sampling", text or "", words=words))) is not None:
        try:
            if text.strip() != DEFAULT:
                read_sampling(text, now)
        except SettingsError as error:
            words = str(error)
        else:
            return text.strip()
    return None


def _changes(now: "Sampling", wanted: "Sampling") -> str:
    from agent.settings import write_sampling

    before = write_sampling(now).split()
    return ", ".join(pair for pair in write_sampling(wanted).split() if pair not in before)


async def fetch(
    view: ChatView,
    chat: "Chat",
    backstage: "Backstage",
    name: str,
    told: Callable[[], None] = lambda: None,
) -> None:
    """Bring a model onto this disk, which the banner shows; `told` is called whenever it has something else to say."""
    from agent.events import ModelFailed, ModelProgress

    def tell(step: ModelProgress) -> None:
        chat.notice(step)
        told()

    try:
        await asyncio.to_thread(backstage.fetch, name, lambda step: view.app.call_from_thread(tell, step))
    except backstage.failures as error:
        chat.notice(ModelFailed(name, str(error)))  # else the bar would show the fetch for ever
        raise


async def model(view: ChatView, argument: str, *, fetch: Fetch = fetch) -> None:
    """`NAME` for every chat that has none of its own, this one included, and kept; `NAME here` for this chat only.

    `fetch` brings one that is not on this disk.
    """
    chat, backstage = view.chat, view.backstage
    if chat is None or backstage is None:
        view.ui.say(NOT_YET)
        return
    session = chat.session
    asked, here = _asked(argument)
    name: str | None = asked
    choices = await asyncio.to_thread(backstage.choices)
    if not name:
        about = await _about(chat, session)
        current = (about.model if about else None) or chat.service.settings.model
        name = await _picked(view, chat, backstage, choices, current, title=HERE_TITLE if here else "Model")
    if not name or not await _installed(view, chat, backstage, choices, name, fetch):
        return
    name = backstage.absolute(name)
    if here:
        await _use_here(view, chat, backstage, name, session)
    else:
        await use_everywhere(view, chat, backstage, name, session)
    messages = view.transcript.messages
    unanswered = bool(messages) and isinstance(messages[-1], UserMessage) and not chat.state.waiting_in(chat.session)
    view.ui.say(
        f"{one_line(model_label(name))} answers from now on{' in this chat' if here else ''}."
        + (" /retry answers your last message." if unanswered else "")
    )


async def embedder(view: ChatView, name: str | None = None, *, fetch: Fetch = fetch) -> None:
    """The model that turns text into vectors, chosen from a list where it is not named; used at once, and kept."""
    from tui.widgets.model_picker import ModelPicker

    chat, backstage = view.chat, view.backstage
    assert chat is not None
    assert backstage is not None
    choices = await asyncio.to_thread(backstage.choices, embed=True)
    if name is None:
        current = chat.service.settings.embedder
        picked = await view.ui.ask(ModelPicker(choices, current, title="Embedder"))
        name = picked if isinstance(picked, str) else None
    if name and await _installed(view, chat, backstage, choices, name, fetch):
        await chat.service.models.use_embedder(name)
        await asyncio.to_thread(backstage.keep, "embedder", name)
        view.ui.say(f"{one_line(model_label(name))} is now the embedder.")


async def _picked(
    view: ChatView, chat: "Chat", backstage: "Backstage", choices: "list[Choice]", current: str, *, title: str
) -> str | None:
    """The model that is chosen from a list, with those of model servers; a server it is on is known afterwards."""
    from tui.widgets.model_picker import ModelPicker, Newcomer

    servers = chat.service.models.servers
    picker = ModelPicker(choices, current, title=title, servers=servers, failures=backstage.failures)
    picked = await view.ui.ask(picker)
    if not isinstance(picked, Newcomer):
        return picked
    server = await servers.add(picked.server.address, kind=picked.server.kind)
    return f"{picked.model}@{server}"


async def _installed(
    view: ChatView, chat: "Chat", backstage: "Backstage", choices: "list[Choice]", name: str, fetch: Fetch
) -> bool:
    """Whether a model is on this disk, for what is known of it; one that is not is fetched, after asking."""
    wanted = next((choice for choice in choices if choice.name == name), None)
    if wanted is not None and not wanted.installed:
        question = f"Download {wanted.name}? It is {size_of(wanted.size)}."
        words = "It comes over the network into the models folder. Nothing that you said is sent."
        if not await view.ui.ask(Confirm(question, words, yes="download")):
            return False
        await fetch(view, chat, backstage, name)
    return True


def _asked(argument: str) -> tuple[str, bool]:
    """The name in `NAME here`, and whether it is for this chat only."""
    if argument == HERE:
        return "", True
    name, _, last = argument.rpartition(" ")
    return (name.strip(), True) if last == HERE and name else (argument, False)


async def _configure(view: ChatView, chat: "Chat", session: str | None, **changed: Any) -> None:
    """Give a chat settings of its own; without one, begin it."""
    begun = await chat.service.chats.configure(session, project=view.options.project, **changed)
    await view.adopt(begun, asked_in=session)


async def _use_here(view: ChatView, chat: "Chat", backstage: "Backstage", name: str, session: str | None) -> None:
    if session is not None:
        await _use(view, chat, name, session)
        await view.adopt(session, asked_in=session)
        return
    begun = await chat.service.chats.configure(None, project=view.options.project)
    try:
        await _use(view, chat, name, begun)
    except backstage.failures:
        await chat.service.chats.delete(begun)  # nothing was said in it
        raise
    await view.adopt(begun, asked_in=None)


async def use_everywhere(view: ChatView, chat: "Chat", backstage: "Backstage", name: str, session: str | None) -> None:
    """Let a model answer in the chat where it was asked for and in all that have none of their own, from now on."""
    await _use(view, chat, name, None)
    await asyncio.to_thread(backstage.keep, "model", name)
    about = await _about(chat, session)
    if about is not None and about.model is not None:  # who asks for a model in a chat means that chat too
        await chat.service.chats.configure(about.id, model=None)
    await view.adopt(session, asked_in=session)


async def _use(view: ChatView, chat: "Chat", name: str, session: str | None) -> None:
    if chat.service.answering is not None:  # it is written to its end by the model that began it
        view.ui.say(f"{one_line(model_label(name))} answers after this reply …")
    await chat.service.models.use(name, session=session)


async def _about(chat: "Chat", session: str | None) -> "Session | None":
    return await chat.service.chats.get(session) if session is not None else None
