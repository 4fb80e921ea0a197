"""The Agent as a face has it: one of its own, or that of a service, which lacks what begins and keeps an Agent."""

from agent.agent import Agent


class Face(Agent):
    """For type checkers alone, nobody makes one: what an AgentClient cannot be asked is nothing here."""

    all_answered: None  # type: ignore[assignment]
    embed: None  # type: ignore[assignment]
    end_soon: None  # type: ignore[assignment]
    on_notice: None  # type: ignore[assignment]
    open_graph: None  # type: ignore[assignment]
    rewrites: None  # type: ignore[assignment]
    unanswered: None  # type: ignore[assignment]
