// What the bindings share: array types, and the way between NumPy's plain memory and the core's padded one.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <chrono>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <thread>

namespace nb = nanobind;

namespace trisweep {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Array = nb::ndarray<nb::numpy, double>;

// A tuple whose entries a checker of types knows.
template <class... Each>
using Tuple = nb::typed<nb::tuple, Each...>;

// A new NumPy array of zeros, and its memory.
inline Array new_array(std::initializer_list<std::size_t> shape, double*& memory) {
    std::size_t size = 1;
    for (std::size_t length : shape) size *= length;
    memory = new double[size ? size : 1]();
    nb::capsule owner(memory, [](void* p) noexcept { delete[] static_cast<double*>(p); });
    return Array(memory, shape.size(), shape.begin(), owner);
}

// Python's lock, given away for the life of this object or until it is taken back. Where the interpreter has ended meanwhile,
// as it may while a daemon thread works, there is no way back to it: that thread rests until the process is gone. (Python up
// to 3.13 would unwind it, which none of our frames and none of nanobind's can bear.)
class Unlocked {
public:
    Unlocked() { give(); }
    ~Unlocked() { take(); }
    Unlocked(const Unlocked&) = delete;
    Unlocked& operator=(const Unlocked&) = delete;

    void give() { thread = PyEval_SaveThread(); }

    void take() {
        try {
            PyEval_RestoreThread(thread);
        } catch (...) {
            for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
        }
    }

private:
    PyThreadState* thread;
};

inline void expect(bool condition, const std::string& sentence) {
    if (!condition) throw std::invalid_argument(sentence);
}

void bind_calls(nb::module_& m);
void bind_kernels(nb::module_& m);
void bind_bodies(nb::module_& m);
void bind_riccati(nb::module_& m);
void bind_solver(nb::module_& m);
void bind_batch(nb::module_& m);
void bind_control(nb::module_& m);

}  // namespace trisweep
