"""One small sample of every kind of file, written here: what fuzzing cuts, mixes and damages."""

import json
import zipfile
from io import BytesIO

SPOKEN = (
    ("Anna Kim", 1.5, 4.25, "Good morning, shall we begin with the pilot?"),
    ("Ben", 5.0, 6.5, "Yes. Legal says: the draft is fine."),
    ("Anna Kim", 7.0, 9.75, "Then I will send the contract on Friday, für alle, 你好."),
    ("Ben", 10.0, 11.125, "Thank you, that works for us."),
)


def clock(seconds, mark="."):
    whole, rest = divmod(round(seconds * 1_000), 1_000)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}{mark}{rest:03d}"


def vtt(turns):
    """Voices for the speakers; what could be markup is escaped."""
    cues = (
        f"{clock(start)} --> {clock(end)}\n<v {escaped(speaker)}>{escaped(text)}</v>"
        for speaker, start, end, text in turns
    )
    return "WEBVTT\n\n" + "\n\n".join(cues) + "\n"


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def srt(turns, mark=","):
    return "".join(
        f"{number}\n{clock(start, mark)} --> {clock(end, mark)}\n{speaker}: {text}\n\n"
        for number, (speaker, start, end, text) in enumerate(turns, start=1)
    )


def zoom(turns):
    return "WEBVTT\r\n\r\n" + srt(turns, ".").replace("\n", "\r\n")


def plain(turns):
    return "".join(f"{speaker}: {text}\n" for speaker, _, _, text in turns)


def bracketed(turns):
    return "".join(f"[{clock(start)}] {speaker}: {text}\n" for speaker, start, _, text in turns)


def turns_json(turns):
    return json.dumps([dict(zip(("speaker", "start", "end", "text"), turn, strict=True)) for turn in turns])


def docx(paragraphs):
    """A Word document with these paragraphs and nothing else."""
    body = "".join(f"<w:p><w:r><w:t>{escaped(text)}</w:t></w:r></w:p>" for text in paragraphs)
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    whole = BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("word/document.xml", f'<w:document xmlns:w="{word}"><w:body>{body}</w:body></w:document>')
    return whole.getvalue()


def vendors(turns):
    """JSON as speech services write it, by the least that their readers look for."""
    texts = [text for _, _, _, text in turns]
    words = [{"word": word, "start": 1.0, "end": 1.5, "speaker": 0} for word in texts[0].split()]
    spans = [{"start": 1.0, "end": 2.0, "text": text} for text in texts]
    items = [
        {"type": "pronunciation", "start_time": "1.0", "end_time": "1.2", "alternatives": [{"content": word}]}
        for word in texts[0].split()
    ]
    said = {"speakerId": "7", "sentences": spans}
    yield {"results": {"channels": [{"alternatives": [{"transcript": texts[0], "words": words}]}]}}
    job = {"id": "1", "status": "completed", "audio_url": "x"}
    yield job | {"utterances": [span | {"speaker": "A", "words": []} for span in spans], "audio_duration": 9}
    yield {"segments": [span | {"avg_logprob": -0.2, "no_speech_prob": 0.1} for span in spans]}
    yield {"segments": [spans[0] | {"speaker": "SPEAKER_00", "words": words}]}
    yield {"callTranscripts": [{"callId": "1", "transcript": [said]}]}
    yield {"sentences": [{"index": 0, "speaker_name": "Anna", "text": texts[0], "start_time": 1}], "duration": 1}
    yield {"jobName": "x", "accountId": "1", "status": "COMPLETED", "results": {"transcripts": [], "items": items}}
    yield {"monologues": [{"speaker": 0, "elements": [{"type": "text", "value": text} for text in texts]}]}
    yield {"transcript": [{"speaker": {"display_name": "Anna"}, "text": texts[0], "timestamp": "00:00:01"}]}
    yield {
        "combinedRecognizedPhrases": [],
        "recognizedPhrases": [{"offsetInTicks": 1, "nBest": [{"display": texts[0]}]}],
    }


def samples():
    """The bytes of each."""
    texts = [write(SPOKEN) for write in (vtt, srt, zoom, plain, bracketed, turns_json)]
    texts += [json.dumps(value) for value in vendors(SPOKEN)]
    texts.append("".join(f"[{speaker}] {clock(start)[:8]}\n{text}\n\n" for speaker, start, _, text in SPOKEN))
    texts.append("".join(f"{speaker}  0:{int(start):02d}  \n{text}\n\n" for speaker, start, _, text in SPOKEN))
    texts.append("".join(f"{clock(start)[:8]}\tFrom {speaker} : {text}\r\n" for speaker, start, _, text in SPOKEN))
    texts.append("".join(f"{int(start)}:00 - {speaker} (Rye)\n  {text}\n\n" for speaker, start, _, text in SPOKEN))
    words = docx([f"{speaker}: {text}" for speaker, _, _, text in SPOKEN])
    return [*(text.encode() for text in texts), words]
