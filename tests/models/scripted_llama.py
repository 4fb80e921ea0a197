"""A llama-server that is none: it tells of itself, tokenises letter by letter, counts, and answers as told.

What it evaluated it has in its slots, as a real one has, so that its counts are those of one.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from tests.models.chat_server import Request, Scripted, line

MODEL = "tiny"
START, END = "<|im_start|>", "<|im_end|>"
CONTEXT = 8192
LETTERS = 10  # the id of a letter is that of the character, and so many more


def word(text: str, count: int, *, evaluated: int = 4, **more: Any) -> dict[str, Any]:
    """The event of a token, the reply's `count`th; of those of its prompt so many were evaluated."""
    timings = {"prompt_n": evaluated, "prompt_ms": evaluated * 0.5}
    made = {"content": text, "tokens": [LETTERS + 300 + count], "stop": False, "tokens_predicted": count}
    return made | {"timings": timings} | more


def last(count: int, kind: str = "eos", *, evaluated: int = 4) -> dict[str, Any]:
    """The last event of a reply of so many tokens."""
    return word("", count, evaluated=evaluated) | {"tokens": [], "stop": True, "stop_type": kind}


@dataclass
class ScriptedLlama:
    """`faults` are the answers to the next completions, of replies or (`steps`) of parts of a prompt; then it is sane.

    `pages` are answered before anything else, by path.
    """

    says: tuple[str, ...] = ("All", " well.")
    faults: list[Scripted] = field(default_factory=list)
    steps: list[Scripted] = field(default_factory=list)
    pages: dict[str, Scripted] = field(default_factory=dict)
    model: str = MODEL
    slots: list[list[int]] = field(default_factory=lambda: [[], []])

    def answer(self, request: Request) -> Scripted:
        path, body = request.path.partition("?")[0], request.body
        if path in self.pages:
            return self.pages[path]
        match path:
            case "/completion" if body.get("stream"):
                return self.faults.pop(0) if self.faults else self._reply(body)
            case "/completion":
                return self.steps.pop(0) if self.steps else _json(last(0, evaluated=self._evaluate(body)))
            case "/tokenize":
                return _json({"tokens": _tokens(body)})
            case "/detokenize":
                return _json({"content": "".join(_piece(each) for each in body["tokens"])})
            case "/props":
                return _json(self.props())
            case "/slots":
                return _json([{"id": number, "is_processing": False} for number in range(len(self.slots))])
            case "/v1/models":
                return _json({"data": [{"id": self.model, "owned_by": "llamacpp", "meta": {"size": 1000}}]})
            case "/health":
                return _json({"status": "ok"})
        return Scripted([b"{}"], 404)

    def props(self) -> dict[str, Any]:
        """What it says that it has loaded."""
        return {
            "default_generation_settings": {"n_ctx": CONTEXT},
            "total_slots": len(self.slots),
            "model_path": f"/srv/{self.model}.gguf",
            "chat_template": "",
            "bos_token": START,
            "eos_token": END,
        }

    def _reply(self, body: dict[str, Any]) -> Scripted:
        evaluated = self._evaluate(body)
        words = [word(text, count, evaluated=evaluated) for count, text in enumerate(self.says, start=1)]
        self.slots[body["id_slot"]] += [each["tokens"][0] for each in words]
        return Scripted(map(line, [*words, last(len(words), evaluated=evaluated)]))

    def _evaluate(self, body: dict[str, Any]) -> int:
        """How many tokens of a prompt are new to its slot, which has it then."""
        prompt, slot = body["prompt"], self.slots[body["id_slot"]]
        pairs = enumerate(zip(slot, prompt, strict=False))
        known = next((at for at, (one, other) in pairs if one != other), min(len(slot), len(prompt)))
        self.slots[body["id_slot"]] = list(prompt)
        return len(prompt) - min(known, len(prompt) - 1)


def _json(value: Any) -> Scripted:
    return Scripted([json.dumps(value).encode()], headers={"Content-Type": "application/json"})


def _tokens(body: dict[str, Any]) -> list[Any]:
    text, ids = body["content"], list[int]()
    while text:
        marker = next((each for each in (START, END) if body["parse_special"] and text.startswith(each)), "")
        ids.append((START, END).index(marker) + 1 if marker else LETTERS + ord(text[0]))
        text = text[len(marker) or 1 :]
    return [{"id": each, "piece": _piece(each)} for each in ids] if body.get("with_pieces") else ids


def _piece(token: int) -> str:
    return {1: START, 2: END}.get(token) or chr(token - LETTERS)
