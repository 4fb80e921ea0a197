"""What this machine has for a model: memory and cores."""

from pathlib import Path


def available_memory() -> int:
    """Bytes that can be had without swapping: the machine's, or less in a container with a limit."""
    import psutil

    free: int = psutil.virtual_memory().available
    for limit_file, used_file in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        try:
            limit, used = Path(limit_file).read_text().strip(), Path(used_file).read_text().strip()
        except OSError:
            continue
        if limit.isdigit():
            free = min(free, int(limit) - int(used))
    return max(0, free)


def physical_cores() -> int:
    """Threads that fit this machine: one for each core that this process may use, hyper-threads not counted."""
    import psutil

    usable = len(psutil.Process().cpu_affinity()) if hasattr(psutil.Process, "cpu_affinity") else psutil.cpu_count()
    return max(1, min(usable or 1, psutil.cpu_count(logical=False) or 1))
