"""The grammar of a pydantic model: JSON on one line, so that no token is spent on white space."""

import json

from pydantic import BaseModel


def gbnf(schema: type[BaseModel]) -> str:
    """GBNF whose every sentence is JSON of this schema.

    llama.cpp's converter honours types, enumerations, lengths, counts and integer bounds; what a grammar cannot say
    (bounds of floats, validators) is checked on arrival.
    """
    from llama_cpp.llama_grammar import json_schema_to_gbnf

    text: str = json_schema_to_gbnf(json.dumps(schema.model_json_schema()))
    lines = ['space ::= ""' if line.startswith("space ::=") else line for line in text.splitlines()]
    return "\n".join(lines) + "\n"
