"""The sentences that most of the others resemble: TF-IDF, cosine, PageRank (LexRank, Erkan and Radev 2004).

Bounded: whatever the length of the call, at most 400 sentences are compared. Deterministic: ties are broken by
position, scores are rounded, nothing depends on hashing.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from pipeline.summarizers.extractive.language import FUNCTION_WORDS
from pipeline.summarizers.extractive.sentences import Sentence

_CANDIDATES = 400
_FEWEST_TERMS, _MOST_TERMS = 4, 40
_MOST_CHOSEN = 6
#: Cosine below which two sentences are not linked, and above which they say the same.
_LINKED, _SAME = 0.05, 0.5

_WORD = re.compile(r"\w+(?:'\w+)?")
# Han, kana, Hangul and Thai are written without spaces between words: pairs of characters stand for words.
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+")


def most_central(sentences: Sequence[Sentence]) -> list[Sentence]:
    """One to six sentences in call order; about one in eight of a short call. Takes at least one sentence."""
    candidates = _candidates(sentences)
    wanted = max(1, min(_MOST_CHOSEN, (len(candidates) + 7) // 8 + 1))
    similarity = _similarity([_terms(sentence.plain) for sentence in candidates])
    ranked = _ranked(similarity) if similarity is not None else range(len(candidates))
    return [candidates[index] for index in sorted(_choose(ranked, similarity, wanted))]


def _candidates(sentences: Sequence[Sentence]) -> Sequence[Sentence]:
    telling = [sentence for sentence in sentences if len(_terms(sentence.plain)) >= _FEWEST_TERMS] or sentences
    if len(telling) <= _CANDIDATES:
        return telling
    bounds = [len(telling) * part // _CANDIDATES for part in range(_CANDIDATES + 1)]
    return [max(telling[start:end], key=_information) for start, end in pairwise(bounds)]


def _information(sentence: Sentence) -> int:
    return min(len(set(_terms(sentence.plain))), _MOST_TERMS)


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


def _ranked(similarity: Any) -> list[int]:
    import networkx as nx  # noqa: PLC0415 - see above

    links = similarity.tocoo()
    graph = nx.Graph()
    graph.add_nodes_from(range(similarity.shape[0]))
    graph.add_weighted_edges_from(
        (int(one), int(other), float(weight))
        for one, other, weight in zip(links.row, links.col, links.data, strict=True)
        if one < other and weight >= _LINKED
    )
    rank = nx.pagerank(graph)
    return sorted(rank, key=lambda index: (-round(rank[index], 9), index))


def _choose(ranked: Sequence[int], similarity: Any, wanted: int) -> list[int]:
    chosen: list[int] = []
    for index in ranked:
        if len(chosen) == wanted:
            break
        if similarity is None or all(similarity[index, other] < _SAME for other in chosen):
            chosen.append(index)
    return chosen
