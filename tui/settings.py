"""Changing a setting, the theme among them: checked, put in force, then kept in the file; what fails changes nothing.

In force first: what cannot be, because no model can be loaded so, must not be met again at the next start.
"""

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from textual.content import Content

from agent.errors import SettingsError
from agent.settings import (
    Force,
    Setting,
    SettingState,
    setting_states,
    settings_with,
    value_of,
    written,
)
from tui import model_handlers
from tui.chat_view import ChatView
from tui.latest import is_there
from tui.parts import Parts
from tui.text import one_line
from tui.themes import SHORT_NAMES, full_name, known_theme
from tui.widgets.banner import compose_banner
from tui.widgets.dialogs import AskLine, AskText, Pick
from tui.widgets.settings import SettingsScreen

if TYPE_CHECKING:
    from tui.backstage import Backstage
    from tui.chat import Chat

NOT_YET = "The settings are still being read."
BUSY = "One moment: the previous change is still being made."
FETCHING = "One moment: a model is still being downloaded."
LOADING = "Loading the model …"
AFTER_REPLY = "The model is reloaded after this reply …"
SHORT = 40  # characters of a value that is repeated
EMPTY = " Leave it empty for the default."


async def change_settings(view: ChatView, text: str) -> None:
    """The settings screen, with `text` searched for, until it closes."""
    if view.chat is None or view.backstage is None:
        view.ui.say(NOT_YET)
    else:
        await _Changing(view, view.chat, view.backstage).show(text)


class _Changing:
    """One settings screen, and what is changed in it: one setting at a time, and to the end if it closes meanwhile."""

    def __init__(self, view: ChatView, chat: "Chat", backstage: "Backstage") -> None:
        self._view = view
        self._chat = chat
        self._backstage = backstage
        self._config = backstage.config
        self._busy = asyncio.Lock()
        self._fetching = False
        self._screen: SettingsScreen

    async def show(self, text: str) -> None:
        states = await asyncio.to_thread(setting_states, self._config)
        self._screen = SettingsScreen(
            states,
            str(self._config),
            text,
            in_use=lambda setting: value_of(self._chat.service.settings, setting.key),
            change=lambda state: self._begin(self._change(state)),
            reset=lambda state: self._begin(self._reset(state)),
        )
        await self._view.ui.ask(self._screen)

    def _begin(self, change: Coroutine[Any, Any, None]) -> None:
        if self._busy.locked():
            change.close()
            self._view.ui.say(BUSY)
        else:
            self._view.ui.begin(self._alone(change))

    async def _alone(self, change: Coroutine[Any, Any, None]) -> None:
        async with self._busy:
            await change
        states = await asyncio.to_thread(setting_states, self._config)
        if is_there(self._screen):
            self._screen.fill(states)

    async def _change(self, state: SettingState) -> None:
        if self._fixed(state):
            return
        setting, now = state.setting, written(state.value)
        match setting.key:
            case "model":
                await model_handlers.model(self._view, "", fetch=self._fetch)
            case "embedder":
                await model_handlers.embedder(self._view, fetch=self._fetch)
            case _:
                typed = await self._asked(setting, now)
                if typed is not None and typed != now:
                    await self._use(setting, typed)

    async def _asked(self, setting: Setting, now: str) -> str | None:
        """What is chosen or typed for a setting; None if it is to stay."""
        view, title, words = self._view, setting.key, setting.meaning
        choices = self._themes() if setting.key == "theme" else setting.choices
        if choices:
            return await view.ui.ask(Pick(title, choices, now, words=words))
        if setting.key == "system_prompt":
            return await view.ui.ask(AskText(title, now, words=words + EMPTY))
        more = f"{words} {setting.allowed[:1].upper()}{setting.allowed[1:]}. Default: {written(setting.default)}."
        return await view.ui.ask(
            AskLine(title, now, words=more, check=lambda typed: self._wrong(setting.key, typed), live=True)
        )

    def _themes(self) -> tuple[str, ...]:
        others = sorted(set(self._view.app.available_themes) - set(SHORT_NAMES.values()))
        return (*(short for short in SHORT_NAMES if short), *others)

    async def _wrong(self, key: str, typed: str) -> str | None:
        try:
            await asyncio.to_thread(settings_with, self._config, key, typed)
            if key == "fallback_model" and typed:
                await asyncio.to_thread(self._backstage.find, typed)
        except self._backstage.failures as error:
            return str(error)
        return None

    async def _reset(self, state: SettingState) -> None:
        setting = state.setting
        if self._fixed(state):
            return
        if state.line is None:
            self._view.ui.say(f"{setting.key} is at its default.")
        elif setting.key in ("model", "embedder"):
            change = model_handlers.model if setting.key == "model" else model_handlers.embedder
            await change(self._view, written(setting.default), fetch=self._fetch)
            if value_of(self._chat.service.settings, setting.key) == setting.default:
                await asyncio.to_thread(self._backstage.keep, setting.key, None)
        else:
            await self._use(setting, None)

    async def _fetch(self, view: ChatView, chat: "Chat", backstage: "Backstage", name: str) -> None:
        """Fetch a model while other settings are changed; how far it is stands on the screen."""

        def tell() -> None:
            if self._screen.is_attached:
                self._screen.hold(compose_banner(chat.state)[0])

        self._fetching = True
        self._busy.release()
        try:
            await model_handlers.fetch(view, chat, backstage, name, tell)
        finally:
            await self._busy.acquire()
            self._fetching = False
            if self._screen.is_attached:
                self._screen.hold(Content(""))

    def _fixed(self, state: SettingState) -> bool:
        """Whether a setting cannot be changed here, or not now, which is said."""
        if state.variable is not None:
            self._view.ui.say(f"{state.variable} sets it and overrides the file. Change it there, or unset it.")
        elif self._fetching and state.setting.key in ("model", "embedder"):
            self._view.ui.say(FETCHING)
        else:
            return False
        return True

    async def _use(self, setting: Setting, typed: str | None) -> None:
        """Put a setting in force, and then into the file; None: its default. What it says of itself is all checked."""
        view, service = self._view, self._chat.service
        typed = None if setting.key == "system_prompt" and not (typed or "").strip() else typed
        new = await asyncio.to_thread(settings_with, self._config, setting.key, typed)
        value, before = value_of(new, setting.key), service.settings
        if setting.force is Force.LOADED:
            view.ui.say(AFTER_REPLY if service.answering is not None else LOADING)
        await service.use_settings(new)
        try:
            await asyncio.to_thread(self._backstage.keep, setting.key, None if typed is None else value)
        except SettingsError:
            await service.use_settings(before)
            raise
        if setting.key == "theme":
            view.app.theme = known_theme(full_name(new.theme), view.app.available_themes)
        if typed is None:
            view.ui.say(f"{setting.key} is back to its default.")
        else:
            now = one_line(written(value))
            view.ui.say(f"{setting.key} is now {now}." if len(now) <= SHORT else f"{setting.key} was changed.")


OTHER_THEMES = "/theme NAME takes others, such as nord; the settings (F10) list them all."


async def theme(parts: Parts, argument: str) -> None:
    name = full_name(argument) if argument else _other_theme(parts)
    if name not in parts.view.app.available_themes:
        known = ", ".join(["dark", "light", *sorted(set(parts.view.app.available_themes) - set(SHORT_NAMES.values()))])
        parts.ui.say(f"Unknown theme {one_line(argument)}. Available themes: {known}.")
        return
    parts.view.app.theme = name
    if parts.view.backstage is not None:
        await asyncio.to_thread(parts.view.backstage.keep, "theme", _theme_word(name))
    parts.ui.say(f"The theme is now {_theme_word(name)}. {'' if argument else OTHER_THEMES}".strip())


def _theme_word(name: str) -> str:
    """A theme as people call it, and the settings."""
    return next((short for short, full in SHORT_NAMES.items() if full == name and short), name)


def _other_theme(parts: Parts) -> str:
    return full_name("light" if parts.view.app.current_theme.dark else "dark")
