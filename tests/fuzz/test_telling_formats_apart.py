"""Every format's own file is told to be of that format, however its bytes are written."""

import codecs

import pytest
from samples import samples

from pipeline.transcripts.formats import FORMATS
from pipeline.transcripts.source import Source

SAMPLES = samples()
WAYS = {
    "as it is": lambda text: text.encode(),
    "CRLF": lambda text: text.replace("\n", "\r\n").encode(),
    "CR": lambda text: text.replace("\n", "\r").encode(),
    "a mark": lambda text: codecs.BOM_UTF8 + text.encode(),
    "empty lines on top": lambda text: f"\n \n\n{text}".encode(),
    "empty lines below": lambda text: f"{text}\n\n \n".encode(),
    "UTF-16": lambda text: text.encode("utf-16"),
    "UTF-16, no mark": lambda text: text.encode("utf-16-le"),
    "UTF-16, the other way round": lambda text: text.encode("utf-16-be"),
}


def test_there_is_a_sample_of_every_format():
    assert {form.NAME for form in FORMATS} == SAMPLES.keys()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", sorted(SAMPLES.keys() - {"docx_table"}))
def test_a_text_is_told_to_be_what_it_is(name, way):
    assert told(WAYS[way](SAMPLES[name].decode())) == name


def test_a_table_in_word_is_told_to_be_one():
    assert told(SAMPLES["docx_table"]) == "docx_table"


def told(data):
    return next(form.NAME for form in FORMATS if form.recognises(Source(data)))
