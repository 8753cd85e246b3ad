"""What can be doubtful about a document that was read all the same: each warning's code and what it says.

The table is closed: a code that is not here is found by a house test, and so is one that docs/formats.md does not name.
"""

from typing import Final

WARNINGS: Final[dict[str, str]] = {
    # bytes and characters
    "lossy_decoding": "The file does not say its encoding or breaks it; some characters may be wrong.",
    "replaced_characters": "Characters that no database takes, or that were lost before, stand as U+FFFD.",
    "suspicious_characters": "Pairs such as Ã¼ show that the text was once decoded wrongly; it is left as it is.",
    # what was left out, collapsed or not understood
    "text_outside_cues": "Text that belongs to no timing line was read as turns without times.",
    "unreadable_timing": "Times that nobody can read were left out; the words stay.",
    "timing_lines_lost": "There are more lines that look like times than turns that have one.",
    "front_matter_left_out": "A heading, a list of attendees or a footer was left out, since nobody said it.",
    "summary_left_out": "A summary that the export brought along was left out, not summarized again.",
    "notes_left_out": "Notes that the export brought along were left out, since nobody said them.",
    "chat_left_out": "Chat messages among the speech were left out.",
    "pages_missing": "The export goes on on another page, which was not in the file.",
    "duplicate_turns": "Turns equal to the one before in speaker, words and both times were left out.",
    "loop_collapsed": "A phrase that a recogniser repeated without end stands once.",
    "maybe_silence": "The recogniser itself doubts that anybody spoke.",
    # speakers
    "speakers_missing": "Turns have no speaker: whatever is promised there has no owner.",
    "speakers_generic": "No label is somebody's name, so nobody owns an action.",
    "speakers_collapsed": "One label stands for a whole conversation, so nobody owns an action.",
    "speakers_merged": "Spellings of one label that differ in case or blanks only were united.",
    # the batch and the summary
    "identical_text": "Another document of the job has the same words.",
    "not_translated": "The summary is in the call's language, not in the one asked for.",
}
