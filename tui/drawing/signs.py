"""How the kinds of nodes are told apart without colour: a sign for each, hollow where the node is not in force."""

from dataclasses import dataclass

from graph.subgraphs import Node


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of node: its word, its sign, the hollow sign, and the name of its colour in the theme."""

    word: str
    sign: str
    hollow: str
    colour: str


KINDS = {
    "Turn": Kind("message", "●", "○", "secondary"),
    "Observation": Kind("memory", "◆", "◇", "primary"),
    "Entity": Kind("name", "▲", "△", "accent"),
    "Session": Kind("chat", "■", "□", "warning"),
    "Document": Kind("document", "▮", "▯", "warning"),
    "Chunk": Kind("passage", "▪", "▫", "warning"),
    "World": Kind("world", "★", "☆", "error"),
    "Project": Kind("project", "▼", "▽", "error"),
    "CoreBlock": Kind("core block", "•", "◦", "foreground"),
    "Wording": Kind("version", "•", "◦", "foreground"),
}


def kind_of(table: str) -> Kind:
    """The kind that a table holds; one that people rarely see is called as its table is."""
    return KINDS.get(table) or Kind(table, "•", "◦", "foreground")


def sign_of(node: Node) -> str:
    """The sign that stands where the node is."""
    kind = kind_of(node.ref.table)
    return kind.hollow if node.mark else kind.sign
