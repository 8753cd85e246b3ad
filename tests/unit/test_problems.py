"""Problems of an input: enough of them are kept, and all are counted."""

from pipeline.errors import Problem, Problems


def test_the_first_hundred_are_kept_and_the_rest_is_counted():
    problems = Problems()
    assert not problems
    for number in range(1, 1_252):
        problems.add(Problem(f"calls.csv:{number}", "wrong"))
    found = problems.error().problems
    assert [problem.place for problem in found[:100]] == [f"calls.csv:{number}" for number in range(1, 101)]
    assert [str(problem) for problem in found[100:]] == ["request: and 1,151 more problems: mend these first"]


def test_where_there_are_few_nothing_is_counted():
    problems = Problems()
    problems.add(Problem("a", "wrong"))
    assert problems
    assert problems.error().problems == (Problem("a", "wrong"),)
