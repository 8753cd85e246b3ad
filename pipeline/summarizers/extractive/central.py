"""The sentences that most of the others resemble: TF-IDF, cosine, PageRank (LexRank, Erkan and Radev 2004).

Bounded: whatever the length of the call, at most 400 sentences are compared. Deterministic: ties are broken by
position, scores are rounded, nothing depends on hashing.
"""

import re
from collections.abc import Container, Sequence
from itertools import pairwise
from typing import Any

from pipeline.summarizers.extractive.language import FUNCTION_WORDS
from pipeline.summarizers.extractive.sentences import Sentence

_CANDIDATES = 400
#: Words without function words; characters.
_FEWEST_TERMS, _LONGEST = 4, 280
_QUESTION_MARKS = ("?", "\uff1f", "\u061f")
_MOST_CHOSEN = 6
_WEIGHTY = 4.0
#: Cosine below which two sentences are not linked, and above which they say the same.
_LINKED, _SAME = 0.05, 0.5

_WORD = re.compile(r"\w+(?:'\w+)?")
# Han, kana, Hangul and Thai are written without spaces between words: pairs of characters stand for words.
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+")


def most_central(sentences: Sequence[Sentence], weighty: Container[Sentence] = ()) -> list[Sentence]:
    """One to six sentences in call order; about one in eight of a short call. Takes at least one sentence.

    `weighty` sentences, those that gave an action, count four times.
    """
    terms = [_terms(sentence.plain) for sentence in sentences]
    candidates = _spread(_telling(sentences, terms), terms)
    wanted = min(_MOST_CHOSEN, 1 + (len(candidates) + 7) // 8)
    similarity = _similarity([terms[index] for index in candidates])
    weights = [_WEIGHTY if sentences[index] in weighty else 1.0 for index in candidates]
    ranked = _ranked(similarity, weights) if similarity is not None else range(len(candidates))
    return [sentences[candidates[place]] for place in sorted(_choose(ranked, similarity, wanted))]


def _telling(sentences: Sequence[Sentence], terms: Sequence[list[str]]) -> Sequence[int]:
    """Indices of what can stand in a summary: statements of some words, no run-ons; else the best there is."""
    full = [index for index, words in enumerate(terms) if len(words) >= _FEWEST_TERMS]
    statements = [index for index in full if _is_statement(sentences[index].text)]
    return statements or full or range(len(terms))


def _is_statement(text: str) -> bool:
    return len(text) <= _LONGEST and not text.endswith(_QUESTION_MARKS)


def _spread(telling: Sequence[int], terms: Sequence[list[str]]) -> Sequence[int]:
    """At most 400 of them: of each of 400 stretches the one with the most different words."""
    if len(telling) <= _CANDIDATES:
        return telling
    bounds = [len(telling) * part // _CANDIDATES for part in range(_CANDIDATES + 1)]
    return [max(telling[start:end], key=lambda index: len(set(terms[index]))) for start, end in pairwise(bounds)]


def _terms(text: str) -> list[str]:
    plain = text.lower()
    terms = [word for word in _WORD.findall(_UNSPACED.sub(" ", plain)) if word not in FUNCTION_WORDS]
    for run in _UNSPACED.findall(plain):
        terms += [run[at : at + 2] for at in range(max(1, len(run) - 1))]
    return terms


def _similarity(terms: list[list[str]]) -> Any:
    """A sparse matrix of cosines, or None where no sentence holds a word."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415 - two seconds to import

    if not any(terms):
        return None
    vectors = TfidfVectorizer(analyzer=_as_given, sublinear_tf=True).fit_transform(terms)
    return (vectors @ vectors.T).tocsr()


def _as_given(terms: list[str]) -> list[str]:
    return terms


def _ranked(similarity: Any, weights: Sequence[float]) -> list[int]:
    import networkx as nx  # noqa: PLC0415 - see above

    links = similarity.tocoo()
    kept = (links.row < links.col) & (links.data >= _LINKED)
    graph = nx.Graph()
    graph.add_nodes_from(range(similarity.shape[0]))
    graph.add_weighted_edges_from(
        zip(links.row[kept].tolist(), links.col[kept].tolist(), links.data[kept].tolist(), strict=True)
    )
    rank = nx.pagerank(graph)
    return sorted(rank, key=lambda index: (-round(rank[index] * weights[index], 9), index))


def _choose(ranked: Sequence[int], similarity: Any, wanted: int) -> list[int]:
    chosen: list[int] = []
    for index in ranked:
        if len(chosen) == wanted:
            break
        if similarity is None or all(similarity[index, other] < _SAME for other in chosen):
            chosen.append(index)
    return chosen
