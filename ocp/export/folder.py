"""The folder of an exported solver: what is written, and where."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

import numpy as np

from ... import native
from ...errors import ProblemError, said
from ...native import core
from ...native.compiler.cross import target_named
from ...whole_file import path_of, whole_folder
from ..control.controller import UNDER_WAY
from ..control.loop import LoopParts
from ..control.ports import control_ports, parameter_ports, state_ports
from ..solve.native_backend import NativeBackend
from . import tables
from .taken import LONGEST, taken

if TYPE_CHECKING:
    from ..solve.solver import Solver

# Of the core's sources, what an exported solver is made of.
SOURCES = ("bodies", "control", "interior_point", "kernels", "ocp", "riccati")
Given = tuple[np.ndarray, np.ndarray, np.ndarray]  # z, shared parameters, parameters of the stages


def export(
    solver: Solver, parts: LoopParts, given: Given | None, folder: str | Path, name: str | None, target: str
) -> Path:
    """What `Solver.export` and `Controller.export` do. given: numbers to begin with, NaN where one has to be set;
    without them all parameters have to be, and the guess is what `solve` starts from.
    """
    backend, processor = solver.backend, target_named(target)
    assert isinstance(backend, NativeBackend)
    path = path_of(folder, "export", ProblemError)
    name = path.resolve().name if name is None else name
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) or len(name) > LONGEST:
        raise ProblemError(
            f"export: the name is {said(name)}, expected letters, digits and _, at most {LONGEST}; give another as "
            "name=..."
        )
    if taken(name):
        raise ProblemError(f"export: the name is '{name}', which compilers know already; give another as name=...")
    if path.resolve() == Path.cwd():
        raise ProblemError(f"export: '{path}' is where this program is at work, expected another folder")
    if os.path.lexists(path) and (not path.is_dir() or any(path.iterdir())):
        raise ProblemError(f"export: '{path}' is there already, expected a new folder or an empty one")
    code = tables.ObjectFiles(processor, name)
    z, shared, stage = given = _begin(solver) if given is None else given
    words = _Words(solver, parts, given, name, target)
    ports = words.ports.items()
    source = {
        "structure": _lines(tables.structure(backend, code)),
        "limits": _lines(tables.limits(parts, code)),
        "loop": _lines(tables.assignments("l", parts.loop)),
        "ports": _lines(line for word, port in ports for line in _named(word, port)),
        "lower": tables.literal(parts.lower),
        "upper": tables.literal(parts.upper),
        "size_z": str(parts.size_z),
        "z": tables.literal(z),
        "shared": tables.literal(shared),
        "stage": tables.literal(stage),
        "declarations": code.declarations(),
        "cycle": words.filled("cycle.cpp.in") if parts.loop.measured else "",
    }
    objects = "\n".join(f"            stages/{made.symbol}.o" for made in code.made)
    flags = "".join(f" {flag}" for flag in processor.flags)
    with whole_folder(path) as unfinished:
        (unfinished / "stages").mkdir()
        for made in code.made:
            (unfinished / "stages" / f"{made.symbol}.o").write_bytes(made.content)
        for template, file, more in (
            ("name.h.in", f"{name}.h", {"cycle": words.filled("cycle.h.in") if parts.loop.measured else ""}),
            ("name.cpp.in", f"{name}.cpp", source),
            ("main.c.in", "main.c", {}),
            ("CMakeLists.txt.in", "CMakeLists.txt", {"objects": objects, "flags": flags}),
            ("README.md.in", "README.md", {}),
        ):
            (unfinished / file).write_text(words.filled(template, **more), encoding="utf-8")
        for part in SOURCES:
            shutil.copytree(Path(native.__file__).parent / "src" / part, unfinished / "core" / part)
    return path


def _begin(solver: Solver) -> Given:
    """The guess of a solve without one; parameters that are not numbers yet."""
    layout = solver.layout
    stage = np.full(layout.size_stage, np.nan)
    solver.inputs.put_defaults(stage)
    z = solver.inputs.guess(None, stage)
    z[solver.transcription.fixed_z] = np.nan
    return z, np.full(layout.size_shared, np.nan), stage


def _lines(statements: Iterable[str]) -> str:
    return "\n".join("    " + line for line in statements)


def _named(word: str, port: core.Port) -> Iterable[str]:
    yield f"names.emplace_back();  // {word}"
    yield from tables.assignments("names.back()", port)


class _Words:
    """What the interface calls things."""

    def __init__(self, solver: Solver, parts: LoopParts, given: Given, name: str, target: str):
        self.name, self.parts, self.given, layout = name, parts, given, solver.layout
        self.ports: dict[str, core.Port] = {}
        self.kinds: dict[str, str] = {}
        of_parameters = iter(parameter_ports(layout))
        for place in layout.phases:
            phase = f"{place.name}_" if len(layout.phases) > 1 else ""
            states = state_ports(layout, place, slice(0, None))
            for kind, ports in (
                ("state", states),
                ("control", control_ports(layout, place)),
                ("parameter", [next(of_parameters) for _ in place.parameters]),
            ):
                for port in ports:
                    word = self._own(phase + port.name)
                    self.ports[word], self.kinds[word] = port, kind
        first = layout.phases[0]
        steps = sum(place.steps for place in layout.phases)
        self.always = {
            "name": name,
            "NAME": name.upper(),
            "version": version("trisweep"),
            "target": target,
            "summary": f"an optimal-control problem of {steps} steps",
            "names": "\n".join(f"    {self._constant(word)}, /* {self._described(word)} */" for word in self.ports),
            "sizes": ",\n".join(f"    {key} = {value}" for key, value in self._sizes(first.nu)),
            "statuses": ",\n".join(f"    {self._constant(word)} = {i}" for i, word in enumerate(_statuses())),
            "words": ", ".join(f'"{word}"' for word in _statuses()),
            "measured": ", ".join(port.name for port in parts.loop.measured),
            "controls": ", ".join(v.name for v in first.controls),
            "set": "\n".join(
                line for word, kind in self.kinds.items() if kind == "parameter" for line in self._set(word)
            ),
            "use": self._use(),
        }

    def filled(self, template: str, **more: str) -> str:
        text = (files(__package__) / "templates" / template).read_text()
        return Template(text).substitute({**self.always, **more})

    def _own(self, name: str) -> str:
        """A word of C, and no other's."""
        word = re.sub(r"\W", "_", name, flags=re.ASCII)
        taken = {"NAMES", "MEASURED", "COMMAND", "REFUSED", "H", *map(_upper, _statuses())}
        taken.update(each for port in self.ports for each in _constants(port))
        while not taken.isdisjoint(_constants(word)):
            word += "_"
        return word

    def _constant(self, word: str) -> str:
        return f"{self.name.upper()}_{word if word in self.ports else _upper(word)}"

    def _described(self, word: str) -> str:
        port = self.ports[word]
        return f"{self.kinds[word]}, {port.rows} x {port.size}"

    def _sizes(self, nu: int) -> Iterable[tuple[str, int]]:
        for word, port in self.ports.items():
            yield from zip(_constants(self._constant(word))[1:], (port.rows, port.size))
        if self.parts.loop.measured:
            yield f"{self.name.upper()}_MEASURED", sum(port.size for port in self.parts.loop.measured)
            yield f"{self.name.upper()}_COMMAND", nu

    def _values(self, port: core.Port) -> np.ndarray:
        """What the numbers to begin with have for a port."""
        found = np.zeros(len(port.z))
        for vector, places in zip(self.given, (port.z, port.shared, port.stage)):
            there = np.array(places, dtype=int) >= 0
            found[there] = vector[np.array(places, dtype=int)[there]]
        return found

    def _set(self, word: str) -> Iterable[str]:
        constant = self._constant(word)
        if np.isfinite(self._values(self.ports[word])).all():
            yield f"    /* {self.name}_set(solver, {constant}, ...): until then as it was exported */"
            return
        yield f"    const double {word}_values[{constant}_ROWS * {constant}_SIZE] = {{0}};"
        yield f"    {self.name}_set(solver, {constant}, {word}_values);"

    def _use(self) -> str:
        name, NAME = self.name, self.name.upper()
        if not self.parts.loop.measured:
            return f"    status = {name}_solve(solver, 0);"
        first = np.concatenate([self._values(port) for port in self.parts.loop.measured])
        values = tables.literal(np.nan_to_num(first))
        return "\n".join(
            [
                f"    double measured[{NAME}_MEASURED] = {values}, command[{NAME}_COMMAND];",
                "    for (int cycle = 0; cycle < 10; ++cycle) {",
                f"        {name}_prepare(solver);",
                f"        status = {name}_feedback(solver, measured, command);",
                "    }",
            ]
        )


def _constants(word: str) -> tuple[str, str, str]:
    """What the header calls a variable and its sizes."""
    return word, f"{word}_ROWS", f"{word}_SIZE"


def _statuses() -> list[str]:
    """The words of the core's statuses in their order, then that of a cycle."""
    return [*(status.replace("_", " ") for status in native.core.Status.__members__), UNDER_WAY]


def _upper(word: str) -> str:
    return word.replace(" ", "_").upper()
