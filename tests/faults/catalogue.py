"""The seeded faults as `catalogue.toml` has them, and whether each still fits the code."""

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).with_name("catalogue.toml")
PACKAGES = ("agent", "graph", "models", "tui")


class Fault(BaseModel):
    """One bug: `before` is taken out of `file` and `after` is put there, which one of `caught_by` has to notice.

    `what` is how a person meets it, `spec` the ids of what it breaks; `caught_by` are files of tests or tests by their
    node ids, the quickest first.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=r"^[a-z0-9-]+$")
    what: str = Field(min_length=10)
    spec: tuple[Annotated[str, Field(pattern=r"^[A-M][0-9]+$")], ...] = Field(min_length=1)
    file: str = Field(pattern=rf"^(?:{'|'.join(PACKAGES)})/[a-z_/]+\.py$")
    before: str = Field(min_length=4)
    after: str
    caught_by: tuple[str, ...] = Field(min_length=1, max_length=3)

    def in_place(self, root: Path) -> str:
        """The text of its file with the fault in it. Raises ValueError, which says why, where it has no place.

        `root` is the folder of the tree.
        """
        path = root / self.file
        if not path.is_file():
            raise ValueError(f"{self.id}: there is no file {self.file} (any more)")
        text = path.read_text(encoding="utf-8")
        if (times := text.count(self.before)) != 1:
            raise ValueError(f"{self.id}: its text stands {times} times in {self.file}, and not once")
        return text.replace(self.before, self.after)


class Catalogue(BaseModel):
    """The file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    fault: tuple[Fault, ...]


def load(path: Path = FILE) -> tuple[Fault, ...]:
    """All faults, in the order of the file. Raises pydantic's ValidationError."""
    return Catalogue.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))).fault


def misplaced(faults: Sequence[Fault], root: Path = ROOT) -> list[str]:
    """What is wrong with the places of faults, a line each."""
    found: list[str] = []
    for fault in faults:
        try:
            fault.in_place(root)
        except ValueError as error:
            found.append(str(error))
    return found


def missing_tests(faults: Sequence[Fault], root: Path = ROOT) -> list[str]:
    """Tests that faults name and that there are not, a line each."""
    found: list[str] = []
    for fault in faults:
        for node in fault.caught_by:
            file, _, test = node.partition("::")
            path, name = root / file, test.partition("[")[0].rpartition("::")[2]
            if not path.is_file():
                found.append(f"{fault.id}: there is no file {file}")
            elif name and not re.search(rf"def {re.escape(name)}\(", path.read_text(encoding="utf-8")):
                found.append(f"{fault.id}: there is no {name} in {file}")
    return found
