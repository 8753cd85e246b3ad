"""Whatever was said shows in a report as it was said, and never acts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from exports.markdown import escape

RENDERER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HARMLESS = {
    "paragraph_open",
    "paragraph_close",
    "inline",
    "bullet_list_open",
    "bullet_list_close",
    "list_item_open",
} | {"list_item_close"}

ATTACKS = [
    "# heading",
    "a\n# heading",
    "a\n===",
    "===",
    "- item",
    "+ item",
    "1. item",
    "12) item",
    "> quote",
    "---",
    "***",
    "```\ncode",
    "~~~",
    "    code",
    "[link](http://evil.example)",
    "![image](http://evil.example/x.png)",
    "<http://evil.example>",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "&lt;b&gt; &#35;",
    "*emphasis* _emphasis_ **strong** ~~struck~~",
    "`code`",
    "a | b\n--|--\nc | d",
    "[x]: http://evil.example",
    "\\# \\[x\\](y)",
    "line\u2028# heading\u2029# heading\x0b# heading",
]


def inner(tokens):
    for token in tokens:
        yield token
        yield from inner(token.children or [])


def rendered(markdown):
    """(what acts, the words that show, those of them in code spans) of the Markdown."""
    tokens = list(inner(RENDERER.parse(markdown)))
    acting = [token.type for token in tokens if token.type not in HARMLESS | {"text", "text_special", "code_inline"}]
    shown = "".join(token.content for token in tokens if token.type in {"text", "text_special", "code_inline"})
    codes = [token.content for token in tokens if token.type == "code_inline"]
    return acting, shown, codes


@pytest.mark.parametrize("said", ATTACKS)
@pytest.mark.parametrize("before", ["", "- ", "| ", "words "])
def test_an_attack_shows_as_words(said, before):
    acting, shown, codes = rendered(before + escape(said))
    assert acting == []
    assert codes == []
    words = " ".join(said.split())
    assert shown in {words, before + words}


@given(st.text(max_size=60))
def test_no_text_ever_acts_or_leaves_its_line(said):
    escaped = escape(said)
    acting, _, codes = rendered(f"- {escaped}")
    assert acting == []
    assert all(set(code) == {"@"} for code in codes)
    assert len(escaped.splitlines()) == 1


@given(st.text(st.sampled_from("ab|\\`-: \n<>@"), max_size=12), st.text(max_size=12))
def test_no_text_breaks_out_of_a_tables_cell(first, second):
    table = RENDERER.parse(f"| a | b |\n|---|---|\n| {escape(first)} | {escape(second)} |")
    assert [token.type for token in table].count("td_open") == 2
    assert [token.type for token in table].count("tr_open") == 2


def test_addresses_are_not_made_into_links():
    assert escape("ann@example.com") == "ann`@`example\\.com"
    assert escape("see https://www.example.com/x") == "see https\\://www\\.example\\.com/x"


def test_ordinary_sentences_are_left_alone():
    said = "Ann's offer (10:30, 5%) is fine. Isn't it? Yes - \u201csure\u201d!"
    assert escape(said) == said


def test_terminal_sequences_and_turned_directions_are_replaced():
    assert escape("a\x1b[31mb\u202ec") == "a\ufffd\\[31mb\ufffdc"


def test_blank_words_show_that_they_are_blank():
    assert escape(" \n ") == "(blank)"
