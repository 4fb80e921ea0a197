"""The modules that mistakes are put into, as `modules.toml` names them."""

import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).with_name("modules.toml")
# A mistake that makes a test wait for ever is noticed in a minute.
PYTEST = (
    "-m",
    "pytest",
    "-x",
    "-q",
    "-n0",
    "-p",
    "no:cacheprovider",
    "--hypothesis-seed=1",
    "-m",
    "not model",
    "-o",
    "timeout=60",
)


@dataclass(frozen=True, slots=True)
class Module:
    """Files that belong together, the tests that have to notice, and which share of mistakes they notice at least."""

    name: str
    files: tuple[str, ...]
    tests: tuple[str, ...]
    floor: float

    def paths(self) -> list[Path]:
        """Its files, relative to the root."""
        found = (path for pattern in self.files for path in sorted(ROOT.glob(pattern)))
        return [path.relative_to(ROOT) for path in found if path.name != "__init__.py"]

    def command(self) -> list[str]:
        """How its tests are run."""
        return [sys.executable, *PYTEST, *self.tests]


def modules(file: Path = FILE) -> dict[str, Module]:
    """All that the file names, by name."""
    told = tomllib.loads(file.read_text(encoding="utf-8"))
    return {
        name: Module(name, tuple(each["files"]), tuple(each["tests"]), each["floor"]) for name, each in told.items()
    }
