"""The words that the editor completes and the tree shows: from the schema of the graph, and before it is known too."""

from typing import TYPE_CHECKING

from graph.querying.functions import FUNCTION_HELP
from graph.querying.meanings import PROPERTIES, TABLES
from graph.schema import NODES, RELS
from tui.queries.completing import KnownTable, QueryVocabulary

if TYPE_CHECKING:
    from graph.querying.catalogue import Property, Schema

TYPES = {"STRING": "text", "INT64": "number", "DOUBLE": "number", "BOOL": "yes or no"}


def at_first() -> QueryVocabulary:
    """What is known without asking the graph: everything but how much there is."""
    nodes = {
        each.name: KnownTable(each.name, columns=_columns(each.name, each.columns), about=TABLES[each.name])
        for each in NODES
    }
    rels = {
        each.name: KnownTable(
            each.name,
            relationship=True,
            columns=_columns(each.name, each.columns),
            about=TABLES[each.name],
            ends=tuple((each.start, end) for end in each.ends),
        )
        for each in RELS
    }
    return QueryVocabulary({**nodes, **rels}, functions())


def vocabulary_of(schema: "Schema") -> QueryVocabulary:
    """What the graph says there is."""
    nodes = {
        each.name: KnownTable(each.name, columns=_told(each.properties), about=each.meaning, count=each.count)
        for each in schema.nodes
    }
    rels = {
        each.name: KnownTable(
            each.name,
            relationship=True,
            columns=_told(each.properties),
            about=each.meaning,
            ends=tuple((each.start, end) for end in each.ends),
            count=each.count,
        )
        for each in schema.relationships
    }
    return QueryVocabulary({**nodes, **rels}, functions())


def functions() -> dict[str, tuple[str, str]]:
    """The functions there are, each with how it is called and what it does."""
    return dict(sorted(FUNCTION_HELP.items()))


def _told(properties: "tuple[Property, ...]") -> dict[str, str]:
    return {each.name: _hint(each.type, each.meaning) for each in properties}


def _columns(table: str, columns: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return {name: _hint(type, PROPERTIES[table][name]) for name, type in columns}


def _hint(type: str, meaning: str) -> str:
    return f"{TYPES.get(type, type.lower())}: {meaning}" if meaning else TYPES.get(type, type.lower())
