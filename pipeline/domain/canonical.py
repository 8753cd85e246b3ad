"""Canonical JSON (RFC 8785) and the digests made of it: equal requests give equal bytes, whoever wrote them."""

import hashlib
from collections.abc import Mapping
from typing import Any

import rfc8785

from pipeline.errors import InvalidRequest


def canonical(value: Any) -> bytes:
    """The RFC 8785 bytes of a JSON value. Raises InvalidRequest for NaN, infinities and integers past 2**53."""
    try:
        return rfc8785.dumps(value)
    except rfc8785.CanonicalizationError as error:
        raise InvalidRequest(f"cannot be written as canonical JSON: {error}") from None


class RequestDigest:
    """The sha256 over `{"documents": [...], "options": {...}}`, fed one document at a time.

    The canonical form of an array is the canonical form of its members, so the digest needs the memory of one document.
    """

    def __init__(self) -> None:
        self._hash = hashlib.sha256(b'{"documents":[')
        self._first = True

    def add(self, digest_fields: Mapping[str, Any]) -> None:
        """Take the next document, in input order."""
        self._hash.update(canonical(digest_fields) if self._first else b"," + canonical(digest_fields))
        self._first = False

    def finish(self, options: Mapping[str, Any]) -> str:
        """Close over the options as given; hex, 64 characters."""
        self._hash.update(b'],"options":' + canonical(options) + b"}")
        return self._hash.hexdigest()
