"""The processor as LLVM sees it, modules to object code, and object code to addresses."""

import atexit
from dataclasses import dataclass
from functools import cache

import llvmlite
import llvmlite.binding as llvm

from ...forks import hold_at_fork
from .llvm_ir.vector_math import library_addresses

# LLVM's own levels. The IR is already in its final form, so no IR passes run: the level only steers code
# generation.
CODE_GENERATION_LEVELS = {"full": 1, "quick": 0}

# LLVM works for one thread at a time, behind llvmlite's lock, which what is freed takes as well. Who ends or forks the
# process waits until it is free, or the end, or the new process, would wait for ever.
_AT_WORK = llvm.ffi.lib._lock
atexit.register(_AT_WORK.__enter__)
hold_at_fork(_AT_WORK)


@dataclass(frozen=True)
class Processor:
    """What the compiler needs to know of the processor it compiles for."""

    triple: str
    name: str
    features: str
    lanes: int  # doubles in a vector register
    vector_registers: int
    fused: bool  # has fused multiply-add

    def registers_for(self, lanes: int) -> int:
        """Values of `lanes` doubles to keep in registers; two are left for operands on their way."""
        registers_per_value = -(-lanes // self.lanes)
        return max(self.vector_registers // registers_per_value - 2, 3)

    @property
    def identity(self) -> str:
        """Everything of the processor and of LLVM that object code depends on."""
        version = ".".join(map(str, llvm.llvm_version_info))
        return f"{self.triple} {self.name} {self.features} LLVM {version} llvmlite {llvmlite.__version__}"


@cache
def host() -> Processor:
    """The processor this process runs on."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for symbol, address in library_addresses().items():
        llvm.add_symbol(symbol, address)
    features = llvm.get_host_cpu_features()
    triple = llvm.get_process_triple()
    if triple.startswith(("aarch64", "arm64")):
        lanes, registers, fused = 2, 32, True
    elif features.get("avx512f") and features.get("avx512vl"):
        lanes, registers, fused = 8, 32, True
    elif features.get("avx"):
        lanes, registers, fused = 4, 16, bool(features.get("fma"))
    else:
        lanes, registers, fused = 2, 16, False
    return Processor(triple, llvm.get_host_cpu_name(), features.flatten(), lanes, registers, fused)


def _target_machine(level: str) -> llvm.TargetMachine:
    processor = host()
    target = llvm.Target.from_triple(processor.triple)
    return target.create_target_machine(
        cpu=processor.name,
        features=processor.features,
        opt=CODE_GENERATION_LEVELS[level],
        codemodel="jitdefault",
        jit=True,
    )


class Assembler:
    """Turns modules of LLVM IR into object code, at one level."""

    def __init__(self, level: str) -> None:
        self.machine = _target_machine(level)

    def object_code(self, module_text: str) -> bytes:
        # A context of its own, since the global one keeps every constant it has ever seen. Modules keep it, and it goes
        # after them, wherever a signal's handler raises.
        module = llvm.parse_assembly(module_text, llvm.create_context())
        try:
            module.triple = host().triple
            return self.machine.emit_object(module)
        finally:
            module.close()


class LoadedCode:
    """Object code in executable memory, which is freed with this object."""

    def __init__(self, objects: list[bytes]) -> None:
        self.objects = objects
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target_machine("full"))
        for code in objects:
            self._engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(code))
        self._engine.finalize_object()

    def address(self, symbol: str) -> int:
        return self._engine.get_function_address(symbol)
