"""Tokens are counted with tiktoken's own numbers, offline, and in bounded time for any text."""

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pipeline.domain.documents import Transcript, Turn
from pipeline.errors import NotFound
from pipeline.summarizers.tokens import _pieces, _tokenizer, count_text, count_tokens

ENCODING = "o200k_base"
#: Counts in a process that cannot open a socket; prints the number.
OFFLINE = """
import socket, sys
from pathlib import Path
def refuse(*args, **kwargs):
    raise AssertionError("somebody opened a socket")
socket.socket.connect = socket.getaddrinfo = socket.create_connection = refuse
from pipeline.summarizers.tokens import count_text
print(count_text("hello world", sys.argv[1], Path(sys.argv[2])))
"""


@pytest.fixture(scope="module")
def cache_dir(tmp_path_factory):
    return tmp_path_factory.mktemp("vocabularies")


def start_offline(encoding, folder):
    root = Path(__file__).parents[2]
    return subprocess.Popen(
        [sys.executable, "-c", OFFLINE, encoding, folder], cwd=root, stdout=subprocess.PIPE, text=True
    )


def finish(process):
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return int(output)


@pytest.mark.parametrize("encoding", ["cl100k_base", "o200k_base"])
def test_an_empty_folder_and_no_network_are_enough(encoding, tmp_path):
    assert finish(start_offline(encoding, tmp_path)) == 2
    assert len(list(tmp_path.iterdir())) == 1


def test_processes_may_race_for_the_same_empty_folder(tmp_path):
    processes = [start_offline(ENCODING, tmp_path) for _ in range(3)]
    assert [finish(process) for process in processes] == [2, 2, 2]
    assert len(list(tmp_path.iterdir())) == 1


def test_a_damaged_vocabulary_is_laid_anew_and_not_fetched(tmp_path):
    finish(start_offline(ENCODING, tmp_path))
    (vocabulary,) = tmp_path.iterdir()
    whole = hashlib.sha256(vocabulary.read_bytes()).hexdigest()
    vocabulary.write_bytes(b"cut short")
    assert finish(start_offline(ENCODING, tmp_path)) == 2
    assert hashlib.sha256(vocabulary.read_bytes()).hexdigest() == whole


def test_a_turn_is_counted_as_one_line_with_its_speaker(cache_dir):
    transcript = Transcript(turns=(Turn(text="Hello there.", speaker="Dana"), Turn(text="Hi.")))
    expected = count_text("Dana: Hello there.\n", ENCODING, cache_dir) + count_text("Hi.\n", ENCODING, cache_dir)
    assert count_tokens(transcript, ENCODING, cache_dir) == expected


def test_special_tokens_are_only_text(cache_dir):
    assert count_text("<|endoftext|>", ENCODING, cache_dir) > 1


def test_an_unknown_encoding_is_not_found(cache_dir):
    with pytest.raises(NotFound, match="cl100k_base, o200k_base"):
        count_text("hello", "p50k_base", cache_dir)


def test_counting_stops_soon_after_the_limit(cache_dir):
    transcript = Transcript(turns=tuple(Turn(text="word " * 1_000) for _ in range(1_000)))
    assert 5_000 < count_tokens(transcript, ENCODING, cache_dir, limit=5_000) < 10_000
    assert count_tokens(transcript, ENCODING, cache_dir, limit=2_000_000) == 1_001_000


@pytest.mark.parametrize("character", ["a", " ", "\n", "^", "0"])
def test_a_line_of_five_megabytes_of_one_character_is_counted(character, cache_dir):
    assert 0 < count_text(character * 5_000_000, ENCODING, cache_dir) <= 5_000_000


def test_a_megabyte_of_chinese_is_not_taken_for_a_few_words(cache_dir):
    assert count_text("人均消费是多少" * 50_000, ENCODING, cache_dir) > 150_000


@given(st.text(alphabet=st.sampled_from("aB 9.\n\t，中é😀'"), max_size=300))  # noqa: RUF001 - Chinese has its own comma
def test_pieces_lose_nothing(text):
    assert "".join(_pieces(text)) == text


@settings(deadline=None)
@given(st.lists(st.sampled_from(["call", "it's", "12345", "Preis,", "中文", "\n", "...", "ok!", "😀"]), min_size=1))
@example(["call", "\n", "call", "\n", "\n", "call", "\n"])
def test_pieces_cut_at_spaces_count_what_the_whole_counts(cache_dir, words):
    # Each piece has a blank between two words to be cut at: where a text has none, a token or two may be more.
    text = " ".join([*words, "so", "on"]) * 200
    whole = len(_tokenizer(ENCODING, cache_dir).encode_ordinary(text))
    assert count_text(text, ENCODING, cache_dir) == whole
