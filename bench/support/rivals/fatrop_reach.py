"""The iiwa's reach by FATROP, driven through its C interface (`fatrop_driver.c`).

It is the one built for the processor where `TRISWEEP_RIVALS` names its folder, else that of the casadi wheel; never
both in a process, as they bring different libraries of the same name.

The route that serves FATROP best: its functions of the whole horizon are Trisweep's machine code, four or
eight stages at a time, with Jacobian and Hessian apart as FATROP asks for them; nothing of Python or of CasADi's
virtual machine has a part in a solve. The statement is written here anew, from the robot's dynamics on.
"""

import ctypes
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import casadi as ca
import numpy as np
from trisweep.adjoint import expand, solved
from trisweep.dynamics import weld
from trisweep.native import compile_function
from trisweep.problems.robot import robot
from trisweep.problems.tasks.iiwa_reach import END_EFFECTOR, GOAL, START, TORQUE_LIMIT, VELOCITY_LIMIT

from .tuned_hpipm import folder

STEPS, STEP, GOAL_WEIGHT = 50, 0.05, 10.0
FUNCTIONS = ("cost", "gradient", "next", "jacobian", "hessian", "end_cost", "end_gradient", "end_hessian")
DOUBLES = ctypes.POINTER(ctypes.c_double)


class Function(ctypes.Structure):
    _fields_ = (("evaluate", ctypes.c_void_p), ("work", DOUBLES))


class Reach(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int) for name in ("steps", "nu", "nx", "goals")),
        *((name, DOUBLES) for name in ("start", "goal", "lower", "upper", "guess")),
        *((name, Function) for name in FUNCTIONS),
        ("buffer", DOUBLES),
    )


CLOCKS = (
    "search_direction", "dual_infeasibility", "hessian", "jacobian", "violation", "gradient", "objective",
    "initialization", "total",
)  # fmt: skip


class Statistics(ctypes.Structure):
    """FATROP's own: seconds and counts."""

    _fields_ = (
        *((name, ctypes.c_double) for name in CLOCKS),
        *((f"{name}_count", ctypes.c_int) for name in ("hessian", "jacobian", "violation", "gradient", "objective")),
        ("iterations", ctypes.c_int),
        ("flag", ctypes.c_int),
    )

    @property
    def functions(self) -> float:
        return self.hessian + self.jacobian + self.violation + self.gradient + self.objective


@cache
def driver() -> ctypes.CDLL | None:
    """The driver, compiled; None where there is no C compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    library, source = Path(mkdtemp()) / "driver.so", Path(__file__).parent / "fatrop_driver.c"
    place, wheel = folder(), Path(ca.__file__).parent
    include, libraries = (place / "inst/include", place / "inst/lib") if place else (wheel / "include", wheel)
    link = ["-L", libraries, "-lfatrop", "-lblasfeo", f"-Wl,--disable-new-dtags,-rpath,{libraries}"]
    size = [f"-DMATRIX_BYTES={matrix_bytes(include, link)}"] if place else []
    options = ["-O3", "-shared", "-fPIC", "-I", include, *size]
    subprocess.run([compiler, *options, source, "-o", library, *link], check=True)
    found = ctypes.CDLL(str(library))
    found.solve_reach.argtypes = (
        ctypes.POINTER(Reach), ctypes.c_double, ctypes.c_int, DOUBLES, ctypes.POINTER(Statistics)
    )  # fmt: skip
    return found


def matrix_bytes(include: Path, link: list) -> int:
    """The size of FATROP's matrices, of which its C interface hands over arrays."""
    text = "#include <cstdio>\n#include <fatrop/linear_algebra/matrix.hpp>\n"
    text += 'int main() { std::printf("%zu", sizeof(fatrop::MatRealAllocated)); }'
    program = Path(mkdtemp()) / "size"
    command = ["c++", "-std=c++17", "-I", include, "-x", "c++", "-", "-o", program, *link]
    subprocess.run(command, input=text, text=True, check=True)
    return int(subprocess.run([program], capture_output=True, check=True).stdout)


def stage_functions(
    constrained: bool, plain: bool, hessian: str, torque_weight: float, velocity_weight: float
) -> dict[str, ca.Function]:
    """What the driver asks for. plain: CasADi differentiates through the dynamics' solver."""
    arm = robot("iiwa14")
    q, v, tau = (ca.SX.sym(name, 7) for name in ("q", "v", "tau"))
    weight, end_weight, lam = ca.SX.sym("weight"), ca.SX.sym("weight"), ca.SX.sym("lam", 14)
    a = arm.forward_dynamics(q, v, tau, [weld(END_EFFECTOR)])[0] if constrained else arm.forward_dynamics(q, v, tau)
    x, z = ca.vertcat(q, v), ca.vertcat(tau, q, v)
    cost = torque_weight * ca.sumsqr(tau) + velocity_weight * ca.sumsqr(v)
    following = ca.vertcat(q + STEP * v, v + STEP * (solved(a) if plain else a))
    end = velocity_weight * ca.sumsqr(v) + (GOAL_WEIGHT * ca.sumsqr(q - np.array(GOAL)) if constrained else 0)
    kind = "exact" if hessian == "exact" else "gauss-newton"
    step = expand(z, ca.vertcat(cost, following), ca.vertcat(weight, lam), kind)
    slope = expand(z, following)
    made = {
        "cost": ([tau, x], cost),
        "gradient": ([tau, x], ca.gradient(cost, z)),
        "next": ([tau, x], slope.values),
        "jacobian": ([tau, x], slope.jacobian.T),
        "hessian": ([tau, x, weight, lam], step.hessian),
        "end_cost": ([x], end),
        "end_gradient": ([x], ca.gradient(end, x)),
        "end_hessian": ([x, end_weight], ca.hessian(end_weight * end, x)[0]),
    }
    return {name: ca.Function(name, inputs, [ca.densify(output)]) for name, (inputs, output) in made.items()}


class FatropReach:
    """A reach that is ready to be solved; `solve` gives the point along all stages and FATROP's statistics."""

    def __init__(
        self,
        constrained: bool = False,
        plain: bool = False,
        hessian: str = "exact",
        torque_weight: float = 1e-3,
        velocity_weight: float = 1e-2,
    ):
        arm, zero = robot("iiwa14"), np.zeros(7)
        functions = stage_functions(constrained, plain, hessian, torque_weight, velocity_weight)
        self.compiled = {name: compile_function(function) for name, function in functions.items()}
        limits = np.concatenate([TORQUE_LIMIT, arm.q_upper, VELOCITY_LIMIT])
        lowest = np.concatenate([-np.array(TORQUE_LIMIT), arm.q_lower, -np.array(VELOCITY_LIMIT)])
        guess = np.concatenate([np.tile(np.concatenate([zero, START, zero]), STEPS), START, zero])
        self.size = len(guess)
        self.arrays = {
            "start": np.concatenate([START, zero]), "goal": np.array(GOAL), "lower": lowest, "upper": limits,
            "guess": guess, "buffer": np.empty(STEPS * 21 * 21),
            **{name: np.empty(function.sizes.work) for name, function in self.compiled.items()},
        }  # fmt: skip
        self.reach = Reach(steps=STEPS, nu=7, nx=14, goals=0 if constrained else 7)
        for name, array in self.arrays.items():
            memory = array.ctypes.data_as(DOUBLES)
            value = Function(self.compiled[name].address, memory) if name in self.compiled else memory
            setattr(self.reach, name, value)

    def solve(self, tolerance: float = 1e-8, iterations: int = 1000) -> tuple[np.ndarray, Statistics]:
        """A solve from rest at the start; statistics.flag is 0 where FATROP says that it succeeded."""
        z, statistics = np.empty(self.size), Statistics()
        out = z.ctypes.data_as(DOUBLES)
        driver().solve_reach(self.reach, tolerance, iterations, out, statistics)
        return z, statistics

    def objective(self, z: np.ndarray) -> float:
        """The cost of all stages."""
        steps = z[: STEPS * 21].reshape(STEPS, 21)
        end = self.compiled["end_cost"].batch(z[None, STEPS * 21 :])
        return float(np.sum(self.compiled["cost"].batch(steps[:, :7], steps[:, 7:])) + np.sum(end))
