"""A worker's bench whose summarizer does what the test says, and the steps of a job driven by hand."""

from ledger_rows import submitted

from pipeline.domain.actions import ProposedAction, Quote
from pipeline.domain.results import Summary
from pipeline.errors import ItemFailure
from pipeline.stages.admit import admit
from pipeline.stages.bench import Bench
from pipeline.stages.keeper import Keeper
from pipeline.stages.leases import Leases
from pipeline.stages.process import process
from pipeline.stages.reduce import reduce
from pipeline.summarizers.port import Step, regenerated

SENTENCE = "We will send the offer on Monday."
OFFER = ProposedAction(kind="follow_up", text="Send the offer", owner="Ann", quotes=(Quote(quote=SENTENCE),))


class Answers:
    """A summarizer: an answer of one call is a Summary or the error code that it fails with."""

    name = "answers"

    def __init__(self, *answers):
        self.answers, self.requests = list(answers), []

    def summarize(self, request, attempt):
        def ask(_problem):
            with attempt.call(Step("summarize")):
                return self._answer(request)

        return regenerated(ask)

    def _answer(self, request):
        self.requests.append(request)
        answer = self.answers.pop(0) if self.answers else Summary(summary="An offer.", actions=(OFFER,))
        if isinstance(answer, str):
            raise ItemFailure(answer, "our own sentence")
        if isinstance(answer, BaseException):
            raise answer
        return answer


class Does:
    """A summarizer that does with its request and its attempt what the test says."""

    name = "does"

    def __init__(self, do):
        self.do = do

    def summarize(self, request, attempt):
        self.do(request, attempt)
        return Summary(summary="An offer.")


def bench_with(ledger, settings, summarizer):
    leases = Leases(ledger, settings.lease_seconds)
    return Bench(ledger, settings, leases, Keeper(ledger), lambda _: summarizer, "w")


def work_off(worker, released):
    """A lane: one document after the other, until it has nothing more to hand on. Returns what each came to."""
    done = []
    while released is not None:
        done.append(process(worker, released))
        released = done[-1].next
    return done


def completed_job(ledger, settings, worker, documents=2):
    """The id of a job whose documents all succeeded, merged and not yet frozen."""
    job_id = submitted(ledger, settings, documents, concurrency=1)
    work_off(worker, admit(ledger, job_id).released[0])
    reduce(ledger, job_id)
    return job_id
