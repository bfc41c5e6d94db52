"""SX functions for tests of the compiler: every operation alone, and random ones of any length."""

import casadi as ca
import numpy as np
import pytest


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    """Tests that import this fixture compile everything anew."""
    monkeypatch.setenv("TRISWEEP_CACHE", "off")


def every_operation() -> dict[str, ca.Function]:
    """A function of x and y for every operation of SX, found by asking CasADi about each of its codes."""
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    functions = {}
    for name in sorted(name for name in dir(ca) if name.startswith("OP_")):
        expression = ca.SX.binary(getattr(ca, name), x, y)
        if not expression.is_zero():  # zero stands for an operation of MX only
            functions[name] = ca.Function(name, [x, y], [expression])
    for exponent in (-101, -3, -0.5, 0.5, 1.5, 3, 9, 101):  # CasADi turns some into products
        functions[f"OP_CONSTPOW {exponent}"] = ca.Function("constpow", [x, y], [x**exponent])
    return functions


# Operations with arguments and results of size 1 and slopes of at most a few, so that rounding errors
# do not grow on the way through a long random function and every result can be asked for to 1e-12.
TAME = [
    lambda x, y: (x + y) / 2,
    lambda x, y: (x - y) / 2,
    lambda x, y: x * y / 2,
    lambda x, y: (x * y + x) / 4,
    lambda x, y: x - x * y / 2,
    lambda x, y: x * y / 2 - y / 2,
    lambda x, y: x / (1.5 + y * y),
    lambda x, y: 1 / (1 + x * x),
    lambda x, y: -x,
    lambda x, y: (x + x) / 3,
    lambda x, y: x**3 / 8,
    lambda x, y: (1 + x * x) ** (y / 4),
    lambda x, y: (1.5 + x * x) ** -1.7,
    lambda x, y: ca.exp(-x * x),
    lambda x, y: ca.log(1 + x * x),
    lambda x, y: ca.sqrt(1 + x * x) - 1,
    lambda x, y: ca.sin(2 * x) + ca.cos(2 * x) / 2,
    lambda x, y: ca.cos(x + y),
    lambda x, y: ca.tan(x / 3),
    lambda x, y: ca.asin(x / 3),
    lambda x, y: ca.acos(x / 3) - 1.5,
    lambda x, y: ca.atan(x),
    lambda x, y: ca.atan2(x, y + 3),
    lambda x, y: ca.if_else(x < y, x, y / 2),
    lambda x, y: ca.if_else(ca.logic_and(x <= 0.3, ca.logic_not(y)), x, -y),
    lambda x, y: ca.logic_or(x > 0.1, y > 0.2) * x,
    lambda x, y: (x == y) + x / 2,
    lambda x, y: (x != y) - x / 2,
    lambda x, y: ca.floor(1.9 * x + 0.13) / 4,
    lambda x, y: ca.ceil(1.9 * x + 0.13) / 4,
    lambda x, y: ca.fmod(3 * x, 1.1 + y * y),
    lambda x, y: ca.remainder(3 * x, 1.1 + y * y),
    lambda x, y: ca.fabs(x) - 1,
    lambda x, y: ca.sign(x) * y,
    lambda x, y: ca.copysign(x, y),
    lambda x, y: ca.fmin(x, y),
    lambda x, y: ca.fmax(x, y),
    lambda x, y: ca.erf(x),
    lambda x, y: ca.erfinv(x / 8),  # beyond 0.3, CasADi is right to 6 digits only
    lambda x, y: ca.sinh(x) / 4,
    lambda x, y: ca.cosh(x) / 4,
    lambda x, y: ca.tanh(x),
    lambda x, y: ca.asinh(x),
    lambda x, y: ca.acosh(1.5 + x * x) - 1,
    lambda x, y: ca.atanh(x / 3),
    lambda x, y: ca.log1p(x * x / 2),
    lambda x, y: ca.expm1(-x * x),
    lambda x, y: ca.hypot(x, y) / 2,
]


def random_function(random: np.random.Generator, instructions: int) -> ca.Function:
    """A function of three inputs (a vector, a sparse matrix, a number) with about so many instructions."""
    vector, matrix, number = ca.SX.sym("v", 5), ca.SX.sym("m", ca.Sparsity.lower(3)), ca.SX.sym("n")
    values = [*ca.vertsplit(vector), *matrix.nonzeros(), number, ca.SX(0.7), ca.SX(-1.2)]
    first = len(values)
    while 4 * (len(values) - first) < instructions:
        # Old values as well as new ones: some live long, and most are used more than once.
        window = values if random.random() < 0.2 else values[-30:]
        x, y = (window[i] for i in random.integers(len(window), size=2))
        z = TAME[random.integers(len(TAME))](x, y)
        values.append(ca.SX(z))
    chosen = [values[i] for i in random.integers(len(values), size=min(len(values), 12))]
    mean = sum(values[first:]) / (len(values) - first)
    dense = ca.vertcat(mean, *chosen[:3], vector[0])
    sparse = ca.SX(ca.Sparsity.upper(3), ca.vertcat(*chosen[3:9]))
    return ca.Function("random", [vector, matrix, number], [dense, sparse, ca.SX(1, 2)])


def samples(random: np.random.Generator, function: ca.Function, count: int) -> list[np.ndarray]:
    """Inputs of size 1 for `batch`: (count, nonzeros) each."""
    return [random.uniform(-1.5, 1.5, size=(count, function.nnz_in(i))) for i in range(function.n_in())]


def by_casadi(function: ca.Function, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """What CasADi's own evaluation makes of rows of nonzeros, as rows of nonzeros."""
    count = max(len(x) for x in inputs)
    results = [np.empty((count, function.nnz_out(i))) for i in range(function.n_out())]
    for s in range(count):
        arguments = [ca.DM(function.sparsity_in(i), x[s % len(x)]) for i, x in enumerate(inputs)]
        for row, value in zip(results, function.call(arguments)):
            row[s] = ca.DM(value).nonzeros()
    return results


def assert_agree(ours: np.ndarray, casadis: np.ndarray, tolerance: float = 1e-12) -> None:
    """Equal to the tolerance, relative to the number itself or to 1, the size of what it comes from."""
    assert ours.shape == casadis.shape
    np.testing.assert_array_equal(np.isnan(ours), np.isnan(casadis))
    finite = np.isfinite(casadis)
    np.testing.assert_array_equal(ours[~finite & ~np.isnan(casadis)], casadis[~finite & ~np.isnan(casadis)])
    error = np.abs(ours - casadis)[finite] / np.maximum(np.abs(casadis[finite]), 1.0)
    assert error.max(initial=0.0) <= tolerance
