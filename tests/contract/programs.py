"""What other programs touch: the tools of the MCP server, the JSON of every command, exports, the graph's tables."""

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import NoneType
from typing import Any

from mcp import Client

from agent.asking.shelf import shelf
from agent.home import Home
from agent.settings import write_setting
from tests.contract.prepared import call, fake_embedder, living_in
from tests.contract.stored import briefly_by_name, resolved
from tests.models.discovered_server import discovered, llama_server
from tests.tui.commands.conftest import Ended
from tui.mcp.server import make_server
from tui.mcp.tools import Tools
from tui.mcp.visits import Visits

NAMES = {str: "str", int: "int", float: "float", bool: "bool", NoneType: "null"}
MAPS = {"ranks", "boosts", "skipped", "refused", "others", "arguments", "parameters"}  # whose keys are values too
THEN = datetime(2026, 3, 15, tzinfo=UTC)
LETTERS = b"""\
{"session": "s", "role": "user", "text": "The maze was cold.", "time": "2020-01-01T10:00:00Z"}
{"session": "s", "role": "assistant", "text": "And dark.", "time": "2020-01-01T10:00:05Z"}
broken
"""
TOOLS: dict[str, list[dict[str, Any]]] = {
    "recall": [{"query": "Where does Mara live?", "limit": 3}],
    "recent": [{"limit": 3}, {"kinds": ["turn", "observation", "session", "document"], "limit": 20}],
    "about": [{"name": "Ada", "project": "garden"}],
    "relations": [{"of": "Ada", "project": "garden", "limit": 3}],
    "query": [{"cypher": "MATCH (t:Turn) RETURN t.text AS text, t.at AS at ORDER BY at LIMIT 2"}],
    "remember": [{"text": "Mara sails on Sundays."}],
}


def mcp() -> dict[str, Any]:
    """The server's words, its tools with their schemas, and what else it offers."""
    return asyncio.run(_served())


def schema(root: Path) -> dict[str, Any]:
    """The graph's tables as `clew schema` tells them, without their counts, and the ready queries."""
    with living_in(root):
        told = call("schema", "--json").json
    return {
        "nodes": {each["name"]: _table(each) for each in told["nodes"]},
        "relationships": {
            each["name"]: _table(each) | {"from": each["from"], "to": each["to"]} for each in told["relationships"]
        },
        "ready queries": {
            each.name: {"about": each.about, "cypher": each.cypher.splitlines(), "parameters": dict(each.parameters)}
            for each in shelf(THEN)
        },
    }


def json_keys(root: Path) -> dict[str, Any]:
    """The shape of what every command tells with --json, and how it ended, by its command line."""
    with living_in(root):
        asked = Asked(root)
        _read(asked)
        _talk(asked)
        _change(asked)
        _elsewhere(asked)
        asked.told["tools of the MCP server"] = asyncio.run(_answered())
        _carry(asked)
        _play(asked)
    return asked.told


def shape(*values: Any, of: str = "") -> Any:
    """Keys and types of some values together; `key?` is not in all of them, `of` is the key that they stand under."""
    objects = [each for each in values if isinstance(each, dict)]
    lists = [each for each in values if isinstance(each, list)]
    others = sorted({NAMES[type(each)] for each in values if not isinstance(each, dict | list)})
    found: list[Any] = []
    if objects:
        found.append(_object(objects, of))
    if lists:
        items = [item for each in lists for item in each]
        found.append([shape(*items)] if items else [])
    if others:
        found.append(" or ".join(others))
    return found[0] if len(found) == 1 else {"either": found}


class Asked:
    """Asks a home on the command line and keeps the shapes; words in braces stand for what differs between homes."""

    def __init__(self, root: Path) -> None:
        self.told: dict[str, Any] = {}
        self.root = root
        self.known: dict[str, str] = {}

    def ask(self, line: str, *, stdin: bytes | None = None, as_shape: Callable[[Any], Any] = shape) -> Any:
        """What a command line answers, as JSON."""
        ended = self.run(line, stdin=stdin)
        assert ended.out, f"{line}: {ended.err}"
        self.told[line] = {"exit": ended.code, "json": as_shape(ended.json)}
        return ended.json

    def run(self, line: str, *, stdin: bytes | None = None) -> Ended:
        """How a command line ended. A word is what stands between two spaces, `_` in it is a space."""
        words = (word.replace("_", " ") for word in line.split(" "))
        argv = [self.known[word.strip("{}")] if word.startswith("{") else word for word in words]
        return call(*argv, stdin=stdin)


def _read(asked: Asked) -> None:
    """What changes nothing."""
    chats = {each["name"]: each["id"] for each in asked.ask("sessions --json")}
    asked.ask("sessions --archived --json")
    asked.ask("serve --status --json")
    asked.known |= {"chat": chats["First words"], "boat": chats["Boat"]}
    thread = asked.ask("show {chat} --json")["thread"]
    asked.known |= {"turn": thread[2]["id"], "last": thread[-1]["id"], "first": thread[0]["id"]}
    asked.ask("show {last} --json")
    asked.ask("tree {boat} --json")
    memories = {each["text"]: each["id"] for each in asked.ask("memories --all --json")}
    asked.known |= {"memory": memories["I own a blue bicycle."], "proposed": memories["Mara prefers short answers."]}
    asked.ask("memories --as-of #30 --json")
    asked.ask("show {memory} --json")
    asked.ask("log --json")
    asked.ask("recent --json")
    asked.ask("recent --kind turn --kind session --kind entity --kind document --kind block --json")
    asked.ask("recall honey --json")
    asked.ask("about Ada --project garden --json")
    asked.ask("themes --json")
    asked.ask("blocks --json")
    asked.ask("projects --json")
    asked.ask("undo --list --json")
    asked.ask("ingest --json")
    asked.ask("backup --list --json")
    asked.known["cypher"] = (
        "MATCH (t:Turn)-[r:REPLIES_TO]->(u:Turn) RETURN t, r, u.text AS text, u.at AS at ORDER BY at LIMIT 2"
    )
    asked.ask("query {cypher} --json")
    asked.ask("schema --json")
    asked.ask("doctor --no-model --json")
    asked.ask("doctor --deep --absent - --json", stdin=b"rosebud")


def _talk(asked: Asked) -> None:
    """What is answered by a model, and where the chat goes."""
    write_setting(asked.root / "config.toml", "reflect", False)  # what is learned of it would take its time
    asked.ask("ask --session {chat} The_bees_are_back. --json")
    asked.ask("regenerate {chat} --json")
    asked.ask("edit {turn} I_like_coffee. --json")
    asked.ask("rewind {last} --json")
    asked.ask("fork {chat} --what-if --json")
    asked.ask("reflect --no-model --json")


def _change(asked: Asked) -> None:
    """What is changed by hand."""
    asked.ask("hide {turn} --json")
    asked.ask("unhide {turn} --json")
    asked.ask("pin {memory} --json")
    asked.ask("undo --json")
    asked.known["new"] = asked.ask("remember I_own_a_kite. --json")["id"]
    asked.ask("relate Mara works_with Jonas --json")
    asked.ask("relations Mara --json")
    asked.ask("relations --kinds --json")
    asked.ask("entity Mara --json")
    asked.ask("synthesize {memory} {new} Kites_go_with_that. --json")
    asked.known["new"] = asked.ask("correct {new} I_own_two_kites. --json")["id"]
    asked.ask("forget {new} --json")
    asked.ask("review --promote {proposed} --json")
    asked.known["mark"] = next(each["id"] for each in asked.ask("marks --json") if each["name"])
    asked.ask("marks --show {mark} --json")
    asked.ask("marks --add Now --json")
    asked.ask("delete {first} --yes --json")


def _elsewhere(asked: Asked) -> None:
    """What is told of models, with a server among them."""
    with discovered(llama_server()) as server:
        asked.known["server"] = server.address
        asked.ask("models add {server} --name den --json")
        asked.ask("models test den --json")
    asked.ask("models list --json")


def _carry(asked: Asked) -> None:
    """What comes in and goes out."""
    beside = asked.root.parent
    (beside / "notes").mkdir()
    (beside / "notes" / "wind.md").write_text("# Wind\n\nIt comes from the west.\n", encoding="utf-8")
    (beside / "notes" / "wind.xyz").write_text("west", encoding="utf-8")
    asked.known |= {"notes": str(beside / "notes"), "export": str(beside / "export"), "copy": str(beside / "copy")}
    asked.ask("ingest {notes} --json")
    asked.ask("import - --json", stdin=LETTERS)
    assert asked.run("export --output {export}").code == 0
    lines = [json.loads(line) for line in Path(asked.known["export"]).read_text(encoding="utf-8").splitlines()]
    bare = [line | {"structure": "…"} if "structure" in line else line for line in lines[1:]]
    asked.told["export"] = {"first line": shape(lines[0]), "events": shape(*bare)}
    asked.ask("import {export} --json")
    asked.ask("backup {copy} --json")
    asked.ask("restore {copy} --yes --json")
    asked.ask("rebuild --json")


def _play(asked: Asked) -> None:
    """Stories, and what is said in one."""
    card = asked.root.parent / "mara.json"
    card.write_text(
        '{"name": "Mara", "description": "A keeper.", "first_mes": "You came.", "tags": "sea"}', encoding="utf-8"
    )
    asked.known["card"] = str(card)
    asked.ask("card {card} --json")
    begun = asked.ask("story begin The_Lighthouse --host {card} --guest Jonas --you Ada --json")
    asked.known["story"] = begun["session"]
    asked.ask("story list --json")
    asked.ask("story cast {story} --json")
    asked.ask("ask --session {story} --whisper Mara The_gold_is_here. --json")
    asked.ask("ask --session {story} ((make_it_rain)) --json")
    asked.ask("story seen {story} Mara --json")
    asked.ask("story stage {story} --json")
    asked.ask("knows Mara hello --session {story} --json")


async def _served() -> dict[str, Any]:
    nowhere = Home(Path("nowhere"), Path("nowhere"))
    async with Client(make_server(Tools(nowhere, Visits(nowhere)))) as client:
        return {
            "instructions": client.instructions,
            "offers": sorted(client.server_capabilities.model_dump(exclude_none=True)),
            "tools": {
                tool.name: {
                    "title": tool.title,
                    "description": tool.description,
                    "takes": briefly_by_name(resolved(tool.input_schema, words=True)),
                    "hints": tool.annotations.model_dump(exclude_none=True) if tool.annotations else None,
                }
                for tool in (await client.list_tools()).tools
            },
        }


async def _answered() -> dict[str, Any]:
    """What each tool is asked and the shape of what it answers, and how one refuses what it cannot take."""
    home = Home.resolve()
    visits = Visits(home, loader=fake_embedder)
    try:
        async with Client(make_server(Tools(home, visits))) as client:
            told = {tool: [await _answer(client, tool, each) for each in asked] for tool, asked in TOOLS.items()}
            return told | {"refused": await _answer(client, "recall", {"words": "Where?"})}
    finally:
        await visits.close()


async def _answer(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    text = "".join(getattr(block, "text", "") for block in result.content)
    told = {"error": text} if result.is_error else {"json": shape(json.loads(text))}
    return {"asked": arguments} | told


def _object(values: list[dict[str, Any]], of: str) -> dict[str, Any]:
    if of in MAPS:
        items = [item for each in values for item in each.values()]
        return {"*": shape(*items)} if items else {}
    keys = sorted({key for each in values for key in each})
    return {
        key if all(key in each for each in values) else f"{key}?": shape(*(e[key] for e in values if key in e), of=key)
        for key in keys
    }


def _table(told: dict[str, Any]) -> dict[str, Any]:
    return {
        "meaning": told["meaning"],
        "properties": {each["name"]: f"{each['type']}: {each['meaning']}" for each in told["properties"]},
    }
