"""The house's one direction, `tui → agent → {graph, models}`, kept by what is imported and by what is written."""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from re import _parser as sre  # type: ignore[attr-defined]

import pytest

from agent.agent import PARTS

ROOT = Path(__file__).parent.parent
PACKAGES = {"tui", "agent", "graph", "models"}
MAY_IMPORT = {"tui": {"agent", "graph", "models"}, "agent": {"graph", "models"}, "graph": set(), "models": set()}
OWNERS = {"textual": "tui", "typer": "tui", "kuzu": "graph", "sqlite3": "graph", "llama_cpp": "models"}
EXPORTED = {"agent": ["Agent", "Home", "Settings"], "graph": ["Memory"], "models": [], "tui": []}
HEAVY = {"kuzu", "llama_cpp", "pyarrow", "numpy", "networkx", "huggingface_hub", "gguf", "safetensors"}


def modules(package: str) -> list[str]:
    """The dotted names of a package's modules."""
    files = sorted((ROOT / package).rglob("*.py"))
    return [".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for file in files]


def imported(file: Path) -> Iterator[str]:
    """The top-level names that a file imports absolutely, also inside functions."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.split(".")[0]


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_a_package_names_only_what_is_below_it_and_exports_what_is_named_here(package: str) -> None:
    seen = {name for file in (ROOT / package).rglob("*.py") for name in imported(file)}
    allowed = MAY_IMPORT[package] | {package}
    assert seen & PACKAGES <= allowed
    assert {name for name in seen if OWNERS.get(name, package) != package} == set()
    found = import_module(package)
    assert list(getattr(found, "__all__", [])) == EXPORTED[package]
    for name in EXPORTED[package]:
        assert getattr(found, name).__doc__, name


@pytest.mark.process
@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_importing_a_package_loads_nothing_heavy_and_nothing_above_it(package: str) -> None:
    names = [name for name in modules(package) if not name.endswith("__main__")]
    code = (
        "import importlib, json, sys; [*map(importlib.import_module, sys.argv[1:])]; print(json.dumps([*sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code, *names], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}
    assert loaded & HEAVY == set()
    assert loaded & PACKAGES <= MAY_IMPORT[package] | {package}
    if package != "tui":
        assert "textual" not in loaded


def test_no_pattern_is_possessive_which_the_first_pythons_of_311_get_wrong() -> None:
    names = [name for package in PACKAGES for name in modules(package) if not name.endswith("__main__")]
    found = [
        f"{name}.{variable}"
        for name in names
        for variable, value in vars(import_module(name)).items()
        if isinstance(value, re.Pattern)
        and re.search("POSSESSIVE_REPEAT|ATOMIC_GROUP", repr(sre.parse(value.pattern, value.flags).data))
    ]
    assert found == []


def test_every_file_says_in_its_first_line_what_it_is() -> None:
    bare = [
        file
        for folder in (*PACKAGES, "bench", "tests")
        for file in sorted((ROOT / folder).rglob("*.py"))
        if not ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
    ]
    assert bare == []


def test_every_file_that_a_page_for_contributors_names_is_there_and_the_parts_of_the_agent_are_listed() -> None:
    texts = {page: (ROOT / page).read_text(encoding="utf-8") for page in ("docs/architecture.md", "CONTRIBUTING.md")}
    for page, text in texts.items():
        named = set(re.findall(r"\b((?:agent|graph|models|tui|tests|bench)/[\w\\/]+\.py)\b", text))
        assert named, page
        assert sorted(name for name in named if not (ROOT / name.replace("\\", "")).is_file()) == []
    listed = re.findall(r"^\| `(\w+)` \|", texts["docs/architecture.md"], re.MULTILINE)
    assert sorted(listed) == sorted(PARTS)


WALKS = {"From Enter to the commit": 9, "From F5 to the rows": 9}
STEP = re.compile(r"^\d+\. `([\w.]+)` in ([\w/]+\.py)", re.MULTILINE)


def steps_of(walk: str) -> list[tuple[str, str]]:
    """The functions that the page on architecture lists, with their files."""
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    _, _, rest = text.partition(f"**{walk}**")
    return STEP.findall(rest.partition("\n\n**")[0].partition("\n## ")[0])


def function_at(name: str, file: str) -> ast.FunctionDef | ast.AsyncFunctionDef:
    """A function, or a method of a class, of a file."""
    body: list[ast.stmt] = ast.parse((ROOT / file).read_text(encoding="utf-8")).body
    *classes, last = name.split(".")
    for each in classes:
        (found,) = (node for node in body if isinstance(node, ast.ClassDef) and node.name == each)
        body = found.body
    (function,) = (
        node for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == last
    )
    return function


def named_in(function: ast.AST) -> set[str]:
    """Every attribute and name that a function mentions, what it posts and asks for among them."""
    nodes = list(ast.walk(function))
    return {node.attr for node in nodes if isinstance(node, ast.Attribute)} | {
        node.id for node in nodes if isinstance(node, ast.Name)
    }


@pytest.mark.parametrize("walk", sorted(WALKS))
def test_each_step_of_a_walk_hands_on_to_the_next(walk: str) -> None:
    """By name; between processes and through Textual's queue of messages the names are those of what is handed on."""
    posted = {"_sent": "Sent", "main": "request"}
    steps = steps_of(walk)
    assert 0 < len(steps) <= WALKS[walk]
    for (name, file), (after, _) in pairwise(steps):
        function, last = function_at(name, file), after.rpartition(".")[2]
        assert posted.get(last, last) in named_in(function), f"{name} in {file} does not hand on to {after}"
        assert function.end_lineno is not None
        assert function.end_lineno - function.lineno < 60, f"{name} in {file} is too long"
