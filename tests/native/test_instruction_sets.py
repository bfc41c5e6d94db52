"""The choice of instruction set."""

import os
import subprocess
import sys

import pytest
from trisweep import native
from trisweep.native.level_table import LEVELS


def import_with_level(level):
    return subprocess.run(
        [sys.executable, "-c", "import trisweep.native as n; print(n.level)"],
        env={**os.environ, "TRISWEEP_LEVEL": level},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("level", native.levels)
def test_every_level_of_this_processor_can_be_forced(level):
    run = import_with_level(level)
    assert run.stdout.strip() == level, run.stderr


def test_an_unknown_level_is_answered_with_those_there_are():
    run = import_with_level("mmx")
    assert run.returncode != 0
    assert "TRISWEEP_LEVEL is 'mmx', but this processor runs baseline" in run.stderr


def test_the_core_is_built_for_the_levels_that_are_named():
    assert set(native.levels) <= set(LEVELS) and native.core.processor_levels() == [
        name for name in LEVELS if name in native.core.processor_levels()
    ]
