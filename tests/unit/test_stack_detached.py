"""`up` while another owner comes or goes."""

import pytest

from pipeline.errors import StackError
from pipeline.settings import Settings
from pipeline.stack import detached


def test_up_begins_anew_when_the_owner_it_waits_for_ends(tmp_path, monkeypatch):
    held = iter([False, False, True])
    monkeypatch.setattr(detached, "_is_free", lambda _: next(held))
    with pytest.raises(StackError, match="did not come up"):  # it was started, and `false` is no stack
        detached.up(Settings(data_dir=tmp_path), ("false",))
