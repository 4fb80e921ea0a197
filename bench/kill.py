"""kill -9 at random moments of `clew ask`: nothing accepted is lost, replies at most 1 s short, every start works.

    python -m bench.kill [--n 200] [--json] [--seed 1] [--longest 3.0]

Exits 1 if a promise was broken.
"""

import argparse
import os
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from platformdirs import user_data_path

from bench.killing import Toll, kill_many
from bench.report import report

MOST = 490  # 500 are looked at, and some processes end before they are killed


def kept_its_promises(toll: Toll) -> bool:
    """Whether bar 2 holds."""
    broken = toll.accepted_missing or toll.altered or toll.doctor_failures or toll.failed_starts
    return not broken and toll.worst_partial_gap_s <= 1.0


def main() -> int:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--n", type=int, default=200, help=f"how many kills, at most {MOST}")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--longest", type=float, default=3.0, help="seconds into each phase, at most")
    options = parser.parse_args()
    models = Path(os.environ.get("CLEW_MODELS") or user_data_path("clew") / "models")
    with tempfile.TemporaryDirectory(prefix="clew-kill-") as folder:
        toll = kill_many(
            Path(folder),
            models,
            kills=min(options.n, MOST),
            seed=options.seed,
            longest_s=options.longest,
            tell=lambda line: print(f"\r{line}", end="", file=sys.stderr, flush=True),
        )
    print(file=sys.stderr)
    report(asdict(toll), as_json=options.json)
    return 0 if kept_its_promises(toll) else 1


if __name__ == "__main__":
    sys.exit(main())
