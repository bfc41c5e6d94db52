"""A compiled function as an object of Python: called on one sample, on a batch, or by its address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

from ..instruction_sets import core
from .engine import LoadedCode
from .llvm_ir.driver import ENTRY


class Sizes(NamedTuple):
    """Doubles in one row of each input and output (their nonzeros), and in the work memory of a call."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    work: int


class Source(NamedTuple):
    """What was compiled: a function as CasADi writes it down, and what was asked for."""

    function: str
    lanes: int | None
    optimize: str


class Ports(NamedTuple):
    """The inputs and outputs of a function."""

    inputs: list[Sparsity]
    outputs: list[Sparsity]


def ports_of(function: ca.Function) -> Ports:
    """Those of a CasADi function."""
    inputs = [Sparsity(function.sparsity_in(i), function.name_in(i)) for i in range(function.n_in())]
    return Ports(inputs, [Sparsity(function.sparsity_out(i), function.name_out(i)) for i in range(function.n_out())])


class CompiledFunction:
    """Machine code of an SX function.

    `address` is the entry point for callers in C or C++, with the convention written down in `driver`;
    `lanes` is how many samples it computes at a time; `sizes` are the row and work lengths it expects. The
    code lives as long as this object. Calls from several threads are safe, and release Python's lock.
    """

    def __init__(self, name: str, ports: Ports, lanes: int, work_size: int, code: LoadedCode, source: Source) -> None:
        self.name = name
        self.lanes = lanes
        self.ports, self.code, self.source = ports, code, source
        self._inputs, self._outputs = ports
        self.sizes = Sizes(tuple(s.nonzeros for s in self._inputs), tuple(s.nonzeros for s in self._outputs), work_size)
        self.address = code.address(ENTRY)
        self._evaluate = self._array_call([(size, 1) for size in self.sizes.outputs])
        plain = all(s.places is None and s.shape[1] == 1 for s in self._inputs) and bool(self._inputs)
        dense = all(s.places is None for s in self._outputs)
        self._one = self._array_call([s.shape for s in self._outputs]) if plain and dense else None

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(f"{s.name}[{s.nonzeros}]" for s in side) for side in (self._inputs, self._outputs))
        return f"CompiledFunction {self.name}: ({inputs}) -> ({outputs}), {self.lanes} lanes"

    def __call__(self, *inputs: np.ndarray) -> np.ndarray | tuple[np.ndarray, ...]:
        """Evaluate one sample.

        Each input is an array of its CasADi shape (a vector may be flat, a number stands for an array full of
        it). Each output is a dense array (rows, columns), flat if it is a column; one output comes bare,
        several as a tuple.
        """
        if self._one is not None and (found := self._one(None, *inputs)) is not None:
            return found
        self._check_number(inputs)
        rows = [sparsity.to_row(self.name, x) for sparsity, x in zip(self._inputs, inputs)]
        results = self._run(rows, 1)
        dense = tuple(sparsity.to_dense(row[0]) for sparsity, row in zip(self._outputs, results))
        return dense[0] if len(dense) == 1 else dense

    def batch(self, *inputs: np.ndarray) -> np.ndarray | tuple[np.ndarray, ...]:
        """Evaluate many samples.

        Each input is (count, n) with its n nonzeros in CasADi's order (column after column); one with a
        single row is the same for all samples. Each output is (count, m); one output comes bare, several as a
        tuple.
        """
        self._check_number(inputs)
        rows = [sparsity.to_rows(self.name, x) for sparsity, x in zip(self._inputs, inputs)]
        count = 1
        for sparsity, x in zip(self._inputs, rows):
            if len(x) != 1 and count not in (1, len(x)):
                raise ValueError(
                    f"function '{self.name}': input '{sparsity.name}' has {len(x)} rows, "
                    f"expected {count} like the inputs before it, or 1"
                )
            count = len(x) if len(x) != 1 else count
        results = self._run(rows, count)
        return results[0] if len(results) == 1 else results

    def iterate(self, count: int, *inputs: np.ndarray, carried: int) -> tuple[np.ndarray, ...]:
        """Evaluate `count` samples one after the other, the first `carried` outputs of each being the first inputs of
        the next; needs a function compiled with one lane.

        The carried inputs are rows (n,) to start from; the others (count, n), or (1, n) for all samples. The carried
        outputs are (count + 1, n), the start included, the others (count, m).
        """
        self._check_number(inputs)
        if self.lanes != 1:
            raise ValueError(f"function '{self.name}' has {self.lanes} lanes, expected 1 to carry a sample to the next")
        if self.sizes.inputs[:carried] != self.sizes.outputs[:carried]:
            raise ValueError(
                f"function '{self.name}': its first {carried} inputs have {self.sizes.inputs[:carried]} entries, "
                f"its outputs {self.sizes.outputs[:carried]}, expected the same"
            )
        starts = [sparsity.to_row(self.name, x) for sparsity, x in zip(self._inputs, inputs[:carried])]
        rest = [sparsity.to_rows(self.name, x) for sparsity, x in zip(self._inputs[carried:], inputs[carried:])]
        for sparsity, x in zip(self._inputs[carried:], rest):
            if len(x) not in (1, count):
                raise ValueError(
                    f"function '{self.name}': input '{sparsity.name}' has {len(x)} rows, expected {count} or 1"
                )
        paths = [np.concatenate([start, np.empty((count, start.shape[1]))]) for start in starts]
        others = [np.empty((count, size)) for size in self.sizes.outputs[carried:]]
        if count:
            strides = [path.shape[1] for path in paths] + [0 if len(x) == 1 else x.strides[0] // 8 for x in rest]
            self._evaluate_rows([*paths, *rest], strides, [*(path[1:] for path in paths), *others], count)
        return *paths, *others

    def _array_call(self, shapes: list[tuple[int, int]]) -> core.ArrayCall:
        return core.ArrayCall(core.CompiledCode(self.address, self.sizes.work), self.sizes.inputs, shapes)

    def _check_number(self, inputs: Sequence[np.ndarray]) -> None:
        if len(inputs) != len(self._inputs):
            raise ValueError(f"function '{self.name}': got {len(inputs)} inputs, expected {len(self._inputs)}")

    def _run(self, rows: list[np.ndarray], count: int) -> tuple[np.ndarray, ...]:
        results = tuple([np.empty((count, size)) for size in self.sizes.outputs])
        self._evaluate_rows(rows, [0 if len(x) == 1 else x.strides[0] // 8 for x in rows], results, count)
        return results

    def _evaluate_rows(
        self, rows: Sequence[np.ndarray], strides: Sequence[int], results: Sequence[np.ndarray], count: int
    ) -> None:
        self._evaluate.rows([_address(x) for x in rows], strides, [_address(y) for y in results], count)


def _address(x: np.ndarray) -> int:
    return x.__array_interface__["data"][0]


class Sparsity:
    """Shape and nonzeros of one input or output, and the ways between dense arrays and rows of nonzeros."""

    def __init__(self, sparsity: ca.Sparsity, name: str) -> None:
        self.name = name
        self.shape = sparsity.shape
        self.nonzeros = sparsity.nnz()
        self.places = None if sparsity.is_dense() else np.array(sparsity.find(), dtype=int)

    def to_row(self, function: str, x: np.ndarray) -> np.ndarray:
        x = np.asarray(x, dtype=float)
        if x.ndim == 0:
            return np.full((1, self.nonzeros), x)
        flat_vector = x.ndim == 1 and 1 in self.shape and x.size == self.shape[0] * self.shape[1]
        if not flat_vector and x.shape != self.shape:
            raise ValueError(f"function '{function}': input '{self.name}' has shape {x.shape}, expected {self.shape}")
        columns = x.ravel(order="F")
        return np.ascontiguousarray(columns if self.places is None else columns[self.places]).reshape(1, -1)

    def to_rows(self, function: str, x: np.ndarray) -> np.ndarray:
        x = np.asarray(x, dtype=float)
        if x.ndim != 2 or x.shape[1] != self.nonzeros:
            raise ValueError(
                f"function '{function}': input '{self.name}' has shape {x.shape}, expected (count, {self.nonzeros})"
            )
        rows_are_contiguous = x.strides[1] == 8 and x.strides[0] >= 8 * x.shape[1] and x.strides[0] % 8 == 0
        return x if rows_are_contiguous else np.ascontiguousarray(x)

    def to_dense(self, row: np.ndarray) -> np.ndarray:
        if self.places is None:
            columns = row
        else:
            columns = np.zeros(self.shape[0] * self.shape[1])
            columns[self.places] = row
        return columns if self.shape[1] == 1 else columns.reshape(self.shape, order="F")
