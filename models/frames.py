"""Learns the frames of a chat template in a process of its own: it is a program from a file, or a server, of strangers.

Jinja's sandbox keeps it from everything but time and memory, of which that process has so much; where they run out, or
it breaks, the template is of no use, and the frames of its family are taken. What came of it is remembered, so that
only the first start with a model pays for it. Run as `python -m models.frames` this module is that process.
"""

import json
import resource
import subprocess
import sys
from dataclasses import asdict
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from models.bare import bare_environment
from models.header import GgufHeader
from models.native import NativeModel
from models.probe import read_memo, write_memo
from models.template import ChatFormat, Vocabulary, choose_format, learn

VERSION = 1  # of what is learnt: it is not learnt otherwise from the same template
WITHIN_S, CPU_S = 20.0, 3
MEMORY = 1 << 30
LONGEST, LONGEST_FRAMES = 1_000_000, 20_000  # characters: frames go into every prompt


def vocabulary_of(model: NativeModel, header: GgufHeader, memo: Path | None = None) -> Vocabulary:
    """The vocabulary of a model that is loaded here; `memo` as `learn_apart` has it."""
    special = {str(header.values.get(f"tokenizer.ggml.{kind}_token_id")): kind for kind in ("bos", "eos")}
    named = {kind: model.piece(int(token)).decode() for token, kind in special.items() if token.isdigit()}
    learnt = learn_apart(header.chat_template, bos=named.get("bos", ""), eos=named.get("eos", ""), memo=memo)
    chosen = choose_format(header.chat_template, learnt, markers=model.marked_tokens().values())
    space = header.values.get("tokenizer.ggml.add_space_prefix", True)
    return Vocabulary(model, chosen, spaced=header.values.get("tokenizer.ggml.model") == "llama" and bool(space))


def learn_apart(template: str | None, *, bos: str, eos: str, memo: Path | None = None) -> ChatFormat | None:
    """The frames of a Jinja template as `learn` finds them, None if it has none that hold; blocking.

    `memo` is a file that remembers them.
    """
    if not template or len(template) > LONGEST:
        return None
    asked = json.dumps([VERSION, template, bos, eos])
    key = f"frames {blake2b(asked.encode(), digest_size=16).hexdigest()}"
    known = read_memo(memo)
    told = known.get(key)
    if not isinstance(told, str):
        told = _told(asked)
        if memo is not None and told:
            write_memo(memo, known | {key: told})
    frames = json.loads(told) if told else None
    return None if frames is None else ChatFormat(**frames | {role: tuple(frames[role]) for role in ROLES})


ROLES = ("system", "user", "assistant")


@lru_cache(maxsize=16)
def _told(asked: str) -> str:
    """What the process says, as JSON; empty where it came to no end."""
    command = [sys.executable, "-P", "-m", "models.frames"]
    try:
        ended = subprocess.run(
            command, input=asked, capture_output=True, text=True, timeout=WITHIN_S, env=bare_environment(), check=False
        )
    except (subprocess.TimeoutExpired, OSError):
        return ""
    return ended.stdout if ended.returncode == 0 else ""


def main() -> None:
    _, template, bos, eos = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    found = learn(template, bos=bos, eos=eos)
    told = json.dumps(None if found is None else asdict(found))
    sys.stdout.write(told if len(told) <= LONGEST_FRAMES else "null")


if __name__ == "__main__":
    main()
