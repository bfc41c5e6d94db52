// The seam between Python and the core: one extension module per instruction set, `_core_<level>`.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "processor.hpp"

namespace nb = nanobind;

NB_MODULE(TRISWEEP_CORE, m) {
    m.def(
        "processor_levels",
        [] {
            std::vector<std::string> levels{"baseline"};
            if (trisweep::processor_runs_avx2()) levels.emplace_back("avx2");
            if (trisweep::processor_runs_avx512()) levels.emplace_back("avx512");
            return levels;
        },
        "Instruction-set levels that this processor runs, slowest first.");
}
