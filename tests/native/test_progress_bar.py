"""The progress display: on a terminal, after two seconds, and nowhere else."""

import io
import sys

import pytest
from trisweep.native import progress_bar as progress
from trisweep.native.progress_bar import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def build(clock, seconds_per_part):
    with Progress("compiling arm", 10) as display:
        for _ in range(10):
            clock[0] += seconds_per_part
            display.advance()


def test_a_long_build_shows_its_progress_on_a_terminal(clock, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    build(clock, 1.0)
    assert "compiling arm" in terminal.getvalue()


def test_a_short_build_shows_nothing(clock, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    build(clock, 0.1)
    assert terminal.getvalue() == ""


def test_without_a_terminal_nothing_is_shown(clock, monkeypatch):
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    build(clock, 1.0)
    assert file.getvalue() == ""
