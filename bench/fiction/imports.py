"""Character cards as they are found: each imported, or refused in one sentence; what is exported comes in as it was."""

import re
from collections import Counter
from pathlib import Path

from agent.story.cards import CardError, card_json, read_card
from bench.report import Figure, say

FOLDER = Path(__file__).parents[2] / "tests" / "agent" / "story" / "cards"
AFTER = re.compile(r"(?<=[.!?])\s+(?!Nothing was )")  # that nothing was changed is part of it


def cards(folder: Path = FOLDER) -> dict[str, Figure]:
    """All files of a folder."""
    total: Counter[str] = Counter()
    for file in sorted(each for each in folder.iterdir() if each.is_file() and each.suffix != ".py"):
        total["files"] += 1
        try:
            card = read_card(file.read_bytes(), file.stem)
        except CardError as error:
            total["refused"] += 1
            if len(AFTER.split(str(error))) > 2 or "\n" in str(error):
                total["told_at_length"] += 1
                say(f"cards, {file.name}: {error}")
            continue
        total["imported"] += 1
        data = card_json(card)
        if card_json(read_card(data, file.stem)) != data:
            total["changed_by_export"] += 1
            say(f"cards, {file.name} comes in again as another")
    return {
        f"cards_{name}": total[name] for name in ("files", "imported", "refused", "told_at_length", "changed_by_export")
    }
