import pytest

from pipeline.transcripts.read import read

SPOKEN = [("Dana Kim", 5, "We renew."), ("Bob", 3609, "In May.\nAt 12:30 I go."), ("Dana Kim", 3700, "Good.")] * 2


def written(heading):
    clock = "{:02}:{:02}:{:02}"
    return "Call of Monday\n\n" + "\n\n".join(
        heading.format(time=clock.format(start // 3600, start // 60 % 60, start % 60), name=name) + "\n" + words
        for name, start, words in SPOKEN
    )


@pytest.mark.parametrize(
    "heading",
    ["{time} {name}", "[{time}] - {name}", "({time}) {name}:", "{name}\n{time}", "{name}:\n[{time}]", "{time}\n{name}"],
)
def test_times_and_names_above_the_words_are_read_in_any_order(heading):
    reading = read(written(heading).encode())
    assert reading.format == "name_lines"
    assert [(turn.speaker, turn.start, turn.text) for turn in reading.transcript.turns] == SPOKEN
    assert ("front_matter_left_out", "1 lines") in [(each.code, each.place) for each in reading.warnings]


def test_a_heading_may_have_both_times():
    reading = read(
        b"0:05 - 0:08 Dana\nWe renew.\n0:09 - 0:12 Bob\nIn May.\n0:12 - 0:15 Dana\nGood.\n0:15 - 0:20 Bob\nYes.\n"
    )
    assert [(turn.start, turn.end) for turn in reading.transcript.turns] == [(5, 8), (9, 12), (12, 15), (15, 20)]


@pytest.mark.parametrize(
    "text",
    [
        "0:05 Yes\n0:07 Yes\n0:09 We renew in May\nand not before\n0:12 Yes\n",
        "0:05\nYes.\n0:07\nYes.\n0:09\nWe renew in May.\n0:12\nYes.\n",
        "0:05\nWe renew in May.\n\n0:09\nGood, in May.\n\n0:12\nYes.\n",
    ],
)
def test_speech_with_times_in_front_is_no_name(text):
    reading = read(text.encode())
    assert reading.format == "plain"
    assert {turn.speaker for turn in reading.transcript.turns} == {None}


@pytest.mark.parametrize("heading", ["{}", "{}:", "**{}**", "**{}:**", "### {}", "## **{}**"])
def test_names_alone_above_paragraphs_are_read(heading):
    text = "\n\n".join(f"{heading.format(name)}\n{words}" for name, _, words in SPOKEN)
    reading = read(text.encode())
    assert [(turn.speaker, turn.text) for turn in reading.transcript.turns] == [
        (name, words) for name, _, words in SPOKEN
    ]


@pytest.mark.parametrize(
    "text",
    [
        "## Notes\nWe renew in May.\n\n## Next steps\nDana sends the offer.\n\n## Risks\nNone.\n",
        "We renew.\nIn May.\n\nWe renew.\nIn June.\n",
        "Dana Kim\nWe renew in May.\n\nThat is what\nwe said.\n\nDana Kim\nGood.\n\nAnd so\nwe went.\n",
    ],
)
def test_headings_and_verses_are_no_names(text):
    assert read(text.encode()).format in {"plain", "summary"}


def test_headings_of_an_article_and_answers_are_no_names():
    for text in (
        "## Overview\nWe sell things.\n\n## Pricing\nTen.\n\n## Overview\nWe sell.\n\n## Pricing\nTen.\n",
        "Yes\nI think so too.\n\nNo\nI do not think so.\n\nYes\nThat is right.\n",
    ):
        assert {turn.speaker for turn in read(text.encode()).transcript.turns} <= {None, "Overview"}
