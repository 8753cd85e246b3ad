import pytest
from word_samples import docx, paragraph

from pipeline.transcripts.read import read

EXPORT = (
    "Dana Kim  0:00  \nGood morning, can you hear me?\n\n"
    "Unknown Speaker  0:04  \nYes. So we\n\n"
    "Bob O'Neill (Northwind)  1:02:03  \nwanted to talk about the renewal.\n\nWhich ends in May.\n\n"
    "Transcribed by https://otter.ai\n"
)
SPOKEN = [
    ("Dana Kim", 0, "Good morning, can you hear me?"),
    ("Unknown Speaker", 4, "Yes. So we"),
    ("Bob O'Neill (Northwind)", 3723, "wanted to talk about the renewal.\n\nWhich ends in May."),
]


def lines(data):
    reading = read(data if isinstance(data, bytes) else data.encode())
    assert reading.format == "otter"
    return [(turn.speaker, turn.start, turn.text) for turn in reading.transcript.turns]


def warnings(text):
    return [(warning.code, warning.place) for warning in read(text.encode()).warnings if "speakers" not in warning.code]


def test_each_paragraph_is_a_turn_and_an_unknown_speaker_has_that_label():
    assert lines(EXPORT) == SPOKEN


def test_names_are_known_when_they_are_bold():
    assert (
        lines(EXPORT.replace("Dana Kim", "**Dana Kim**").replace("Unknown Speaker", "****Unknown Speaker****"))
        == SPOKEN
    )


def test_it_is_read_out_of_a_word_document():
    assert lines(docx(*map(paragraph, EXPORT.splitlines()))) == SPOKEN


def test_the_footer_and_what_stands_on_top_are_left_out_and_counted():
    assert warnings(EXPORT) == [("front_matter_left_out", "1 lines")]
    joined = "Renewal\nSUMMARY KEYWORDS\nrenewal, may\n\n" + EXPORT + EXPORT
    assert lines(joined) == SPOKEN + SPOKEN
    assert warnings(joined) == [("front_matter_left_out", "5 lines")]


@pytest.mark.parametrize(
    "text",
    [
        "Welcome  9:00\nTalks  9:30\nLunch  12:30\n",
        "Minutes of Monday\n\nLunch  12:30\nwas good.\n",
    ],
)
def test_an_agenda_is_no_transcript(text):
    assert read(text.encode()).format == "plain"


@pytest.mark.parametrize("heading", ["{} {}", "**{}**    {}  ", "**{}** [{} ]", "{}\t({})"])
def test_names_that_come_back_are_known_whatever_stands_between_them_and_their_times(heading):
    spoken = [("Dana Kim", "0:05", "We renew."), ("Bob", "1:00:09", "In May.\nAt 12:30 I go.")] * 2
    text = "\n\n".join(f"{heading.format(name, time)}\n{words}" for name, time, words in spoken)
    assert lines(text) == [("Dana Kim", 5, "We renew."), ("Bob", 3609, "In May.\nAt 12:30 I go.")] * 2


def test_words_may_stand_behind_a_time_in_brackets():
    text = "**Dana** [00:00:05] We renew.\n\n**Bob** [00:00:09] In May.\n\n**Dana** [00:00:12] Good."
    assert lines(text) == [("Dana", 5, "We renew."), ("Bob", 9, "In May."), ("Dana", 12, "Good.")]


def test_names_in_one_file_may_stand_at_several_distances():
    text = "**Dana**  0:00  \nWe renew.\n\n**Bob**    0:04  \nIn May.\n\n**Unknown Speaker** 0:09\nGood.\n"
    assert [line[0] for line in lines(text)] == ["Dana", "Bob", "Unknown Speaker"]


@pytest.mark.parametrize(
    "text",
    [
        "Dana Kim: When do we meet?\nBob Roe: 12:30\nDana Kim: And on Friday?\nBob Roe: 14:00\nDana Kim: Good.\n",
        "Dana: We start.\nPart 12:30\nBob: Yes.\nPart 13:30\nis the next.\nDana: Good.\nPart 14:00\nBob: Fine.\n",
        "Dana: We start.\nBob: Yes.\nDana: The plan says\n\nPart  12:30\nthe offer.\nPart  13:30\nthe contract.\n",
    ],
)
def test_a_dialogue_in_which_times_are_said_is_read_as_one(text):
    reading = read(text.encode())
    assert reading.format == "plain"
    assert not [each for each in reading.warnings if each.code.endswith("left_out")]
    assert reading.transcript.turns[0].text in ("When do we meet?", "We start.", "We start.\nPart 12:30")


def test_signs_without_letters_are_no_names():
    assert read(b"### 0:05\nDana: We renew.\n### 0:09\nBob: Good.\n").format == "plain"


def test_a_long_text_above_a_few_headings_is_not_dropped():
    text = "We spoke of the renewal, and of the offer. \n" * 200 + "Dana  0:05\nWe renew.\nBob  0:09\nGood.\n"
    assert read(text.encode()).format == "plain"


@pytest.mark.parametrize("heading", ["{} ({}):", "{} - {}", "{} \u00b7 {}", "{} ({}.25)", "**{}** [{}]:"])
def test_colons_dashes_and_fractions_are_no_words(heading):
    spoken = [("Dana Kim", "00:05", "We renew."), ("Bob", "00:09", "In May.")] * 2
    text = "\n\n".join(f"{heading.format(name, time)}\n{words}" for name, time, words in spoken)
    assert [(speaker, round(start), said) for speaker, start, said in lines(text)] == [
        ("Dana Kim", 5, "We renew."),
        ("Bob", 9, "In May."),
    ] * 2


def test_prose_that_ends_its_lines_with_times_is_no_transcript():
    text = "We met at 12:30\nand spoke of the renewal.\nThen we ate until 14:00\nand went home."
    assert read(text.encode()).format == "plain"


@pytest.mark.parametrize("mark", [",", " @", " -"])
def test_what_stands_between_a_name_and_a_time_is_no_part_of_it(mark):
    spoken = [("Dana Kim", "00:05", "We renew."), ("Bob", "00:09", "In May.")] * 2
    text = "\n\n".join(f"{name}{mark} {time}\n{words}" for name, time, words in spoken)
    assert [turn.speaker for turn in read(text.encode()).transcript.turns] == ["Dana Kim", "Bob"] * 2
