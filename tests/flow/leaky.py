"""The workers' app with two bugs: a summarizer, and once a reducer, that raise with a customer's words in the text."""

from pipeline.summarizers.scripted import Scripted
from tasks import reduce
from tasks.app import app  # noqa: F401 - this module is an app

WORDS = "velvet cartridge"

_summarize, _reduce = Scripted.summarize, reduce.reduce_stage


def _summarize_or_raise(self, request, attempt):
    if request.fields.document_id.endswith("raises"):
        raise ValueError(request.transcript.turns[0].text)
    return _summarize(self, request, attempt)


def _raise_once(*_):
    reduce.reduce_stage = _reduce
    raise ValueError(WORDS)


Scripted.summarize = _summarize_or_raise
reduce.reduce_stage = _raise_once
