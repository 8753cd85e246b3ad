"""Caption files to read: a large one as Zoom writes it, and small ones with the faults that files in the wild have."""

import random
from collections.abc import Callable, Sequence
from typing import Final

_WORDS: Final = """
we think the pilot could begin in may if your security team signs off on the data flow and legal is fine with it
""".split()  # noqa: SIM905 - fifty quotation marks less
_NAMES: Final = ("Anna Kim", "Ben Ode | Northwind (he/him)", "Priya", "王芳")


def zoom(size: int) -> str:
    """About `size` bytes of one recording's captions, always the same."""
    chance = random.Random(size)  # noqa: S311 - the same file in every run
    cues = ["WEBVTT\r\n\r\n"]
    written, now = 0, 0
    while written < size:
        lasts = chance.randrange(400, 6_000)
        words = " ".join(chance.choices(_WORDS, k=chance.randrange(3, 35)))
        times = f"{clock(now)} --> {clock(now + lasts)}"
        cues.append(f"{len(cues)}\r\n{times}\r\n{chance.choice(_NAMES)}: {words}.\r\n\r\n")
        now += lasts + 100
        written += len(cues[-1])
    return "".join(cues)


def clock(milliseconds: int) -> str:
    """As captions write it."""
    seconds, rest = divmod(milliseconds, 1_000)
    return f"{seconds // 3_600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{rest:03d}"


#: What the cues of the faulty files say.
SPOKEN: Final = tuple(f"these are the words of cue {number}" for number in range(1, 6))


def faulty() -> dict[str, str]:
    """One file for each fault, each with the cues of SPOKEN."""
    return {fault: write(SPOKEN) for fault, write in _FAULTS.items()}


def _file(words: Sequence[str], head: str = "WEBVTT\n\n", between: str = "\n\n") -> str:
    return head + between.join(f"{_times(number)}\n{each}" for number, each in enumerate(words, start=1)) + "\n"


def _times(number: int) -> str:
    return f"00:00:{number:02d}.000 --> 00:00:{number:02d}.900"


_FAULTS: Final[dict[str, Callable[[Sequence[str]], str]]] = {
    "none": _file,
    "a byte order mark": lambda words: _file(words, head="\ufeffWEBVTT\r\n\r\n"),
    "a comment above the header": lambda words: _file(words, head="<!-- made by hand -->\nWEBVTT\n\n"),
    "a header in lower case": lambda words: _file(words, head="webvtt\n\n"),
    "no header": lambda words: _file(words, head=""),
    "comma decimals": lambda words: _file(words).replace(".", ","),
    "a second 60": lambda words: _file(words).replace("00:00:02.000 --> 00:00", "00:00:60.000 --> 00:01"),
    "no leading zeros": lambda words: _file(words).replace("00:00:0", "0:0:"),
    "letters in a time": lambda words: _file(words).replace("00:00:02.000", "00:00:0x.000"),
    "an end before its start": lambda words: _file(words).replace("00:00:02.900", "00:00:01.000"),
    "no empty lines": lambda words: _file(words, between="\n"),
    "an empty line below the times": lambda words: _file([f"\n{each}" for each in words]),
    "words behind the times": lambda words: _file(words).replace("00\n", "00 "),
    "unclosed voices": lambda words: _file([f"<v Last, First>{each}" for each in words]),
    "ids that are no numbers": lambda words: _file(words).replace("\n\n", "\n\n3f1c2a6e-0000-4000-8000-0000000001/1\n"),
    "a note between cues": lambda words: _file(words).replace("\n\n00:00:03", "\n\nNOTE checked\n\n00:00:03"),
    "character references": lambda words: _file([each.replace("words", "w&#111;rds") for each in words]),
}
