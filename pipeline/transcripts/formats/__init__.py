"""The formats that Callfold reads, the most telling first. A new one is a module here and a line in this table.

The last of each kind takes what no other one knows: `unknown_json` refuses it by name, `plain` reads it.
"""

from pipeline.transcripts.formats import (
    assemblyai,
    aws_bda,
    aws_call_analytics,
    aws_transcribe,
    deepgram,
    docx_table,
    fathom,
    fathom_api,
    fireflies,
    gong,
    grain,
    otter,
    plain,
    srt,
    teams_docx,
    turns,
    unknown_json,
    vtt,
    whisper,
    zoom_caption,
    zoom_chat,
)
from pipeline.transcripts.source import Format

FORMATS: tuple[Format, ...] = (
    # Word, told by its tables; other documents are read as the text that they hold
    docx_table,
    # JSON, told by its keys
    deepgram,
    gong,
    fireflies,
    fathom_api,
    grain,
    assemblyai,
    aws_transcribe,
    aws_call_analytics,
    aws_bda,
    whisper,
    turns,
    unknown_json,
    # text, told by its lines
    vtt,
    srt,
    zoom_caption,
    zoom_chat,
    fathom,
    teams_docx,
    otter,
    plain,
)
