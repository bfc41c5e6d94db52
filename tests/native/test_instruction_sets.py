"""The choice of instruction set."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from trisweep import native
from trisweep.native import level_table
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
    runs = native.core.processor_levels()
    assert set(native.levels) <= set(runs) and runs == [name for name in LEVELS if name in runs]


def test_the_build_takes_levels_and_flags_from_the_table():
    table, build = Path(level_table.__file__), Path(__file__).parents[2] / "native" / "CMakeLists.txt"
    assert f'"${{CMAKE_CURRENT_SOURCE_DIR}}/{table.name}"' in build.read_text()
    lines = subprocess.run(
        [sys.executable, "-S", table], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert [line.split() for line in lines] == [[name, *level.flags] for name, level in LEVELS.items()]
