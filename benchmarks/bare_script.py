"""`python -m benchmarks.bare_script URL COUNT SIZE LANES`: the script that one would write in an afternoon.

The same SDK, the same calls and the same two requests for each, a semaphore, no ledger. What dies with it is paid for
again. It prints the seconds from its first request to its last answer.
"""

import asyncio
import sys
from time import monotonic
from typing import Any, Final

from openai import AsyncOpenAI

from benchmarks.slow_model import numbered
from pipeline.domain.documents import DocumentInput

_SCHEMA: Final = {
    "type": "object",
    "properties": {"actions": {"type": "array", "items": {"type": "string"}}},
    "required": ["actions"],
    "additionalProperties": False,
}
_STRUCTURED: Final = {"type": "json_schema", "json_schema": {"name": "actions", "strict": True, "schema": _SCHEMA}}


async def main(url: str, count: int, size: int, lanes: int) -> float:
    """Summarize all calls; seconds of it."""
    documents = list(numbered(count, size))
    semaphore = asyncio.Semaphore(lanes)
    async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:

        async def summarize(document: DocumentInput) -> None:
            words = "\n".join(f"{turn.speaker}: {turn.text}" for turn in document.turns or ())
            async with semaphore:
                await _ask(client, f"Summarize this call.\n\n{words}")
                await _ask(client, f"List the actions of this call as JSON.\n\n{words}", response_format=_STRUCTURED)

        began = monotonic()
        await asyncio.gather(*map(summarize, documents))
        return monotonic() - began


async def _ask(client: AsyncOpenAI, prompt: str, **more: Any) -> str:
    stream = await client.chat.completions.create(
        model="scripted-model",
        messages=[{"role": "user", "content": prompt}],
        stream=True,
        stream_options={"include_usage": True},
        max_completion_tokens=500,
        **more,
    )
    return "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])


if __name__ == "__main__":
    print(asyncio.run(main(sys.argv[1], *map(int, sys.argv[2:5]))))
