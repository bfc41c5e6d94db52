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


@pytest.mark.parametrize("error", [None, "closed", object()])
def test_without_a_standard_error_nothing_is_shown(clock, monkeypatch, error):
    """A service may have none, or a closed one: nothing could be built there."""
    file = io.StringIO()
    file.close()
    monkeypatch.setattr(sys, "stderr", file if error == "closed" else error)
    build(clock, 1.0)


def test_what_goes_on_inside_is_a_line_of_the_same_display(clock, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with Progress("building", 2) as outer:
        outer.begin("building stages 0 to 29")
        build(clock, 1.0)
        outer.advance()
    shown = terminal.getvalue()
    assert "building stages 0 to 29" in shown and "compiling arm" in shown
    assert Progress._display is None and not Progress._going_on


def test_an_interrupt_closes_the_display(clock, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.raises(KeyboardInterrupt), Progress("building", 2) as outer:
        clock[0] += 3.0
        outer.advance()
        raise KeyboardInterrupt
    assert Progress._display is None and not Progress._going_on
