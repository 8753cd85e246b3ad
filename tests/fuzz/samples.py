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
    return document("".join(f"<w:p><w:r><w:t>{escaped(text)}</w:t></w:r></w:p>" for text in paragraphs))


def row(cells):
    """Of a table in Word."""
    return f"<w:tr>{''.join(f'<w:tc><w:p><w:r><w:t>{escaped(cell)}</w:t></w:r></w:p></w:tc>' for cell in cells)}</w:tr>"


def document(body):
    """A Word document with this body."""
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    whole = BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("word/document.xml", f'<w:document xmlns:w="{word}"><w:body>{body}</w:body></w:document>')
    return whole.getvalue()


def headed(turns, heading):
    """Each turn below a line of its own."""
    return "".join(f"{heading.format(name=name, at=at(start))}\n{text}\n\n" for name, start, _, text in turns)


def at(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def texts(turns):
    """By format, what a tool writes of the turns."""
    timed = [(clock(start), clock(end), name, text) for name, start, end, text in turns]
    unpadded = [(f"0:0:{start}", f"0:0:{end}", name, text) for name, start, end, text in turns]
    yield "vtt", vtt(turns)
    paragraphs = (f'<p begin="{start}" end="{end}">{name}: {escaped(text)}</p>' for start, end, name, text in timed)
    yield "ttml", f"<tt xmlns='http://www.w3.org/ns/ttml'><body>{''.join(paragraphs)}</body></tt>"
    yield "unknown_markup", f"<!DOCTYPE html><html><body><p>{escaped(plain(turns))}</p></body></html>"
    yield (
        "ass",
        "[Script Info]\n\n[Events]\n"
        + "".join(f"Dialogue: 0,{start},{end},Default,{name},0,0,0,,{text}\n" for start, end, name, text in timed),
    )
    yield "teams_docx_old", "".join(f"{start} --> {end}\n{name}\n{text}\n" for start, end, name, text in unpadded)
    yield "sbv", "".join(f"{start},{end}\n{name}: {text}\n\n" for start, end, name, text in timed)
    yield "srt", srt(turns)
    yield "whisper_console", "".join(f"[{start} --> {end}]  {name}: {text}\n" for start, end, name, text in timed)
    yield "zoom_caption", "".join(f"[{name}] {start[:8]}\n{text}\n\n" for start, _, name, text in timed)
    yield "zoom_chat", "".join(f"{start[:8]}\tFrom {name} : {text}\n" for start, _, name, text in timed)
    yield "whatsapp", "".join(f"12/05/2026, 10:0{n} - {name}: {text}\n" for n, (*_, name, text) in enumerate(timed))
    yield (
        "irc",
        "".join(f"[2026-05-12T{start[:8]}Z]\t<Transcriber>\t{name}: {text}\n" for start, _, name, text in timed),
    )
    yield "csv_turns", "Speaker,Start,Text\n" + "".join(f'{name},{start},"{text}"\n' for start, _, name, text in timed)
    yield "google_meet", f"Attendees\nAnna Kim, Ben\nTranscript\n00:00:00\n{plain(turns)}"
    yield "fathom", headed(turns, "{at} - {name} (Rye)")
    yield "teams_docx", headed(turns, "{name}   {at}")
    yield "otter", headed(turns, "{name}  {at}  ")
    yield "name_lines", headed(turns, "{name}")
    yield "summary", "Summary\nA call on the pilot.\n\nNext steps\n- a contract\n- a date\n- a call\n"
    yield "plain", plain(turns)


def values(turns):
    """By format, the JSON of a speech service, with the least that its reader looks for."""
    said = [{"text": text, "start": start, "end": end} for _, start, end, text in turns]
    text = turns[0][3]
    words = [{"word": word, "start": 1.0, "end": 1.5, "speaker": 0} for word in text.split()]
    job = {"id": "1", "status": "completed", "audio_url": "x", "audio_duration": 9}
    items = [
        {"type": "pronunciation", "start_time": "1.0", "end_time": "1.2", "alternatives": [{"content": word}]}
        for word in text.split()
    ]
    conversation = {"conversationItems": [{"participantId": "1", "text": text}]}
    yield "deepgram", {"results": {"channels": [{"alternatives": [{"transcript": text, "words": words}]}]}}
    yield "gong", {"callTranscripts": [{"callId": "1", "transcript": [{"speakerId": "7", "sentences": said}]}]}
    yield (
        "fireflies",
        {"sentences": [{"index": 0, "speaker_name": "Anna", "text": text, "start_time": 1}], "duration": 1},
    )
    yield "fathom_api", {"transcript": [{"speaker": {"display_name": "Anna"}, "text": text, "timestamp": "00:00:01"}]}
    yield "grain", [{"speaker": "Anna", "participant_id": "1", "text": text, "start": 1, "end": 2}]
    yield "assemblyai", job | {"utterances": [each | {"speaker": "A", "words": []} for each in said]}
    yield "aws_transcribe", {"jobName": "x", "results": {"transcripts": [], "items": items}}
    yield "aws_call_analytics", {"Transcript": [{"ParticipantRole": "AGENT", "Content": text}]}
    yield "aws_bda", {"metadata": {}, "audio_segments": [{"text": text}]}
    yield "ibm_watson", {"results": [{"final": True, "alternatives": [{"transcript": text}]}]}
    yield "google_stt", {"results": [{"alternatives": [{"transcript": text, "confidence": 0.9}]}]}
    yield "azure", {"combinedRecognizedPhrases": [], "recognizedPhrases": [{"nBest": [{"display": text}]}]}
    yield "azure_conversation", {"analysisInput": {"conversations": [conversation]}}
    yield "whisper", {"segments": [each | {"avg_logprob": -0.2, "no_speech_prob": 0.1} for each in said]}
    yield "whisper_cpp", {"transcription": [{"offsets": {"from": 0, "to": 900}, "text": text}]}
    yield "rev", {"monologues": [{"speaker": 0, "elements": [{"type": "text", "value": text}]}]}
    yield "gecko", {"monologues": [{"speaker": {"id": "1"}, "terms": [{"type": "WORD", "text": text}]}]}
    yield "speechmatics", {"results": [{"type": "word", "alternatives": [{"content": text}]}]}
    yield "kaldi", {"words": [{"word": word, "punct": word, "start": 1, "end": 2} for word in text.split()]}
    yield "elevenlabs_agent", {"transcript": [{"role": "agent", "message": text, "time_in_call_secs": 1}]}
    yield "elevenlabs_scribe", {"words": [{"type": "word", "text": word} for word in text.split()]}
    yield "meet_entries", {"transcriptEntries": [{"participant": "participants/1", "text": text}]}
    yield "azure_messages", {"messages": [{"persona": "human", "content": text}]}
    yield "chat_messages", [{"type": "message", "user": "U1", "text": text, "ts": "1700000000.0001"}]
    yield "md_content", {"Content": f"**Agent:** {text}"}
    yield "turns", [dict(zip(("speaker", "start", "end", "text"), turn, strict=True)) for turn in turns]
    yield "unknown_json", {"a": [{"b": text}]}


def samples():
    """By format, the bytes of a small file."""
    table = (
        f"<w:tbl>{''.join(map(row, [('Speaker', 'Content'), *((name, text) for name, _, _, text in SPOKEN)]))}</w:tbl>"
    )
    return {
        "docx_table": document(table),
        **{name: json.dumps(value).encode() for name, value in values(SPOKEN)},
        **{name: text.encode() for name, text in texts(SPOKEN)},
    }


#: What people have that no reader is for alone.
OTHERS = [
    zoom(SPOKEN).encode(),
    bracketed(SPOKEN).encode(),
    docx([f"{speaker}: {text}" for speaker, _, _, text in SPOKEN]),
    json.dumps({"segments": [{"start": 1, "text": SPOKEN[0][3], "speaker": "SPEAKER_00", "words": []}]}).encode(),
]
