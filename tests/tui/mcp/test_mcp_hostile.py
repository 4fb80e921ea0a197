"""The corpus of hostile statements through `clew mcp`: each is refused with a sentence, and nothing changes."""

import hashlib
from pathlib import Path

import pytest

from tests.agent.test_recall import say
from tests.graph.console.hostile import CANARY, FILES, HOSTILE
from tests.tui.mcp.conftest import Chat, Connect, ask, words_of

LONGEST = 20_000  # characters that the tool takes


def tree(folder: Path) -> dict[str, str]:
    """The files of the memory that hold what was said, and all beside it."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix in (".db", ".toml", ".csv", ".json", ".parquet", ".npy", ".txt")
    }


def carried(statement: str) -> bool:
    """Whether the wire has it at all: half a character is none there."""
    return not any("\ud800" <= character <= "\udfff" for character in statement)


@pytest.mark.process
async def test_none_is_run_and_the_server_outlives_them_all(visit: Connect, chat: Chat, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    for name in FILES:
        (outside / name).write_text(f"column0\n{CANARY}\n")
    async with chat() as agent:
        await say(agent, None, "My dog Biscuit is a brown beagle.")
        head = agent._memory.head()
    before = tree(outside)
    async with visit() as client:
        for statement in filter(carried, HOSTILE):
            cypher = statement.replace("{outside}", str(outside))
            given = {"flag": True} if "$flag" in cypher else {}
            result = await client.call_tool("query", {"cypher": cypher, "parameters": given})
            assert result.is_error, statement[:200]
            assert (
                words_of(result).endswith("Nothing was run, and nothing was changed.") or not 0 < len(cypher) <= LONGEST
            )
            assert CANARY not in words_of(result)
            assert "Traceback" not in words_of(result)
        assert (await ask(client, "query", cypher="MATCH (t:Turn) RETURN count(t)"))["rows"] == [[2]]
    assert tree(outside) == before
    async with chat() as agent:
        assert agent._memory.head() == head
        assert len(await agent.search.recent()) == 1
