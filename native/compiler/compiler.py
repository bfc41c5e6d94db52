"""From a CasADi function to machine code in memory, by way of the cache, or of a pickle.

A compiled function pickles as its source and its object code. Where both come to a processor, a compiler and versions
of the same identity, the code is loaded as it is; elsewhere the source is compiled, or found in the cache there. Who
unpickles runs what the pickle says, object code or not: a pickle is to be trusted, or to be left alone.
"""

from __future__ import annotations

import copyreg
import hashlib
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path

import casadi as ca

from ...errors import CompileError
from ...forks import no_fork
from ..progress_bar import Progress
from .compiled_function import CompiledFunction, Ports, Source, ports_of
from .engine import CODE_GENERATION_LEVELS, Assembler, LoadedCode, host
from .llvm_ir.modules import lowered
from .object_cache import ObjectCache, default_folder
from .recording import expanded, record

LANES = (1, 2, 4, 8)


@no_fork()
def compile_function(
    function: ca.Function, *, lanes: int | None = None, optimize: str = "full", name: str | None = None
) -> CompiledFunction:
    """Compile a CasADi function of SX, or of MX that expands to SX.

    `lanes` is how many samples are computed at a time (1, 2, 4 or 8; by default what a vector register
    holds). `optimize="quick"` takes about half the time to build, and its code about a third more time to run.
    `name` stands in messages.

        f = compile_function(casadi.Function("f", [x], [casadi.sin(x)]))
        f.batch(np.linspace(0, 1, 50).reshape(50, 1))
    """
    asked, lanes = lanes, host().lanes if lanes is None else lanes
    if lanes not in LANES:
        raise CompileError(f"compile_function: lanes is {lanes!r}, expected one of {LANES}")
    if optimize not in CODE_GENERATION_LEVELS:
        raise CompileError(
            f"compile_function: optimize is {optimize!r}, expected one of {tuple(CODE_GENERATION_LEVELS)}"
        )
    function = expanded(function)
    name = function.name() if name is None else name
    on_disk = ObjectCache(default_folder())
    source = Source(_written(function), asked, optimize)
    key = hashlib.sha256(f"{source.function}\n{lanes} {optimize}\n{_identity()}".encode()).hexdigest()
    entry = on_disk.load(key)
    if entry is None:
        entry = _build(function, lanes, optimize, name)
        on_disk.save(key, *entry)
    work, objects = entry
    return CompiledFunction(name, ports_of(function), lanes, work, LoadedCode(objects), source)


def _departing(compiled: CompiledFunction) -> tuple[Callable[..., CompiledFunction], tuple[object, ...]]:
    code = compiled.lanes, compiled.sizes.work, compiled.code.objects
    return _arrived, (compiled.name, compiled.ports, compiled.source, _identity(), *code)


def _arrived(
    name: str, ports: Ports, source: Source, identity: str, lanes: int, work: int, objects: list[bytes]
) -> CompiledFunction:
    if identity == _identity():
        return CompiledFunction(name, ports, lanes, work, LoadedCode(objects), source)
    function = ca.Function.deserialize(source.function)
    return compile_function(function, lanes=source.lanes, optimize=source.optimize, name=name)


copyreg.pickle(CompiledFunction, _departing)


def _build(function: ca.Function, lanes: int, optimize: str, name: str) -> tuple[int, list[bytes]]:
    """Work size and object code: the driver, the functions of vectors, then piece after piece."""
    modules, assembler, objects = lowered(function, lanes, optimize, host()), Assembler(optimize), []
    with Progress(f"compiling {name}", modules.number) as progress:
        for text in modules.texts:
            objects.append(assembler.object_code(text))
            progress.advance()
    return modules.work, objects


def _written(function: ca.Function) -> str:
    """A function as CasADi writes it down."""
    try:
        return function.serialize()
    except RuntimeError:
        record(function)  # what CasADi cannot write down does not compile either, and this says why
        raise


@cache
def _identity() -> str:
    """All that object code depends on beside function and request: the processor, every version, and the hash of the
    compiler's source, so that a change of it needs no cleaning.
    """
    digest = hashlib.sha256(version("trisweep").encode())
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return f"{host().identity}\n{ca.CasadiMeta.version()}\n{digest.hexdigest()}"
