"""The SVG on standard input as a PNG on standard output, so many times as fine; on standard error what no font has."""

import os
import sys

import resvg_py


def main() -> None:
    svg = sys.stdin.buffer.read().decode("utf-8")
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)  # resvg's log goes to the standard output of its process
        out.write(resvg_py.svg_to_bytes(svg_string=svg, zoom=float(sys.argv[1]), log_information=True))


if __name__ == "__main__":
    main()
