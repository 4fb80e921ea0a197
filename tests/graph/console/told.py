"""The tables in the files beside the tests: of statements alone, and of statements with what comes of each."""

import ast
import tomllib
from pathlib import Path
from typing import Any

ARROW = " => "


def told(name: str) -> dict[str, Any]:
    """What comes of each statement: a line is a statement, an arrow, and what comes of it, as Python writes it.

    Lines that are empty or begin with # say nothing.
    """
    lines = (Path(__file__).parent / name).read_text("utf-8").split("\n")
    rows = (line.split(ARROW) for line in lines if line and not line.startswith("#"))
    return {statement: ast.literal_eval(came) for statement, came in rows}


def tables(name: str) -> dict[str, list[Any]]:
    """The tables of a TOML file, each by its name."""
    return tomllib.loads((Path(__file__).parent / name).read_text("utf-8"))
