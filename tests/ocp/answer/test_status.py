"""A status is said in one place: the core's words, the documentation and the files follow it."""

from pathlib import Path

import pytest
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
