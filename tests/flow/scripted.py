"""Made-up calls, and the steps of a script by which the scripted summarizer treats them."""

from pipeline.domain.documents import DocumentInput


def call(name, *lines, account="acme", **fields):
    """One document: each line is a turn of Ann's."""
    turns = tuple({"speaker": "Ann", "text": line} for line in lines or (f"This is the call {name} of ours.",))
    return DocumentInput.model_validate({"document_id": name, "account_id": account, "turns": turns, **fields})


def calls(number, **fields):
    return [call(f"call-{n:03}", **fields) for n in range(number)]


def follow_up(text, quote):
    """An action as the scripted summarizer gives it."""
    return {"kind": "follow_up", "text": text, "owner": "Ann", "quotes": [{"quote": quote}]}


def until(name):
    """What a step waits for: the signal that `crew.give` gives, a file in the folder where the workers run."""
    return {"until": f"signals/{name}"}


def succeed(*actions, summary="A scripted summary.", seconds=0.0, **fields):
    """A step of the script."""
    return {
        **fields,
        "do": "succeed",
        "seconds": seconds,
        "output": {"summary": summary, "actions": actions, "model": "scripted"},
    }
