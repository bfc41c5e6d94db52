"""Exported solvers and controllers: they build without warnings, take memory once, and give Python's numbers."""

import re
import shutil
import subprocess

import casadi as ca
import numpy as np
import pytest
import trisweep as ts
from support.ocp_problems import gimbal_problem
from support.sanitizers import FLAGS as SANITIZERS
from support.sanitizers import environment
from trisweep.errors import CompileError, ProblemError
from trisweep.native.level_table import LEVELS

CMAKE, GCC, CLANG = (shutil.which(name) for name in ("cmake", "g++", "clang++"))
CROSS, EMULATOR = shutil.which("aarch64-linux-gnu-g++"), shutil.which("qemu-aarch64")
needs_cmake = pytest.mark.skipif(not (CMAKE and GCC), reason="needs cmake and g++")

# Reads rows of (parameters, measured state), runs a cold solve, a warm one and then cycles; writes what came out.
# Memory that is taken after `create` is counted.
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include "@name@.h"

static long taken;
#if defined(__GLIBC__) && !defined(UNCOUNTED)
extern void* __libc_malloc(size_t);
void* malloc(size_t size) { ++taken; return __libc_malloc(size); }
#endif

int main(int argc, char** argv) {
    static double rows[1000][@NAME@_@parameter@_SIZE + @NAME@_MEASURED], command[@NAME@_COMMAND];
    static double plan[@NAME@_@control@_ROWS * @NAME@_@control@_SIZE];
    if (argc != 3) return 2;
    FILE *in = fopen(argv[1], "rb"), *out = fopen(argv[2], "wb");
    static char buffer[1 << 16];
    setvbuf(out, buffer, _IOFBF, sizeof buffer); /* or the first write would take memory */
    const size_t count = fread(rows, sizeof rows[0], 1000, in);
    @name@* it = @name@_create();
    if (@name@_solve(it, 0) != @NAME@_REFUSED) return 3; /* nothing is set */
    const long before = taken;
    for (int warm = 0; warm < 2; ++warm) {
        @name@_set(it, @NAME@_@parameter@, rows[warm]);
        @name@_start(it, rows[warm] + @NAME@_@parameter@_SIZE);
        if (@name@_solve(it, warm) != @NAME@_SOLVED) return 4;
        @name@_result(it, @NAME@_@control@, plan);
        if (taken != before) return 5;
        fwrite(plan, sizeof plan, 1, out);
    }
    @name@_restart(it);
    const long loop = taken;
    static double commands[1000][@NAME@_COMMAND + 1];
    for (size_t i = 0; i < count; ++i) {
        @name@_set(it, @NAME@_@parameter@, rows[i]);
        if (@name@_prepare(it)) return 6;
        commands[i][@NAME@_COMMAND] = @name@_feedback(it, rows[i] + @NAME@_@parameter@_SIZE, command);
        for (int k = 0; k < @NAME@_COMMAND; ++k) commands[i][k] = command[k];
    }
    if (taken != loop) return 7;
    fwrite(commands, sizeof commands[0], count, out);
    rows[0][0] = 0.0 / (taken < 0);
    if (@name@_set(it, @NAME@_@parameter@, rows[0]) != @NAME@_REFUSED) return 8;
    @name@_destroy(it);
    return fclose(out);
}
"""


def swing():
    """A pendulum with soft and hard limits, and a limit that is a parameter."""
    ocp = ts.Problem(steps=20, step=0.05, integrator="rk4")
    angle, rate = ocp.state("angle"), ocp.state("rate", lower=-6.0, upper=6.0)
    given = ocp.parameter("given", 2)
    torque = ocp.control("torque", lower=-given[1], upper=given[1])
    ocp.derivative(angle=rate, rate=torque - 9.81 * ts.sin(angle) - 0.1 * rate)
    ocp.minimize((angle - given[0]) ** 2 + 0.05 * rate**2 + 0.01 * torque**2)
    ocp.minimize(10 * (angle - given[0]) ** 2 + rate**2, at="end")
    ocp.constrain("gentle", torque * rate, upper=4.0, soft=2.0)
    ocp.start("angle", "rate")
    rng = np.random.default_rng(5)
    rows, x = [], np.array([0.1, 0.0])
    for k in range(60):
        rows.append(np.r_[0.6 * np.sin(0.1 * k), 3.0 + (k % 7) / 10, x])
        x = np.array([0.5 * np.sin(0.1 * k), 0.4 * np.cos(0.1 * k)]) + 0.02 * rng.standard_normal(2)
        x += 0.8 * (k == 40)  # a jump
    return ocp.build(), dict(parameter="given", control="torque"), np.array(rows), {"angle": 0.1}


def turn():
    """A body on a ball joint with a wheel: a configuration, recentred."""
    model, ocp, q, v, tau = gimbal_problem(10)
    weight = ocp.parameter("weight", per_stage=False)
    R, _ = model.link_pose(q, "body")
    ocp.minimize(weight * (4 - ca.trace(R) - q[4]) + 0.05 * ca.sumsqr(v) + 0.01 * ca.sumsqr(tau))
    rng, rows, state = np.random.default_rng(6), [], np.r_[0.1, -0.1, 0.2, 1.0, 1.0, 0.3, np.zeros(model.nv)]
    for k in range(30):
        rows.append(np.r_[1.0 + 0.01 * k, state])
        state = state + 0.01 * rng.standard_normal(len(state))
    return ocp.build(), dict(parameter="weight", control="tau"), np.array(rows), {}


def python_numbers(solver, controller, words, rows):
    """What Python finds for the same rows: two solves, then cycles."""
    names, at = [v.name for v in solver.problem.started], len(solver.problem.parameters[0].symbol.nz)
    sizes = controller.measured_sizes
    cut = np.cumsum([at, *sizes.values()])
    states = [{n: row[a:b] for n, a, b in zip(sizes, cut, cut[1:])} for row in rows]
    assert names == list(sizes)
    given = [{words["parameter"]: row[:at]} for row in rows]
    first = solver.solve(start=states[0], **given[0], guess=controller.guess)
    second = solver.solve(start=states[1], **given[1], warm_start=first)
    assert first.solved and second.solved
    commands, kinds = [], []
    for state, parameters in zip(states, given):
        command = controller.step(state, **parameters)
        commands.append(getattr(command, words["control"]))
        kinds.append(command.status)
    return first[words["control"]], second[words["control"]], np.array(commands), kinds


def run(command, **more):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env=environment(), **more)
    assert done.returncode == 0, f"{command}\n{done.returncode}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
    return done.stdout + done.stderr


def program(folder, name, words):
    text = PROGRAM
    for key, value in {"name": name, "NAME": name.upper(), **words}.items():
        text = text.replace(f"@{key}@", value)
    (folder / "check.c").write_text(text)
    return folder / "check.c"


def exported_numbers(binary, folder, solver, words, rows, emulator=()):
    rows.astype(float).tofile(folder / "rows")
    run([*emulator, binary, folder / "rows", folder / "found"])
    found = np.fromfile(folder / "found")
    steps, size = solver.problem.steps, solver.problem.controls[0].size
    plans, commands = (
        found[: 2 * steps * size].reshape(2, steps, size),
        found[2 * steps * size :].reshape(len(rows), -1),
    )
    return *plans, commands[:, :-1], commands[:, -1].astype(int)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The pendulum's controller, built as its README says; warnings are errors."""
    solver, words, rows, guess = swing()
    controller = solver.controller(iterations=2, guess=guess)
    folder = controller.export(tmp_path_factory.mktemp("export") / "swing")
    listing = (folder / "CMakeLists.txt").read_text()
    source = program(folder, "swing", words)
    (folder / "CMakeLists.txt").write_text(
        listing.replace("-O3", " ".join(["-O3", *SANITIZERS]))
        + "add_executable(check check.c)\ntarget_link_libraries(check swing)\n"
    )
    strict = [f"-DCMAKE_{kind}_FLAGS={' '.join(['-Werror', *SANITIZERS])}" for kind in ("CXX", "C")]
    run([CMAKE, "-B", folder / "build", *strict, folder])
    run([CMAKE, "--build", folder / "build"])
    return folder, source, (solver, controller, words, rows)


@needs_cmake
def test_an_exported_controller_gives_the_bits_of_python(built):
    folder, _, (solver, controller, words, rows) = built
    expected = python_numbers(solver, controller, words, rows)
    found = exported_numbers(folder / "build" / "check", folder, solver, words, rows)
    for theirs, ours in zip(found[:3], expected[:3]):
        np.testing.assert_array_equal(theirs, ours)
    header = (folder / "swing.h").read_text()
    values = {int(v): w.replace("_", " ").lower() for w, v in re.findall(r"SWING_([A-Z_]+) = (\d+),?\n", header)
              if w not in ("MEASURED", "COMMAND") and not w.endswith(("ROWS", "SIZE"))}  # fmt: skip
    assert [values[code] for code in found[3]] == expected[3]
    assert {"under way", "solved"} <= set(expected[3])
    assert "iterations" in run([folder / "build" / "swing_example"])


@needs_cmake
def test_configurations_are_exported_too(built, tmp_path):
    core, _, _ = built
    solver, words, rows, guess = turn()
    controller = solver.controller()
    folder = solver.export(tmp_path / "turn")
    source = program(folder, "turn", words)
    flags = ["-O3", *SANITIZERS, "-ffp-contract=fast", "-fno-math-errno", *LEVELS[ts.native.level].flags]
    strict, headers = ["-Wall", "-Wextra", "-Wno-psabi", "-Werror"], [f"-I{folder / 'core'}", f"-I{folder}"]
    run([GCC, "-std=c++20", *flags, *strict, *headers, "-c", folder / "turn.cpp", "-o", folder / "turn.o"])
    run(["gcc", *SANITIZERS, "-Wall", "-Wextra", "-Werror", f"-I{folder}", "-c", source, "-o", folder / "check.o"])
    objects = sorted((folder / "stages").glob("*.o"))
    run(
        [
            GCC,
            *SANITIZERS,
            folder / "check.o",
            folder / "turn.o",
            *objects,
            core / "build" / "libswing.a",
            "-o",
            folder / "check",
        ]
    )
    expected = python_numbers(solver, controller, words, rows)
    found = exported_numbers(folder / "check", folder, solver, words, rows)
    for theirs, ours in zip(found[:3], expected[:3]):
        np.testing.assert_array_equal(theirs, ours)


@pytest.mark.skipif(not CLANG, reason="needs clang++")
def test_clang_finds_nothing_to_say(tmp_path):
    solver, words, _, guess = swing()
    folder = solver.controller(guess=guess).export(tmp_path / "swing")
    strict = ["-Wall", "-Wextra", "-Wno-psabi", "-Werror", "-fsyntax-only"]
    for source in (folder / "swing.cpp", *(folder / "core").rglob("*.cpp")):
        run([CLANG, "-std=c++20", *strict, f"-I{folder / 'core'}", f"-I{folder}", source])
    for source in (folder / "main.c", program(folder, "swing", words)):
        run(["clang", *strict, "-pedantic", f"-I{folder}", source])


@pytest.mark.skipif(not (CROSS and EMULATOR), reason="needs aarch64-linux-gnu-g++ and qemu-aarch64")
def test_code_for_another_machine_runs_on_it(tmp_path):
    solver, words, rows, guess = swing()
    controller = solver.controller(iterations=2, guess=guess)
    folder = controller.export(tmp_path / "swing", target="aarch64-linux-gnu")
    flags = ["-O1", "-static", "-DUNCOUNTED", "-Wall", "-Wextra", "-Werror", f"-I{folder / 'core'}", f"-I{folder}"]
    run([CROSS.replace("g++", "gcc"), "-c", program(folder, "swing", words), *flags, "-o", folder / "check.o"])
    sources = folder / "swing.cpp", *(folder / "core").rglob("*.cpp")
    objects = sorted((folder / "stages").glob("*.o"))
    run([CROSS, "-std=c++20", *flags, *sources, folder / "check.o", *objects, "-o", folder / "check"])
    expected = python_numbers(solver, controller, words, rows)
    found = exported_numbers(folder / "check", folder, solver, words, rows, (EMULATOR,))
    for theirs, ours, most in zip(found[:3], expected[:3], (1e-6, 1e-6, 1e-2)):
        np.testing.assert_allclose(theirs, ours, atol=most)


def test_what_is_refused(tmp_path):
    solver, *_ = swing()
    with pytest.raises(CompileError, match="target is 'pdp11', expected 'host', 'x86-64'"):
        solver.export(tmp_path / "swing", target="pdp11")
    with pytest.raises(ProblemError, match="the name is '2 swings', expected letters"):
        solver.export(tmp_path / "2 swings")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(ProblemError, match="is there already, expected a new folder"):
        solver.export(tmp_path / "full")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["full"]


def test_the_example_begins_with_what_a_controller_had(tmp_path):
    solver, words, rows, _ = turn()
    controller = solver.controller(guess={"q": rows[0][1:7]})
    example = (controller.export(tmp_path / "bare") / "main.c").read_text()
    assert "BARE_weight, weight_values" in example  # no value yet: a placeholder
    measured = np.array([float.fromhex(n) for n in re.search(r"measured.* = {(.*)}, command", example)[1].split(", ")])
    np.testing.assert_allclose(measured[:4], rows[0][1:5] / np.linalg.norm(rows[0][1:5]))
    controller.prepare(weight=2.0)
    example = (controller.export(tmp_path / "known") / "main.c").read_text()
    assert "weight_values" not in example


def test_names_that_are_no_words_of_c_get_one(tmp_path):
    ocp = ts.Problem(steps=3, step=0.1)
    x, u = ocp.state("θ"), ocp.control("SOLVED")
    ocp.next(θ=x + u)
    ocp.minimize(x**2 + u**2)
    ocp.start("θ")
    header = (ocp.build().export(tmp_path / "odd") / "odd.h").read_text()
    assert "ODD__," in header and "ODD_SOLVED_," in header
