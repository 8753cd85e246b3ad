"""The key of a delivery decides: once for an export, never for two."""

from uuid import UUID

import pytest

from pipeline.domain.receipts import decide, default_key

ONE, OTHER = UUID(int=1), UUID(int=2)


@pytest.mark.parametrize(
    ("export_id", "standing", "reason"),
    [
        (ONE, None, "delivered"),
        (ONE, ONE, "duplicate-delivery"),
        (ONE, OTHER, "key-reused-for-other-export"),
        (None, None, "not-terminal"),
        (None, OTHER, "not-terminal"),
    ],
)
def test_what_a_delivery_comes_to(export_id, standing, reason):
    assert decide(export_id, standing) == reason


def test_without_a_key_the_same_export_to_the_same_place_is_the_same_delivery():
    assert default_key(ONE, "file:///crm") == default_key(ONE, "file:///crm")
    keys = {default_key(export_id, uri) for export_id in (ONE, OTHER) for uri in ("file:///crm", "file:///crm2")}
    assert len(keys) == 4
