"""The formats that Callfold reads, the most telling first. A new one is a module here and a line in this table."""

from pipeline.transcripts import plain, srt, vtt
from pipeline.transcripts.source import Format

FORMATS: tuple[Format, ...] = (vtt, srt, plain)
