"""Records the contract as the present code has it: python -m tests.contract.record [NAME …]"""

import sys
import tempfile
from pathlib import Path

from tests.contract.comparing import RECORDED, written
from tests.contract.prepared import unpack
from tests.contract.recordings import OF_HOME, PLAIN


def main(names: list[str]) -> None:
    """Rewrite the recordings of these names, or all of them."""
    for name in names or [*PLAIN, *OF_HOME]:
        if name in PLAIN:
            value = PLAIN[name]()
        else:
            with tempfile.TemporaryDirectory() as folder:
                value = OF_HOME[name](unpack(Path(folder)))
        (RECORDED / name).write_text(written(value), encoding="utf-8")
        print(name)


if __name__ == "__main__":
    main(sys.argv[1:])
