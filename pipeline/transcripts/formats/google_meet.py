"""Google Meet's transcript, as a Google document gives it in Markdown, in Word or as text.

Title, attendees and `Transcript`; then `Name: text`, with a time alone on a line about every five minutes; then
`Transcription ended after ...`. Gemini puts its own notes before the transcript in the same document: they are left
out, and a document that holds nothing else is no call.
"""

import re

from pipeline.domain.documents import Turn
from pipeline.transcripts import dialogue, labels
from pipeline.transcripts.headed import TIME
from pipeline.transcripts.omissions import left_out
from pipeline.transcripts.source import SUMMARY, TOP, Parsed, Source, bounded

NAME = "google_meet"

#: Words of which a document of Meet has some: looking for them first keeps the patterns off all other files.
_SIGNS = (
    "Gemini", "Attendees", "Participantes", "editable", "editável", "modifiable", "modificabile",
    "編集可能", " ended after ", " después de ", " após ", " depois de ", " après ", " dopo ", "終了",
)  # fmt: skip
#: Marks of Markdown, bullets, pictograms and blanks around a line's words.
_MARKS = r"[ \t#*_>\\\-\u2000-\u2bff\ufe0f\U0001f000-\U0001faff]{0,12}"
#: What Meet writes in English, Spanish, French, Portuguese, Italian and Japanese, as public documents have it.
_OWN = (
    "This editable transcript was computer generated",
    "Esta transcripción editable se (?:generó por computadora|ha generado por ordenador)",
    "Cette transcription modifiable a été générée par ordinateur",
    "Esta transcrição editável foi gerada por computador",
    "Questa trascrizione modificabile è stata generata dal computer",
    "この編集可能な文字起こしはコンピュータ",
)
_REVIEW = (
    "You should review Gemini['\u2019]s notes",
    "Revisa las notas de Gemini",
    "Nous vous conseillons d['\u2019]examiner les notes de Gemini",
    "Revise as anotações do Gemini",
    "Dovresti rivedere le note di Gemini",
)
_ENDED = (
    "(?:Transcription|Meeting) ended after",
    "La transcripción finalizó después de",
    "Transcription terminée après",
    "A transcrição foi encerrada após|A reunião terminou depois de",
    "Trascrizione terminata dopo",
)
_TITLES = "Transcript|Transcripción|Transcription|Transcrição|Trascrizione|文字起こし"
_NOTED = (
    "Notes|Quick notes|Summary|Details|(?:Suggested )?[Nn]ext steps",
    "Notas|Resumen|Detalles|Próximos pasos|Pasos siguientes(?: recomendados)?",
    "notes|Résumé|Détails|Étapes suivantes",
    "Observações|Anotações|Resumo|Detalhes|Próximas etapas",
    "Note|Riepilogo|Dettagli|Passaggi successivi",
)
_OWN_WORDS = re.compile(rf"^{_MARKS}(?:{'|'.join(_OWN)})[^\n]{{0,1000}}\n?", re.MULTILINE)
#: It stands below notes; among speakers somebody says it.
_ADVICE = re.compile(
    rf"^{_MARKS}(?:{'|'.join(_REVIEW)}|Please provide feedback about using Gemini)[^\n]{{0,1000}}$", re.MULTILINE
)
_TITLE = re.compile(rf"^(?:{_MARKS}|[^\n]{{1,200}}[:\u2013-] ){_MARKS}(?:{_TITLES}){_MARKS}$", re.MULTILINE)
_ATTENDEES = re.compile(rf"^{_MARKS}(?:Attendees|Participantes){_MARKS}$", re.MULTILINE)
_NOTES = re.compile(rf"^{_MARKS}(?:(?:{'|'.join(_NOTED)}){_MARKS}$|(?:{'|'.join(_REVIEW)}))", re.MULTILINE)
_TIME = re.compile(rf"^{_MARKS}(?P<time>{TIME}){_MARKS}(?:\{{#[0-9:]{{1,8}}\}})?{_MARKS}$", re.MULTILINE)
_END = re.compile(
    rf"^{_MARKS}(?:(?:{'|'.join(_ENDED)}) {TIME}|{TIME} より後に文字起こしが終了)[^\n]{{0,40}}\n?", re.MULTILINE
)
#: Lines of a single blank, as text or as Markdown, which stand around the times.
_BLANKS = re.compile(r"^(?:[ \t]{1,8}|&nbsp;[ \t]{0,8})$", re.MULTILINE)
#: Of so many lines that name a speaker one may be of the notes.
_FEW = 4
_BOLD = re.compile(r"^\*\*(?P<name>[^*:\n]{1,62})(?P<colon>:)?\*\*(?=[ \t])", re.MULTILINE)


def recognises(source: Source) -> bool:
    """Whether it has one of Meet's own sentences, or a list of attendees above the transcript."""
    if not any(sign in source.text for sign in _SIGNS):
        return False
    if any(words.search(source.text) for words in (_OWN_WORDS, _ADVICE, _END)):
        return True
    attendees = _ATTENDEES.search(source.top)
    return attendees is not None and _TITLE.search(source.top, attendees.end()) is not None


def parse(source: Source) -> Parsed:
    """One turn for each name; the first one after a time has a start."""
    head, rest = _cut(source.text)
    body, end, tail = _ended(rest)
    turns = list(bounded(dialogue.turns(_plain(body))))
    if not head and _NOTES.search(body) and not _TIME.search(body) and not _speaks(body):
        return Parsed([], instead=SUMMARY)
    preamble = turns.pop(0).text if _is_preamble(turns) else ""
    notes = _NOTES.search(head) is not None
    return Parsed(
        turns,
        (
            *left_out("summary_left_out", head if notes else ""),
            *left_out("front_matter_left_out", "" if notes else head, preamble, *_OWN_WORDS.findall(rest), end),
            *left_out("notes_left_out", _OWN_WORDS.sub("", tail)),
        ),
    )


def _cut(text: str) -> tuple[str, str]:
    """What stands above the transcript, and the transcript. A title with many speakers above it is none."""
    time = _TIME.search(text)
    titles = list(_TITLE.finditer(text, 0, time.start() if time else TOP))
    begin = titles[-1].end() if titles else 0
    return (text[:begin], text[begin:]) if _FEW * _speaks(text[:begin]) <= _speaks(text[begin:]) else ("", text)


def _plain(body: str) -> str:
    """The transcript as a dialogue: bare times, no blanks on empty lines, a colon behind every speaker's name.

    Transcripts are edited by hand: a bold name that has its colon elsewhere is a speaker where it has lost it.
    """
    text = _BLANKS.sub("", _TIME.sub(r"\g<time>", _OWN_WORDS.sub("", body)))
    speakers = {bold["name"] for bold in _BOLD.finditer(text) if bold["colon"]}
    return _BOLD.sub(lambda bold: f"**{bold['name']}:**" if bold["name"] in speakers else bold[0], text)


def _ended(text: str) -> tuple[str, str, str]:
    """The transcript, the line that ends it, and what was added below. Where people go on to speak, it is no end."""
    end = _END.search(text)
    if end is None or dialogue.named_lines(text[end.end() :], dialogue.speakers(text[: end.start()])):
        return text, "", ""
    return text[: end.start()], end[0], text[end.end() :]


def _speaks(text: str) -> int:
    """How many lines name a speaker."""
    return len(dialogue.named_lines(text))


def _is_preamble(turns: list[Turn]) -> bool:
    """Whether the first turn is what stands above the first name or time: a date, a list of attendees.

    Where a line of it may name a speaker whom nothing else proves, it is kept.
    """
    if len(turns) < 2 or turns[0].speaker or turns[0].start is not None:
        return False
    return not any(labels.start(line)[0] for line in turns[0].text.split("\n"))
