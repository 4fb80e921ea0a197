"""What a process that reads what strangers made is started with: no name, key or folder of the user's."""

import os

KEPT = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH", "SYSTEMROOT")  # without which none starts


def bare_environment() -> dict[str, str]:
    """Of this environment, what Python needs to start; no path is the folder that somebody happens to be in."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    if "PYTHONPATH" in kept:
        kept["PYTHONPATH"] = os.pathsep.join(filter(os.path.isabs, kept["PYTHONPATH"].split(os.pathsep)))
    return kept
