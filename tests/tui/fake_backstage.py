"""What is behind the screen in its tests: settings in a file of the test's, and a store of two models."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent.errors import AgentError
from agent.events import ModelProgress
from agent.settings import Value, write_setting
from graph.errors import MemoryFailure
from models.errors import FetchFailed, ModelError, NotInstalled
from tui.backstage import Choice
from tui.exit_codes import exit_code_of


class FakeBackstage:
    """The agent with its settings and a store of two models."""

    failures: tuple[type[Exception], ...] = (AgentError, MemoryFailure, ModelError, OSError)
    found: Choice | None = None  # a better model
    speeds: tuple[float, ...] = ()  # of the model in use, each time a better one was looked for
    put_off = False

    def __init__(self, service: Any, config: Path, *, theme: str = "dark") -> None:
        self.service = service
        self.config = config
        service.settings = service.settings.model_copy(update={"theme": theme})
        self.kept: dict[str, Value | None] = {}
        self.fetched: list[str] = []
        self.fetch_failure: str | None = None

    def exit_code(self, error: Exception) -> int:
        return exit_code_of(error)

    def choices(self, *, embed: bool = False) -> list[Choice]:
        if embed:
            return [Choice("minilm-l6", 24_000_000, True, "The default.")]
        return [
            Choice("smollm2-135m", 144_811_456, True, "Small and quick; the default."),
            Choice("qwen3-4b", 2_497_281_312, False, "Much better answers, needs 5 GB."),
        ]

    def absolute(self, name: str) -> str:
        return name

    def find(self, name: str) -> Path:
        if name not in {choice.name for choice in self.choices() if choice.installed}:
            raise NotInstalled(f"{name} is not installed.")
        return self.config.with_name(name)

    def fetch(self, name: str, progress: Callable[[ModelProgress], None]) -> None:
        progress(ModelProgress("fetching", name, 1, 2))
        if self.fetch_failure is not None:
            raise FetchFailed(self.fetch_failure)
        self.fetched.append(name)

    def may_offer(self) -> bool:
        return self.service.settings.offer_model and not self.put_off

    def better(self, speed: float) -> Choice | None:
        self.speeds = (*self.speeds, speed)
        return self.found

    def postpone_offer(self) -> None:
        self.put_off = True

    def keep(self, key: str, value: Value | None) -> None:
        write_setting(self.config, key, value)
        self.kept[key] = value
