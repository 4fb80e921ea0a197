"""The tables of docs/architecture.md: no file, worker or door is there that they do not name."""

import ast
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from agent.home import Cached, Home
from tests.test_house import ROOT
from tui.commands.erase import LOCK, SETTINGS, memory_names

OURS = ("agent", "graph", "models")
PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
BEGINS = {
    "create_task",
    "ensure_future",
    "threading.Thread",
    "ThreadPoolExecutor",
    "Popen",
    "create_subprocess_exec",
    "Worker",
}
OPENS = {
    "start_unix_server",
    "open_unix_connection",
    "socket",
    "AsyncHTTPTransport",
    "Client",
    "AsyncClient",
    "BaseApplication",
}


def section(title: str) -> str:
    """What the page says under a title."""
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def files_named() -> set[str]:
    """Every file that the first column of the table of files names; endings in a row go with each of its names."""
    found = set()
    for row in re.findall(r"^\| (`[^|]+) \|", section("What is kept, and when it goes"), re.MULTILINE):
        names = re.findall(r"`([^`]+)`", row)
        whole, endings = [name for name in names if "/" in name or "." in name[1:]], ["", *names]
        endings = [name for name in endings if not name or name[0] in ".-"]
        found |= {"".join(each) for each in product(whole, endings, endings)}
    return found


def callers(names: set[str], *packages: str) -> Iterator[str]:
    """The files that call one of some functions, or classes."""
    for package in packages:
        for file in sorted((ROOT / package).rglob("*.py")):
            calls = (node.func for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Call))
            written = {ast.unparse(each) for each in calls if isinstance(each, ast.Name | ast.Attribute)}
            called = written | {each.rpartition(".")[2] for each in written if each != "Thread"}
            if called & names:
                yield str(file.relative_to(ROOT))


def test_every_file_that_clew_makes_is_in_the_table(tmp_path: Path) -> None:
    home = Home.resolve(tmp_path / "home")
    made = {*(f"memory/{name}" for name in (*memory_names(), *LOCK)), *(f"cache/{each}" for each in Cached), *SETTINGS}
    folders = (home.drafts, home.states, home.queries, home.keys, home.models)
    made |= {f"{folder.relative_to(home.root)}/" for folder in folders if folder != home.queries}
    made |= {f"queries/{name}" for name in ("history.jsonl", "saved.jsonl", "history.jsonl.part", "lock")}
    assert made - files_named() == set()


def test_everything_that_works_beside_is_in_the_table() -> None:
    told = section("What works, and who starts it again")
    assert [file for file in callers(BEGINS, *OURS) if file not in told] == []


def test_every_door_is_in_the_table() -> None:
    told = section("Doors")
    assert [file for file in callers(OPENS, *OURS, "tui") if file not in told] == []
