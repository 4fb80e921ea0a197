"""A child process that streams one file of a Hugging Face repository from any offset, with the hub's own checksum.

huggingface_hub finds the address, the headers and the checksum, so HF_ENDPOINT, HF_TOKEN, a login, proxies and offline
mode count. Its own download is not used: it verifies no checksum, and here one loop resumes whatever the source is. How
it talks: models.streaming.
"""

from __future__ import annotations

import re
import sys

from models.streaming import CHUNK, asked_offset, begin, describe, fail, range_header, resumed_at, send

TIMEOUT_S = 20.0


def stream(repo: str, file: str, revision: str) -> int:
    """Serve the file; the exit status. Raises what huggingface_hub and its HTTP client raise."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url

    # Documented and re-exported, but lazily, which the type checker cannot follow.
    from huggingface_hub.utils import build_hf_headers, get_session  # type: ignore[attr-defined]

    url = hf_hub_url(repo, file, revision=revision)
    known = get_hf_file_metadata(url, timeout=TIMEOUT_S)
    describe(known.size, known.etag if known.etag and re.fullmatch("[0-9a-f]{64}", known.etag) else None)
    offset = asked_offset()
    headers = build_hf_headers() | range_header(offset)
    with get_session().stream("GET", url, headers=headers, timeout=TIMEOUT_S, follow_redirects=True) as response:
        start = resumed_at(response.status_code, response.headers.get("Content-Range"), offset)
        if start is None:
            return fail("unreachable")
        begin(start)
        for chunk in response.iter_raw(CHUNK):
            send(chunk)
    return 0


def main(arguments: list[str]) -> int:
    from huggingface_hub import errors

    repo, file, revision = arguments
    try:
        return stream(repo, file, revision)
    except errors.OfflineModeIsEnabled:
        return fail("offline")
    except (errors.GatedRepoError, errors.DisabledRepoError):
        return fail("denied")
    except (errors.RepositoryNotFoundError, errors.RevisionNotFoundError, errors.EntryNotFoundError):
        return fail("not found")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
