"""The mini-conversation that the tests of the observations bench share, made by hand: somebody moves."""

from bench.expected import Conversation

MOVED = Conversation.model_validate(
    {
        "id": "moved",
        "class": "state_change",
        "turns": [
            {"role": "user", "text": "hi. I live in Lyon."},
            {"role": "assistant", "text": "Nice."},
            {"role": "user", "text": "I moved to Porto!"},
            {"role": "assistant", "text": "Congratulations."},
        ],
        "known": [
            {"terms": ["Lyon"], "status": "superseded", "sources": [0]},
            {"terms": [["Porto", "Oporto"]], "sources": [2]},
        ],
        "accept": [{"terms": ["glad"], "sources": [2]}],
    }
)
