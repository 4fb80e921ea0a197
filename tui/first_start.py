"""The first start: where no chat model is there, which one to download is asked before anything comes over the network.

The set-up of a clone has fetched one already; a command that was installed as a package has not.
"""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.home import Home

QUESTION = (
    "clew answers with a language model that runs on this computer; there is none yet. The best for it is\n"
    "{name}: {size}, {licence}, from {origin}.\n"
    "Enter downloads it · t downloads a tiny one instead ({tiny}), a toy · q quits: "
)


def choose_model(home: "Home") -> bool:
    """Ask, unless another model is set than those to begin with; whether to go on.

    What is chosen is downloaded when the chat is open. Raises SettingsError.
    """
    from agent.home import want_model
    from agent.settings import load_settings, write_setting
    from models.catalogue import DEFAULT_CHAT, FIRST_CHOICES, entry
    from tui.text import size_of

    name = load_settings(home.config).model
    if name not in FIRST_CHOICES:
        return True
    best, tiny = entry(name), entry(DEFAULT_CHAT)
    told = QUESTION.format(
        name=best.name,
        size=size_of(best.download),
        licence=best.licence,
        origin=best.origin,
        tiny=size_of(tiny.download),
    )
    while True:
        print(told, end="", file=sys.stderr, flush=True)
        answer = sys.stdin.readline()
        match answer.strip().lower():
            case "" if answer:
                want_model(home, name)
                return True
            case "t":
                write_setting(home.config, "model", DEFAULT_CHAT)
                want_model(home, DEFAULT_CHAT)
                return True
            case "q" | "":
                home.wanted.unlink(missing_ok=True)
                return False
