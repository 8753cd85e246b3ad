"""Caption markup: real tags go, anything else that looks like one was said or typed and stays."""

import html
import re

#: The tags of WebVTT and SubRip, WebVTT's word stamps, and SubRip's `{\an8}`.
_TAG = re.compile(
    r"</?(?:c|i|b|u|v|s|ruby|rt|lang|font)(?:[.\s][^<>]*)?>|<[0-9]{1,4}:[0-9:.]{1,20}>|\{\\[a-z]{1,4}[0-9]{0,3}\}",
    re.IGNORECASE,
)
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")


def without_tags(text: str) -> str:
    """The text without markup."""
    return _TAG.sub("", text) if "<" in text or "{" in text else text


def unescaped(text: str) -> str:
    """The text with its character references replaced, once; `&nbsp;` becomes a plain space.

    To be called after `without_tags`: the other way round, markup that somebody spoke of would vanish.
    """
    return _ENTITY.sub(_character, text) if "&" in text else text


def _character(reference: re.Match[str]) -> str:
    return " " if reference[0] == "&nbsp;" else html.unescape(reference[0])
