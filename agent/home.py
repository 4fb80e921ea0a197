"""Where clew keeps everything: one folder, private to the user."""

import os
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from pathlib import Path

from .errors import HomeError


class Cached(StrEnum):
    """The files that lie in the cache's folder itself: one that is not here is not clew's, and `clew erase` leaves it.

    Each is written beside itself first, under its name with .part for its ending, or with a number after it.
    """

    NATIVE = "native.log"
    PLACE = "place"  # of earlier versions
    TRUSTED = "trusted.json"
    TRANSLATORS = "trusted-queries.json"
    KEEPERS = "trusted-stories.json"
    PROBED = "probed.json"
    PHRASINGS = "phrasings.npz"
    SERVED = "served-embedders.json"
    OFFERED = "offered"
    WANTED = "wanted"
    PRIVATE = "private"
    SLOTS = "slots"
    SERVICE = "service.log"
    SOCKET = "socket"
    STARTING = "starting.lock"


@dataclass(frozen=True, slots=True)
class Home:
    """The paths of one clew: its settings, memory, models and caches."""

    root: Path
    models: Path

    @classmethod
    def resolve(cls, root: Path | None = None, *, writing: bool = True, make: bool = True) -> "Home":
        """The home at `root`, else at CLEW_HOME, else in the user's data folder; CLEW_MODELS moves the models alone.

        Makes the folders (0700) and raises HomeError where that is not possible, or where nothing can be written. A
        home that is there already is good enough for reading as it is (`writing` false), and one that is not there can
        be left so (`make` false).
        """
        named = root or os.environ.get("CLEW_HOME")
        if named:
            base = Path(named).expanduser().absolute()
        else:
            from platformdirs import user_data_path

            base = user_data_path("clew")
        home = cls(base, models_of(base))
        if make or base.is_dir():
            home._make(writing=writing)
        return home

    @property
    def config(self) -> Path:
        """The settings, a commented TOML file."""
        return self.root / "config.toml"

    @property
    def memory(self) -> Path:
        """The folder of the log and the graph."""
        return self.root / "memory"

    @property
    def cache(self) -> Path:
        """Drafts and native output: nothing here is missed when it is lost."""
        return self.root / "cache"

    @property
    def native_log(self) -> Path:
        """What the native libraries print."""
        return self.cache / Cached.NATIVE

    @property
    def trusted(self) -> Path:
        """What each model file was found fit for."""
        return self.cache / Cached.TRUSTED

    @property
    def translators(self) -> Path:
        """What each model file was found fit for as a writer of queries."""
        return self.cache / Cached.TRANSLATORS

    @property
    def keepers(self) -> Path:
        """What each model file was found fit for as a keeper of stories."""
        return self.cache / Cached.KEEPERS

    @property
    def phrasings(self) -> Path:
        """The vectors of the examples that questions are compared with."""
        return self.cache / Cached.PHRASINGS

    @property
    def served_embedders(self) -> Path:
        """What the keys of embedders on servers were made with."""
        return self.cache / Cached.SERVED

    @property
    def probed(self) -> Path:
        """What was found out about each model file by loading it."""
        return self.cache / Cached.PROBED

    @property
    def offered(self) -> Path:
        """Says from when on a better model may be offered again."""
        return self.cache / Cached.OFFERED

    @property
    def wanted(self) -> Path:
        """Names the model that somebody said yes to at the first start, until it is downloaded."""
        return self.cache / Cached.WANTED

    @property
    def private(self) -> Path:
        """Names the folder that private chats lay in, where it is none that every system has."""
        return self.cache / Cached.PRIVATE

    @property
    def drafts(self) -> Path:
        """The folder of what is being written, and was not sent yet."""
        return self.cache / "drafts"

    @property
    def queries(self) -> Path:
        """The folder of the queries that were run in the query screen, and of those that were saved."""
        return self.root / "queries"

    @property
    def keys(self) -> Path:
        """The folder of the keys of model servers, a file for each under the server's name."""
        return self.root / "keys"

    @property
    def states(self) -> Path:
        """The folder of the KV states."""
        return self.cache / "kv"

    def _make(self, *, writing: bool) -> None:
        there = self.root.is_dir()
        for folder in (self.root, self.memory, self.cache, self.models):
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                if there and not writing:
                    continue
                raise HomeError(
                    f"clew cannot create its folder {folder}: {error.strerror or error}. Nothing was changed. "
                    "Choose a writable folder with --home or CLEW_HOME."
                ) from error
        if writing and not os.access(self.root, os.W_OK | os.X_OK):
            raise HomeError(
                f"clew cannot write to its folder {self.root}. Its contents were not changed. Make it writable, "
                "or choose another with --home or CLEW_HOME."
            )


def models_of(root: Path) -> Path:
    """The folder of the models of a home, or the one at CLEW_MODELS."""
    named = os.environ.get("CLEW_MODELS")
    return Path(named).expanduser().absolute() if named else root / "models"


LONGEST_PUT_OFF = timedelta(days=31)


def put_off_offer(home: Home, until: date) -> None:
    """Note that no better model is to be offered before that day. Raises OSError."""
    _note(home.offered, until.isoformat())


def offer_is_due(home: Home, today: date) -> bool:
    """Whether a better model may be offered; what cannot be read, or is of a clock that was ahead, puts nothing off."""
    try:
        until = date.fromisoformat(home.offered.read_text(encoding="utf-8").strip())
        return not today < until <= today + LONGEST_PUT_OFF
    except (OSError, ValueError):
        return True


def want_model(home: Home, name: str) -> None:
    """Note that somebody wants a model downloaded. Raises OSError."""
    _note(home.wanted, name)


def is_wanted(home: Home, name: str) -> bool:
    """Whether somebody said yes to downloading a model."""
    try:
        return home.wanted.read_text(encoding="utf-8").strip() == name
    except (OSError, ValueError):
        return False


def _note(path: Path, text: str) -> None:
    """Write a small file whole or not at all. Raises OSError."""
    partial = path.with_suffix(".part")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
