import pytest
from word_samples import docx, paragraph

from pipeline.errors import ItemFailure
from pipeline.transcripts.read import read

OWN = "This editable transcript was computer generated and might contain errors. People can also change the text."

#: The tildes are blanks.
TEXT = f"""Feb 19, 2026
Renewal Northwind - Transcript
00:00:00
~
Dana Kim: Good morning. One thing: is Bob here?
Bob Roe: Yes. So we
Dana Kim: wanted
~
~
00:05:42
~
Bob Roe: to talk about May.
Dana Kim: Good. Let us renew.
~
~
Transcription ended after 00:07:31

{OWN}
""".replace("~", " ")
SPOKEN = [
    ("Dana Kim", 0, "Good morning. One thing: is Bob here?"),
    ("Bob Roe", None, "Yes. So we"),
    ("Dana Kim", None, "wanted"),
    ("Bob Roe", 342, "to talk about May."),
    ("Dana Kim", None, "Good. Let us renew."),
]
MARKDOWN = f"""### Attendees
Bob Roe, Dana Kim, Dana Kim's Presentation

## Transcript

**{OWN}**

**Dana Kim:** Good morning.
 All fine?

**Bob Roe:** Yes, Dana.
**Dana Kim** Good. We renew.

#### Meeting ended after 01:00:31 \N{WAVING HAND SIGN}
"""
NOTES = """# \N{MEMO} Notes

Feb 19, 2026

### Summary

Dana Kim and Bob Roe spoke about the renewal. Bob Roe: will pay. Bob Roe: in May.

### Suggested next steps

- [ ] Dana Kim will send the offer.

*You should review Gemini's notes to make sure they're accurate. [Get tips](https://support.example)*

"""
TAB = f"""# \N{OPEN BOOK} Transcript

Feb 19, 2026

## Meeting Feb 19, 2026 at 16:19 \\- Transcript

### 00:00:00 {{#00:00:00}}

~~~
**Dana Kim:** We renew in May.~~
**Bob Roe:** Good. Send it.~~
**Dana Kim:** I will.~~
~~~
### Transcription ended after 01:10:17

*{OWN}*
""".replace("~", " ")


def reading(data):
    found = read(data if isinstance(data, bytes) else data.encode())
    assert found.format == "google_meet"
    return found


def lines(data):
    return [(turn.speaker, turn.start, turn.text) for turn in reading(data).transcript.turns]


def warnings(data):
    return [(each.code, each.place) for each in reading(data).warnings if "speakers" not in each.code]


def test_a_time_on_a_line_alone_is_the_start_of_the_turn_below_it():
    assert lines(TEXT) == SPOKEN
    assert warnings(TEXT) == [("front_matter_left_out", "4 lines")]


def test_it_is_read_out_of_a_word_document():
    assert lines(docx(*map(paragraph, TEXT.splitlines()))) == SPOKEN


def test_a_bold_name_is_a_speaker_even_where_it_lost_its_colon():
    assert lines(MARKDOWN) == [
        ("Dana Kim", None, "Good morning.\n All fine?"),
        ("Bob Roe", None, "Yes, Dana."),
        ("Dana Kim", None, "Good. We renew."),
    ]
    assert warnings(MARKDOWN) == [("front_matter_left_out", "5 lines")]


def test_attendees_are_no_speech_without_a_heading_either():
    text = f"# Call 27\n### Attendees\nDana, Bob\n\n#### _{OWN}_\n\nDana: We renew.\n\nBob: In May.\n\nDana: Yes."
    assert lines(text) == [("Dana", None, "We renew."), ("Bob", None, "In May."), ("Dana", None, "Yes.")]


def test_who_is_named_once_is_not_taken_for_an_attendee():
    text = f"{OWN}\n\nharry (phone): We renew.\nDana: In May.\nBob: Yes.\nDana: Good.\nBob: Bye."
    assert lines(text)[0] == (None, None, "harry (phone): We renew.")


def test_the_notes_above_the_transcript_are_left_out_as_a_summary():
    assert [(speaker, start, text.rstrip()) for speaker, start, text in lines(NOTES + TAB)] == [
        ("Dana Kim", 0, "We renew in May."),
        ("Bob Roe", None, "Good. Send it."),
        ("Dana Kim", None, "I will."),
    ]
    assert ("summary_left_out", "10 lines") in warnings(NOTES + TAB)


def test_what_was_added_below_the_transcript_is_left_out_as_notes():
    assert ("notes_left_out", "2 lines") in warnings(TEXT + "\n## Links\n- [[dana]]\n")


def test_notes_alone_are_no_call():
    with pytest.raises(ItemFailure, match="not_a_call: a summary that a model wrote"):
        read(NOTES.encode())


def test_a_sentence_of_meet_that_somebody_quotes_is_speech():
    text = f"Dana: It says: {OWN}\nBob: Transcription ended after 00:01:00, it says.\nDana: Yes.\nBob: Good."
    assert read(text.encode()).format == "plain"


def test_a_line_that_says_what_a_title_or_an_end_says_is_speech_among_speakers():
    spoken = "Dana: We renew.\nBob: Good.\nDana: Read me the next.\nBob: Transcript\nDana: Yes.\n"
    text = (
        f"# Attendees\nDana, Bob\n\n## Transcript\n\n{spoken}Meeting ended after 00:10:00, it says.\n{spoken}\n{OWN}\n"
    )
    assert [turn.text for turn in reading(text).transcript.turns].count("We renew.") == 2
    assert len(lines(text)) == 10


LANGUAGES = {
    "es": (
        "Transcripción",
        "La transcripción finalizó después de 00:09:31",
        "Esta transcripción editable se generó por computadora",
    ),
    "fr": (
        "Transcription",
        "Transcription terminée après 00:09:31",
        "Cette transcription modifiable a été générée par ordinateur",
    ),
    "pt": (
        "Transcrição",
        "A transcrição foi encerrada após 00:09:31",
        "Esta transcrição editável foi gerada por computador",
    ),
    "it": (
        "Trascrizione",
        "Trascrizione terminata dopo 00:09:31",
        "Questa trascrizione modificabile è stata generata dal computer",
    ),
    "ja": (
        "文字起こし",
        "00:09:31 より後に文字起こしが終了しました",
        "この編集可能な文字起こしはコンピュータが生成したものであり、",
    ),
}
NOTED = {"es": "Resumen", "fr": "Résumé", "pt": "Resumo", "it": "Riepilogo"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_its_own_words_are_known_in_other_languages(language):
    title, end, own = LANGUAGES[language]
    text = (
        f"19 feb 2026\n\n## Norte - {title}\n\n### **00:00:45** {{#00:00:45}}\n\n&nbsp;\n\n**Dana Kim:** Renovamos.\n\n"
        f"**Bob Roe:** Bien.\n\n**Dana Kim:** Sí.\n\n&nbsp;\n\n### **{end}**\n\n*{own} etc.*\n"
    )
    assert [(who, start, said.strip()) for who, start, said in lines(text)] == [
        ("Dana Kim", 45, "Renovamos."),
        ("Bob Roe", None, "Bien."),
        ("Dana Kim", None, "Sí."),
    ]
    assert ("front_matter_left_out", "4 lines") in warnings(text)


@pytest.mark.parametrize("language", NOTED)
def test_notes_in_other_languages_are_a_summary(language):
    title, end, own = LANGUAGES[language]
    notes = f"# \N{MEMO} Notas\n\n### **{NOTED[language]}**\n\nDana Kim renueva.\n\n"
    spoken = f"# \N{OPEN BOOK} {title}\n\n00:00:00\n\nDana: Sí.\nBob: Bien.\nDana: Renovamos.\n\n{end}\n\n{own}\n"
    assert ("summary_left_out", "4 lines") in warnings(notes + spoken)


def test_advice_on_geminis_notes_is_speech_among_speakers():
    advice = "You should review Gemini's notes before May."
    assert lines(TEXT.replace("So we\n", f"So we\n{advice}\n"))[1] == ("Bob Roe", None, f"Yes. So we\n{advice}")
