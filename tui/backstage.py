"""What is brought in after the first paint, which may not wait for it: the agent, the models, the settings."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from tui.exit_codes import exit_code_of

if TYPE_CHECKING:
    from agent.events import ModelProgress
    from agent.face import Face
    from agent.home import Home


class Backstage(Protocol):
    """The agent, and what else of this machine the chat needs."""

    @property
    def service(self) -> "Face": ...

    @property
    def failures(self) -> tuple[type[Exception], ...]:
        """The errors whose message is for people."""
        ...

    def exit_code(self, error: Exception) -> int:
        """The exit code of a failure that ends the chat before it began."""
        ...

    @property
    def config(self) -> "Path":
        """The file of settings."""
        ...

    def choices(self, *, embed: bool = False) -> "list[Choice]":
        """The models to choose from: those that chat, or those that `embed`."""
        ...

    def find(self, name: str) -> "Path":
        """The file of a model on this disk, by name or path; blocking. Raises one of `failures` where there is none."""
        ...

    def absolute(self, name: str) -> str:
        """A model's name; where it is a path, that from the root on."""
        ...

    def fetch(self, name: str, progress: "Callable[[ModelProgress], None]") -> None:
        """Bring a model of the catalogue onto this disk; blocking."""
        ...

    def may_offer(self) -> bool:
        """Whether a better model may be offered: it is neither switched off nor put off."""
        ...

    def better(self, speed: float) -> "Choice | None":
        """The best model that this machine runs, if it is better than the one in use, and can be had; blocking.

        `speed` is what the one in use writes, in tokens a second (0: not known). The network is asked for nothing.
        """
        ...

    def postpone_offer(self) -> None:
        """Offer no better model for a while; blocking."""
        ...

    def keep(self, key: str, value: str | int | float | bool | None) -> None:
        """Write a setting to the settings file (None: put it back to its default); blocking."""
        ...


@dataclass(frozen=True, slots=True)
class Choice:
    """A model to choose: `size` in bytes, on this disk if it is `installed`, else of the download.

    `pace` is what it will write here, in tokens a second; 0 where nobody can tell.
    """

    name: str
    size: int
    installed: bool
    description: str
    pace: float = 0.0


OFFERED_AGAIN = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line said about the chat; `session` may be the beginning of an id."""

    home: Path | None = None
    model: str | None = None
    session: str | None = None
    project: str | None = None
    new: bool = False


class BootFailed(Exception):
    """The chat cannot begin: the message for people, and the exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class RealBackstage:
    """The real agent on the home folder; made in a thread, because making it imports everything."""

    def __init__(self, home: "Home", options: Options) -> None:
        from agent.agent import Agent
        from agent.errors import AgentError, SettingsError
        from agent.settings import load_settings
        from graph.errors import MemoryFailure
        from models.errors import ModelError
        from tui.joining import may_run, possible, served

        self._home = home
        self.failures: tuple[type[Exception], ...] = (AgentError, MemoryFailure, ModelError, OSError)
        try:
            overrides = {"model": self.absolute(options.model)} if options.model else {}
            settings = load_settings(home.config, **overrides)
        except SettingsError as error:
            raise BootFailed(str(error), exit_code_of(error)) from error
        own = not may_run(home) and not (settings.service and possible())
        self.service = (
            cast("Face", Agent(home, settings, client="chat", fetching=True))
            if own
            else served(home, settings, name="chat", model=overrides.get("model"))
        )

    def absolute(self, name: str) -> str:
        from models.store import ModelStore

        return ModelStore(self._home.models).absolute(name)

    def exit_code(self, error: Exception) -> int:
        return exit_code_of(error)

    @property
    def config(self) -> Path:
        return self._home.config

    def choices(self, *, embed: bool = False) -> "list[Choice]":
        from models.store import ModelStore

        return [
            Choice(
                stored.name,
                stored.size if stored.state == "installed" or stored.entry is None else stored.entry.download,
                stored.state == "installed",
                stored.entry.description if stored.entry else str(stored.path),
            )
            for stored in ModelStore(self._home.models).entries()
            if (stored.kind == "embed") is embed
        ]

    def find(self, name: str) -> Path:
        from models.store import ModelStore

        return ModelStore(self._home.models).path(name)

    def fetch(self, name: str, progress: "Callable[[ModelProgress], None]") -> None:
        from agent.events import ModelProgress
        from models.store import ModelStore

        ModelStore(self._home.models).pull(
            name, lambda step: progress(ModelProgress("fetching", name, step.done, step.total))
        )

    def may_offer(self) -> bool:
        from agent.home import offer_is_due

        return self.service.settings.offer_model and offer_is_due(self._home, date.today())

    def better(self, speed: float) -> "Choice | None":
        from models import fitting
        from models.catalogue import entry

        settings, folder = self.service.settings, self._home.models
        gpu = fitting.gpu_for_a_model() if settings.gpu_layers else 0
        best = fitting.best_fit(settings.model, memory=fitting.memory_for_a_model(), gpu=gpu, speed=speed)
        if best is None:
            return None
        installed = (folder / best.file).is_file()
        can_be_had = installed or (fitting.has_way_out() and fitting.has_disk(folder, best.size))
        if not can_be_had:
            return None
        size, used = best.size if installed else best.download, entry(settings.model)
        return Choice(best.name, size, installed, best.description, fitting.pace(used, best, speed))

    def postpone_offer(self) -> None:
        from agent.home import put_off_offer

        put_off_offer(self._home, date.today() + OFFERED_AGAIN)

    def keep(self, key: str, value: str | int | float | bool | None) -> None:
        from agent.settings import write_setting

        write_setting(self._home.config, key, value)
