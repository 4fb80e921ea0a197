"""A model that writes queries by a script: for the questions of the probe, and for others that a test gives it."""

from collections.abc import Mapping, Sequence

from agent.asking.modelled import TASKS, Written
from models.errors import StructuredOutputError
from models.protocols import Answer
from tests.fakes import FakeGenerator

_T = "MATCH (t:Turn)-[:MENTIONS]->(e:Entity)"
_LIVE = "t.live AND t.world = $world"
_O = "MATCH (o:Observation) WHERE o.current AND o.world = $world"
RIGHT: tuple[str, ...] = (
    f"MATCH (p:Entity)<-[:MENTIONS]-(t:Turn)-[:MENTIONS]->(e:Entity) WHERE {_LIVE} AND e.name = 'Bodø'"
    " AND p.kind = 'person' RETURN DISTINCT p.name",
    f"{_T} WHERE {_LIVE} AND e.kind = 'place' AND t.at >= to_epoch_ms(timestamp('2026-04-01')) "
    "AND t.at < to_epoch_ms(timestamp('2026-05-01')) RETURN DISTINCT e.name",
    f"{_O} RETURN o.kind, count(*)",
    f"{_O} AND EXISTS {{ MATCH (o)-[:ABOUT]->(e:Entity) WHERE e.name = 'Tora' }} RETURN o.text",
    f"{_O} AND o.confidence < 0.5 RETURN o.text, o.confidence",
    f"{_T}, (t)-[:IN_SESSION]->(s:Session) WHERE {_LIVE} AND lower(e.name) = lower('Ask') RETURN DISTINCT s.name",
    f"{_T} WHERE {_LIVE} AND e.name = 'Tora' RETURN count(t);",
    f"MATCH (t:Turn)-[:IN_SESSION]->(s:Session) WHERE {_LIVE} RETURN count(DISTINCT s.id)",
)


class Writing(FakeGenerator):
    """Writes the right query for each question of the probe but `wrong` of them, and of `others` in turn.

    `asked` holds the questions, as the prompt has them, with what was wrong before.
    """

    def __init__(
        self, others: Mapping[str, Sequence[str]] | None = None, *, wrong: int = 0, name: str = "writing"
    ) -> None:
        super().__init__("Fine.", name=name)
        self.others = {question: list(queries) for question, queries in (others or {}).items()}
        self.asked: list[str] = []
        self._known = {task.question: query for task, query in zip(TASKS, RIGHT, strict=True)}
        for task in TASKS[:wrong]:
            self._known[task.question] = f"MATCH (t:Turn) WHERE {_LIVE} RETURN t.text LIMIT 1"

    async def structured(self, prompt: Sequence[int], schema: type[Answer], *, max_tokens: int = 512) -> Answer:
        """The script's query. Raises StructuredOutputError where it has none."""
        await self._idle.wait()
        await self._pass()
        if not issubclass(schema, Written):
            raise StructuredOutputError("the script has no answer to this")
        asked = self.detokenize(prompt).rpartition("Question: ")[2]
        self.asked.append(asked)
        question = asked.partition("\n")[0]
        if question in self._known:
            return schema.model_validate({"cypher": self._known[question], "meaning": "What was asked."})
        if not self.others.get(question):
            raise StructuredOutputError("the script has no answer to this")
        return schema.model_validate({"cypher": self.others[question].pop(0), "meaning": "What it finds."})
