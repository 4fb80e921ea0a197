"""How the kinds of nodes are told apart without colour: a sign for each, hollow where the node is not in force."""

from dataclasses import dataclass

from graph.subgraphs import Node


@dataclass(frozen=True, slots=True)
class NodeSign:
    """A kind of node: its word, its sign, the hollow sign, and the name of its colour in the theme."""

    word: str
    sign: str
    hollow: str
    colour: str


KINDS = {
    "Turn": NodeSign("message", "●", "○", "secondary"),
    "Observation": NodeSign("memory", "◆", "◇", "primary"),
    "Entity": NodeSign("name", "▲", "△", "accent"),
    "Session": NodeSign("chat", "■", "□", "warning"),
    "Document": NodeSign("document", "▮", "▯", "warning"),
    "Chunk": NodeSign("passage", "▪", "▫", "warning"),
    "World": NodeSign("world", "★", "☆", "error"),
    "Project": NodeSign("project", "▼", "▽", "error"),
    "CoreBlock": NodeSign("core block", "•", "◦", "foreground"),
    "Wording": NodeSign("version", "•", "◦", "foreground"),
}


def kind_of(table: str) -> NodeSign:
    """The kind that a table holds; one that people rarely see is called as its table is."""
    return KINDS.get(table) or NodeSign(table, "•", "◦", "foreground")


def sign_of(node: Node) -> str:
    """The sign that stands where the node is."""
    kind = kind_of(node.ref.table)
    return kind.hollow if node.mark else kind.sign
