"""An exported controller beside the same in Python: the iiwa's tracking of `bench/control.py`, cycle by cycle.

    python bench/exported.py [cycles [folder]]

Both are given the same targets and measured states, and time their own cycles. Needs cmake and a C++ compiler. What was
built in a folder is used again: so the build need not be part of a quiet run.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import trisweep as ts
from control import HORIZON, STEP, circle, tracking
from support.machine import describe
from trisweep.native import level

CYCLES = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include "tracking.h"

int main(int argc, char** argv) {
    const int cycles = argc > 1 ? atoi(argv[1]) : 0;
    static double target[TRACKING_target_ROWS * TRACKING_target_SIZE], measured[TRACKING_MEASURED];
    double command[TRACKING_COMMAND], row[2];
    FILE *in = fopen(argv[2], "rb"), *out = fopen(argv[3], "wb");
    tracking* it = tracking_create();
    for (int i = 0; i < cycles; ++i) {
        if (fread(target, sizeof target, 1, in) != 1 || fread(measured, sizeof measured, 1, in) != 1) return 1;
        tracking_set(it, TRACKING_target, target);
        tracking_prepare(it);
        tracking_feedback(it, measured, command);
        row[0] = tracking_last(it).prepare_seconds, row[1] = tracking_last(it).seconds;
        fwrite(command, sizeof command, 1, out), fwrite(row, sizeof row, 1, out);
    }
    tracking_destroy(it);
    return fclose(out);
}
"""


def rows(arm: ts.Model) -> np.ndarray:
    """Of every cycle: targets (stages, 3), then the measured state; a slow motion about a pose, and noise."""
    rng, pose = np.random.default_rng(0), np.array([0.2, 0.5, 0.0, -1.3, 0.0, 1.2, 0.0])
    found = []
    for k in range(CYCLES):
        state = np.r_[pose + 0.1 * np.sin(0.02 * k), np.full(arm.nv, 0.1 * np.cos(0.02 * k))]
        targets = circle(STEP * (k + np.arange(HORIZON + 1)))
        found.append(np.r_[targets.ravel(), state + 1e-4 * rng.standard_normal(len(state))])
    return np.array(found)


def main() -> None:
    print(describe("casadi", "llvmlite"))
    arm = ts.robot("iiwa14")
    controller = tracking(arm).controller(guess={"q": np.array([0.2, 0.5, 0.0, -1.3, 0.0, 1.2, 0.0])})
    given, commands = rows(arm), []
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(sys.argv[2] if len(sys.argv) > 2 else parent) / "tracking"
        if not folder.exists():
            controller.export(folder)
            (folder / "main.c").write_text(PROGRAM)
            subprocess.run(["cmake", "-B", folder / "build", folder], check=True, capture_output=True)
            subprocess.run(["cmake", "--build", folder / "build"], check=True, capture_output=True)
        given.tofile(folder / "rows")
        files = [folder / "rows", folder / "found"]
        subprocess.run([folder / "build" / "tracking_example", str(CYCLES), *files], check=True)
        found = np.fromfile(folder / "found").reshape(CYCLES, -1)
    for row in given:
        controller.prepare(target=row[: -2 * arm.nv].reshape(-1, 3))
        commands.append(controller.feedback(q=row[-2 * arm.nv : -arm.nv], v=row[-arm.nv :]).tau)
    same = np.array_equal(found[:, :-2], np.array(commands))
    print(f"instruction set: {level}; {CYCLES} cycles; the same bits: {same}\n")
    print(f"{'microseconds, at the median':30}{'prepare':>10}{'feedback':>10}")
    history = controller.history
    for name, times in (("exported", found[:, -2:]), ("Python", np.column_stack([history.prepare, history.feedback]))):
        print(f"{name:30}" + "".join(f"{1e6 * np.median(column):10.1f}" for column in times[1:].T))


if __name__ == "__main__":
    main()
