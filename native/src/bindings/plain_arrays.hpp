// NumPy arrays of doubles, read, written and made by NumPy's own interface.
#pragma once

#include "bind.hpp"

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>

#include <initializer_list>
#include <memory>
#include <utility>

namespace trisweep {

using Shape = std::pair<Py_ssize_t, Py_ssize_t>;  // of a matrix, or (first, length) of a part of a row

// An array's numbers, its strides counted in them. Whoever holds a reference to the array may use it.
struct Doubles {
    double* data = nullptr;
    int dimensions = 0;
    const npy_intp *shape = nullptr, *strides = nullptr;

    // False if the object is no plain array of doubles, or must be written and is not to be.
    bool take(PyObject* object, bool to_write) {
        if (!PyArray_CheckExact(object)) return false;
        auto* array = reinterpret_cast<PyArrayObject*>(object);
        if (PyArray_TYPE(array) != NPY_DOUBLE || (to_write ? !PyArray_ISBEHAVED(array) : !PyArray_ISBEHAVED_RO(array)))
            return false;
        data = static_cast<double*>(PyArray_DATA(array)), dimensions = PyArray_NDIM(array);
        shape = PyArray_DIMS(array), strides = PyArray_STRIDES(array);
        for (int axis = 0; axis < dimensions; ++axis)
            if (strides[axis] % npy_intp(sizeof(double))) return false;
        return true;
    }

    Py_ssize_t stride(int axis) const { return strides[axis] / Py_ssize_t(sizeof(double)); }

    // The first place of its memory, and the one after the last.
    std::pair<const double*, const double*> ends() const {
        const double *low = data, *high = data;
        for (int axis = 0; axis < dimensions; ++axis) {
            const Py_ssize_t reach = (shape[axis] - 1) * stride(axis);
            (reach < 0 ? low : high) += reach;
        }
        return {low, high + 1};
    }

    // True if some of its memory may lie from one place to before another.
    bool touches(const double* first, const double* end) const {
        const auto [low, high] = ends();
        return first < high && low < end;
    }
};

// Where a result goes: its entries (sample, row, column) and their strides.
struct Target {
    double* data;
    Py_ssize_t strides[3];
    bool plain;  // sample after sample, column after column
    std::size_t number = 0;
    std::unique_ptr<double[]> own;

    // False if the array has another shape.
    bool take(const Doubles& view, const Shape& shape, bool batch, Py_ssize_t count) {
        const bool column = shape.second == 1;
        int axis = 0;
        if (view.dimensions != int(batch) + (column ? 1 : 2)) return false;
        const auto stride = [&](Py_ssize_t length) {
            return view.shape[axis] == length ? view.stride(axis++) : PY_SSIZE_T_MIN;
        };
        data = view.data;
        strides[0] = batch ? stride(count) : 0;
        strides[1] = stride(shape.first);
        strides[2] = column ? shape.first : stride(shape.second);
        for (Py_ssize_t each : strides)
            if (each == PY_SSIZE_T_MIN) return false;
        plain = (shape.first <= 1 || strides[1] == 1) && (shape.second <= 1 || strides[2] == shape.first) &&
                (count <= 1 || strides[0] == shape.first * shape.second);
        return true;
    }

    // False if entries share memory, and do not hold what was put there.
    bool fill(const Shape& shape, Py_ssize_t count) const {
        const auto each = [&](auto&& visit) {
            const double* next = own.get();
            for (Py_ssize_t sample = 0; sample < count; ++sample)
                for (Py_ssize_t j = 0; j < shape.second; ++j)
                    for (Py_ssize_t i = 0; i < shape.first; ++i)
                        visit(data[sample * strides[0] + i * strides[1] + j * strides[2]], *next++);
        };
        bool same = true;
        each([](double& entry, double number) { entry = number; });
        each([&](double entry, double number) { same &= entry == number; });
        return same;
    }
};

inline nb::object plain_array(std::initializer_list<npy_intp> shape, int dimensions, int flags) {
    nb::object made = nb::steal(PyArray_New(&PyArray_Type, dimensions, const_cast<npy_intp*>(shape.begin()), NPY_DOUBLE,
                                            nullptr, nullptr, 0, flags, nullptr));
    if (!made.is_valid()) nb::raise_python_error();
    return made;
}

// True if there is one reference to an array, and nobody waits for its end.
inline bool is_mine_alone(nb::handle array) {
    const Py_ssize_t waiting = Py_TYPE(array.ptr())->tp_weaklistoffset;
    return Py_REFCNT(array.ptr()) == 1 &&
           !(waiting > 0 && *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(array.ptr()) + waiting));
}

inline nb::object new_tuple(std::size_t length) {
    nb::object made = nb::steal(PyTuple_New(Py_ssize_t(length)));
    if (!made.is_valid()) nb::raise_python_error();
    return made;
}

}  // namespace trisweep
