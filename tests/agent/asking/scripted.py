"""A model that writes queries by a script: for the questions of the probe, and for others that a test gives it."""

from collections.abc import Mapping, Sequence

from agent.asking.modelled import TASKS, Written
from models.errors import StructuredOutputError
from models.protocols import Answer
from tests.agent.asking.asked import lines
from tests.fakes import FakeGenerator

RIGHT = tuple(lines("right.txt"))


class Writing(FakeGenerator):
    """Writes the right query for each question of the probe but `wrong` of them, and of `others` in turn.

    `asked` holds the questions, as the prompt has them, with what was wrong before.
    """

    def __init__(
        self,
        others: Mapping[str, Sequence[str]] | None = None,
        *,
        wrong: int = 0,
        name: str = "writing",
        fails: Exception | None = None,
    ) -> None:
        super().__init__("Fine.", name=name)
        self.others = {question: list(queries) for question, queries in (others or {}).items()}
        self.asked: list[str] = []
        self.fails = fails
        self._known = {task.question: query for task, query in zip(TASKS, RIGHT, strict=True)}
        for task in TASKS[:wrong]:
            self._known[task.question] = "MATCH (t:Turn) WHERE t.live AND t.world = $world RETURN t.text LIMIT 1"

    async def structured(self, prompt: Sequence[int], schema: type[Answer], *, max_tokens: int = 512) -> Answer:
        """The script's query. Raises StructuredOutputError where it has none."""
        await self._idle.wait()
        await self._pass()
        if not issubclass(schema, Written):
            raise StructuredOutputError("the script has no answer to this")
        asked = self.detokenize(prompt).rpartition("Question: ")[2]
        self.asked.append(asked)
        if self.fails is not None:
            raise self.fails
        question = asked.partition("\n")[0]
        if question in self._known:
            return schema.model_validate({"cypher": self._known[question], "meaning": "What was asked."})
        if not self.others.get(question):
            raise StructuredOutputError("the script has no answer to this")
        return schema.model_validate({"cypher": self.others[question].pop(0), "meaning": "What it finds."})
