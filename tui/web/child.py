"""A chat in a browser: the program that `clew web` starts for each page, on pipes instead of a terminal."""

import os
import sys


def main(argv: list[str]) -> int:
    """Open the chat of the home folder that is named; the exit code."""
    os.umask(0o077)
    from tui.entry import open_chat

    return open_chat({"home": argv[0]})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
