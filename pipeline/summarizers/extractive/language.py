"""Is this English? By the share of English function words, cheaply: the rules for actions know nothing else."""

import re
from itertools import islice

from pipeline.summarizers.extractive.sentences import Sentence

#: Words that carry grammar, not meaning; those that other languages share (in, was, so, a, an) are left out.
_FUNCTION_WORDS = (
    "the and you to of that it is i we for have this with but not they what are do be your can will just would "
    "there my if don't it's i'm i'll we'll let me get from at as or by our us them his her has had been were "
    "when who how that's you're we're i've know think about out up going yes yeah okay"
)
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
_WORD = re.compile(r"[^\W\d_]+(?:'[a-z]+)?")
_SAMPLE = 3_000
_ENOUGH = 0.25


def is_english(sentences: list[Sentence]) -> bool:
    """Whether at least a quarter of the first 3,000 words are English function words."""
    words = list(islice((word for sentence in sentences for word in _WORD.findall(sentence.plain.lower())), _SAMPLE))
    return sum(word in FUNCTION_WORDS for word in words) >= max(1.0, _ENOUGH * len(words))
