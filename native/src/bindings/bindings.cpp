// The seam between Python and the core: one extension module per instruction set, `_core_<level>`.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind.hpp"
#include "kernels/forks.hpp"
#include "kernels/peak.hpp"
#include "kernels/processor.hpp"

namespace trisweep {
void bind_paths(nb::module_& m);
}

NB_MODULE(TRISWEEP_CORE, m) {
    nb::set_leak_warnings(false);  // a script may end while a daemon thread is still solving
    m.def("processor_levels", &trisweep::processor_levels,
          "Instruction-set levels that this processor runs, slowest first.");
    m.def("fma_peak", &trisweep::fma_peak, nb::arg("repetitions") = 20, nb::call_guard<trisweep::Unlocked>(),
          "Sustained rate of independent fused multiply-adds of one core, in floating-point operations a second.");
    m.def("hold_at_fork", &trisweep::HeldAtFork::hold, nb::arg("addresses"),
          "From now on every fork takes these locks, std::mutex objects in this order, and frees them in both "
          "processes.");
    nb::module_ kernels = m.def_submodule("kernels", "The small dense kernels, one by one, for tests.");
    trisweep::bind_kernels(kernels);
    trisweep::bind_calls(m);
    trisweep::bind_bodies(m);
    trisweep::bind_riccati(m);
    trisweep::bind_paths(m);
    trisweep::bind_solver(m);
    trisweep::bind_batch(m);
    trisweep::bind_control(m);
}
