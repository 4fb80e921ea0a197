"""From a memory down to the words that prove it: its own sources first, then the revisions that it replaced.

Each node stands there once, however the relationships lead in circles; a tool's turn leads on to what it quotes.
"""

from typing import Any

from graph.neighbours import Neighbours
from graph.nodes import HIDDEN, TABLES, Query, node_of, veiled
from graph.subgraphs import Node, ProofStep, Ref

DEEPEST = 40  # revisions of revisions
MOST = 500  # steps in all
_LEADS = {
    "Observation": (
        ("DERIVED_FROM", "Turn"),
        ("DERIVED_FROM", "Chunk"),
        ("SUPPORTED_BY", "Turn"),
        ("SUPPORTED_BY", "Chunk"),
        ("REINFORCED_BY", "Turn"),
        ("RETIRED_BY", "Turn"),
        ("SUPERSEDES", "Observation"),
        ("INSTEAD_OF", "Observation"),
    ),
    "Chunk": (("PART_OF", "Document"),),
    "Turn": (("RECALLED", "Turn"), ("RECALLED", "Observation"), ("RECALLED", "Chunk")),  # of a tool's turn
}


def provenance(query: Query, observation: Node) -> tuple[ProofStep, ...]:
    """The steps in the order in which they are read, each below what it proves."""
    steps: list[ProofStep] = []
    seen: set[Ref] = set()
    ahead = [ProofStep(0, "", observation, _words(observation))]
    while ahead and len(steps) < MOST:
        step = ahead.pop()
        if step.node.ref in seen:
            continue
        seen.add(step.node.ref)
        steps.append(step)
        if step.depth < DEEPEST and _leads_on(step.node):
            ahead += reversed(_below(query, step))
    return tuple(steps)


def _leads_on(node: Node) -> bool:
    return node.ref.table != "Turn" or node.details.get("role") == "tool"


def _below(query: Query, step: ProofStep) -> list[ProofStep]:
    found: list[ProofStep] = []
    ref = step.node.ref
    there = Neighbours(query).counted(ref, directions=(True,))
    for relation, table in _LEADS.get(ref.table, ()):
        if (relation, True, table) not in there:
            continue
        told = TABLES[table]
        leads = (
            f"MATCH (:`{ref.table}` {{id: $id}})-[r:`{relation}`]->(m:`{table}`) WHERE {told.there}"
            f" RETURN {told.row(whole=True)}, m.id AS `id` ORDER BY `_at`, `id` LIMIT {MOST}"
        )
        rows: list[dict[str, Any]] = query(leads, {"id": ref.id})
        nodes = veiled(query, [node_of(table, row) for row in rows])
        found += [ProofStep(step.depth + 1, relation, node, _words(node)) for node in nodes]
    return found


def _words(node: Node) -> str | None:
    return node.details.get("text") if node.mark != HIDDEN and node.ref.table in ("Turn", "Chunk") else None
