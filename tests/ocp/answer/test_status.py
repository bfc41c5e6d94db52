"""A status is said in one place: the core's words, the documentation and the files follow it."""

from pathlib import Path

import numpy as np
import pytest
import trisweep as ts
from trisweep.native import core
from trisweep.ocp.answer.status import Status

DOCUMENTATION = Path(__file__).parents[3] / "docs" / "ocp.md"


def test_the_core_ends_with_the_same_words():
    assert {word.name.replace("_", " ") for word in core.Status} == {str(status) for status in Status}


@pytest.mark.parametrize("status", Status)
def test_every_status_has_a_sentence_an_advice_and_a_row_in_the_documentation(status):
    assert status == status.value == f"{status}" == str(status) and Status.named(status.value) is status
    assert status.sentence and bool(status.advice) == (status is not Status.SOLVED)
    assert f"| `{status}` | {status.sentence} | {status.advice} |" in DOCUMENTATION.read_text()


def test_another_word_is_refused():
    with pytest.raises(ValueError, match="status 'tired'"):
        Status.named("tired")


@pytest.mark.parametrize("hessian", ["exact", "gauss-newton", "no-dynamics"])
def test_who_ends_early_without_the_exact_hessian_hears_of_it(hessian):
    ocp = ts.Problem(steps=5, step=0.1)
    x, u = ocp.state("x"), ocp.control("u")
    ocp.derivative(x=ts.sin(x) + u)
    ocp.minimize(ts.sumsqr(u))
    ocp.constrain("start", x, equals=1, at="start")
    ocp.constrain("end", ts.sin(x), equals=np.sin(2.0), at="end")
    solution = ocp.build(hessian=hessian).solve(settings=ts.Settings(iterations=1))
    assert solution.status == "iteration limit"
    assert ("build with" in solution.advice) == (hessian != "exact") == (hessian in solution.advice)
