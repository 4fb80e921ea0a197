"""An object that a server is to write: its schema as servers want it, or in words, and the object in what it wrote."""

import json
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

WORDS = "Answer with one JSON object that fits this schema, and with nothing else:\n{schema}"
STRICTER = (
    "Your last answer could not be used: {why}. Answer with nothing but one JSON object that fits this schema: "
    "no words before or after it, no code fence, every required field.\n{schema}"
)
UNKNOWN = ("default", "discriminator", "title")  # of no use to who writes, and refused by some
NAMED, LISTED = ("properties", "$defs"), ("anyOf", "allOf", "prefixItems")


def strict_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema with every field required and none but those allowed, as `strict` asks for."""
    found: dict[str, Any] = _strict(schema.model_json_schema())
    return found


def schema_words(schema: type[BaseModel], *, complaint: str = "") -> str:
    """What asks for an object in words; `complaint` says what was wrong with the last one."""
    text = json.dumps(schema.model_json_schema(), ensure_ascii=False)
    return STRICTER.format(why=complaint, schema=text) if complaint else WORDS.format(schema=text)


def _strict(node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    made = {key: value for key, value in node.items() if key not in UNKNOWN}
    if "oneOf" in made:
        made["anyOf"] = made.pop("oneOf")
    for key in NAMED:
        if key in made:
            made[key] = {name: _strict(each) for name, each in made[key].items()}
    for key in LISTED:
        if key in made:
            made[key] = [_strict(each) for each in made[key]]
    if "items" in made:
        made["items"] = _strict(made["items"])
    if "properties" in made:
        made |= {"required": list(made["properties"]), "additionalProperties": False}
    return made


@dataclass
class FirstObject:
    """Lets only the first JSON object of a text through: no words around it, no code fence.

    `begun` and `whole` tell how far it is.
    """

    whole: bool = False
    begun: bool = False
    _depth: int = 0
    _quoted: bool = False
    _escaped: bool = False

    def push(self, text: str) -> str:
        """The part of `text` that belongs to it."""
        if self.whole:
            return ""
        start = 0
        if not self._depth:
            start = text.find("{")
            if start < 0:
                return ""
            self.begun = True
        for at in range(start, len(text)):
            self._take(text[at])
            if not self._depth:
                self.whole = True
                return text[start : at + 1]
        return text[start:]

    def _take(self, each: str) -> None:
        if self._escaped:
            self._escaped = False
        elif self._quoted:
            self._escaped = each == "\\"
            self._quoted = each != '"'
        elif each == '"':
            self._quoted = True
        elif each in "{[":
            self._depth += 1
        elif each in "}]":
            self._depth -= 1
