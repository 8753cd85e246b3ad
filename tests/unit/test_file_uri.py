"""One spelling of each folder; what is sloppy is refused with what to write instead."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from pipeline.file_uri import checked, folder_of_uri
from pipeline.settings import Schedule


@pytest.mark.parametrize(
    ("uri", "folder", "written"),
    [
        ("file:///srv/crm", "/srv/crm", "file:///srv/crm"),
        ("file://localhost/srv/crm/", "/srv/crm", "file:///srv/crm"),
        ("FILE://LocalHost/srv//crm/.", "/srv/crm", "file:///srv/crm"),
        ("file:/srv/crm", "/srv/crm", "file:///srv/crm"),
        ("file:///srv/new%20calls%3F", "/srv/new calls?", "file:///srv/new%20calls%3F"),
        ("file:///srv/new calls", "/srv/new calls", "file:///srv/new%20calls"),
        ("file:///srv/münchen", "/srv/münchen", "file:///srv/m%C3%BCnchen"),
        ("file:///srv/%ff", "/srv/\udcff", "file:///srv/%FF"),
        ("file:///a%2525", "/a%25", "file:///a%2525"),
    ],
)
def test_each_spelling_of_a_folder_is_one_uri(uri, folder, written):
    assert folder_of_uri(uri) == Path(folder)
    assert checked(uri) == checked(written) == written


@pytest.mark.parametrize("uri", ["", "crm", "/srv/crm", "file:crm", "file:", "file://", "file:////srv/crm"])
def test_what_names_no_absolute_folder_is_refused(uri):
    with pytest.raises(ValueError, match="write file:///absolute/folder"):
        folder_of_uri(uri)


@pytest.mark.parametrize("uri", ["s3://bucket/crm", "https://crm.example/in", "file:///crm?x=1", "file:///crm#x"])
def test_what_cannot_be_delivered_to_is_refused_with_what_can(uri):
    with pytest.raises(ValueError, match="only file:// is delivered to"):
        folder_of_uri(uri)


@pytest.mark.parametrize("uri", ["file://srv/crm", "file://user@localhost/crm", "file://localhost:80/crm"])
def test_another_host_is_refused(uri):
    with pytest.raises(ValueError, match="names no other host"):
        folder_of_uri(uri)


@pytest.mark.parametrize("uri", ["file:///100%", "file:///%zz", "file:///a%00", "file:///a%2Fb", "file:///a\nb"])
def test_what_no_name_may_hold_is_refused(uri):
    with pytest.raises(ValueError, match="not a path"):
        folder_of_uri(uri)


@pytest.mark.parametrize("uri", ["file:///srv/../etc", "file:///srv/%2E%2e/etc"])
def test_a_way_up_is_refused(uri):
    with pytest.raises(ValueError, match="write the folder itself"):
        folder_of_uri(uri)


def test_a_schedule_keeps_the_one_spelling_and_refuses_what_a_delivery_would():
    assert Schedule(source=Path(), deliver_to="file:/srv/crm/").deliver_to == "file:///srv/crm"
    with pytest.raises(ValidationError, match="only file://"):
        Schedule(source=Path(), deliver_to="s3://bucket")
