// What the bindings share: array types, and the way between NumPy's plain memory and the core's padded one.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <initializer_list>
#include <stdexcept>
#include <string>

namespace nb = nanobind;

namespace trisweep {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Array = nb::ndarray<nb::numpy, double>;

// A new NumPy array of zeros, and its memory.
inline Array new_array(std::initializer_list<std::size_t> shape, double*& memory) {
    std::size_t size = 1;
    for (std::size_t length : shape) size *= length;
    memory = new double[size ? size : 1]();
    nb::capsule owner(memory, [](void* p) noexcept { delete[] static_cast<double*>(p); });
    return Array(memory, shape.size(), shape.begin(), owner);
}

inline void expect(bool condition, const std::string& sentence) {
    if (!condition) throw std::invalid_argument(sentence);
}

void bind_kernels(nb::module_& m);
void bind_riccati(nb::module_& m);
void bind_solver(nb::module_& m);
void bind_batch(nb::module_& m);

}  // namespace trisweep
