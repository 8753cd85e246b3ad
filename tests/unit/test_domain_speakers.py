"""An owner is a label that names somebody, in a call where people were told apart."""

import pytest

from pipeline.domain.documents import Turn
from pipeline.domain.speakers import owner_finder


def owner(label, *others):
    turns = tuple(Turn(text="Hello.", speaker=speaker) for speaker in (label, *others))
    return owner_finder(turns)(label)


@pytest.mark.parametrize(
    "name",
    [
        "Dana",
        "Dana Reyes",
        "Harrison_Tang",
        "Søren Kjær",
        "李雷",
        "Нина",
        "דנה",
        "Dana (Acme)",
        "Dana | Acme Sales (Host)",
        "O'Brien",
    ],
)
def test_a_name_is_an_owner(name):
    assert owner(name, "Priya") == name


@pytest.mark.parametrize(
    "label",
    [
        None,
        " ",
        "Speaker 1",
        "SPEAKER_00",
        "spk_1",
        "Unknown Speaker",
        "Agent",
        "Customer",
        "Me",
        "Them",
        "human",
        "Host",
        "mturk_agent_1",
        "Project Manager",
        "doctor",
        "A",
        "1",
        "+1 555 0100",
        "Conference Room",
        "Conference Room (Dana)",
        "Sprecher A",
        "说话人",
        "Audio shared by Dana Reyes",
        "Dana's Presentation",
        "Meeting Notetaker",
        "😀",
    ],
)
def test_a_generic_label_is_nobody(label):
    assert owner(label, "Priya") is None


def test_one_label_for_the_whole_call_is_nobody():
    assert owner("Dana") is None
    assert owner("Dana", None) is None


@pytest.mark.parametrize("device", ["Audio shared by Dana", "Fireflies.ai Notetaker Dana", "Dana\u2019s Presentation"])
def test_a_device_beside_one_label_tells_nobody_apart(device):
    assert owner("Dana", device) is None
    assert owner("Dana", device, "Priya") == "Dana"
