// Machine code called with NumPy arrays at the cost of the code itself: shapes, numbers and units are checked here, arrays are
// read and made by NumPy's own interface, and whatever is not plain (lists, other types, a refusal that wants a sentence) is left
// to Python.
#include "bind.hpp"
#include "kernels/compiled.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace trisweep {
namespace {

using Shape = std::pair<Py_ssize_t, Py_ssize_t>;  // of a matrix, or (first, length) of a part of a row

// A NumPy array of doubles, its strides counted in doubles. Whoever holds a reference to the array may use it.
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
};

// A number without its sign that has the largest exponent reaches the sign's place when one is added to that.
bool all_finite(const double* x, Py_ssize_t size) {
    constexpr std::uint64_t unsigned_bits = 0x7fffffffffffffffu, one = 0x0010000000000000u;
    std::uint64_t found = 0;
    for (Py_ssize_t i = 0; i < size; ++i) {
        std::uint64_t bits;
        std::memcpy(&bits, x + i, sizeof bits);
        found |= (bits & unsigned_bits) + one;
    }
    return !(found >> 63);
}

// What a caller demands of arguments and results beyond their shapes.
struct Demands {
    bool finite;               // of all numbers
    std::vector<Shape> units;  // parts of the first input that have norm 1
    double tolerance;          // of that

    bool met_by(const double* x, Py_ssize_t size, bool first) const {
        if (finite && !all_finite(x, size)) return false;
        if (first)
            for (const auto& [at, length] : units) {
                double square = 0;
                for (Py_ssize_t i = at; i < at + length; ++i) square += x[i] * x[i];
                if (!(std::abs(std::sqrt(square) - 1) <= tolerance)) return false;
            }
        return true;
    }
};

class ArrayCall {
public:
    ArrayCall(std::shared_ptr<Code> code, std::vector<Py_ssize_t> inputs, std::vector<Shape> outputs, bool batches,
              bool finite, std::vector<Shape> units, double tolerance)
        : code(std::move(code)),
          inputs(std::move(inputs)),
          outputs(std::move(outputs)),
          batches(batches),
          demands{finite, std::move(units), tolerance} {}

    ArrayCall(const ArrayCall&) = delete;
    ArrayCall& operator=(const ArrayCall&) = delete;

    // The results of (out, *arguments); of a subclass's `carefully`, or None, where this is a case for Python.
    static nb::object call(nb::handle self, nb::args given) {
        nb::object found = nb::cast<ArrayCall&>(self).straight(given);
        if (!found.is_none() || !nb::hasattr(self, "carefully")) return found;
        return self.attr("carefully")(*given);
    }

    nb::object straight(const nb::args& given) {
        const std::size_t n = inputs.size(), m = outputs.size();
        if (given.size() != n + 1) return nb::none();
        Table table(n, m);
        Doubles view;
        Py_ssize_t count = 1;
        bool batch = false;
        for (std::size_t i = 0; i < n; ++i) {
            if (!view.take(PyTuple_GET_ITEM(given.ptr(), Py_ssize_t(i) + 1), false)) return nb::none();
            if (view.dimensions < 1 || view.dimensions > (batches ? 2 : 1)) return nb::none();
            const int last = view.dimensions - 1;
            const Py_ssize_t size = view.shape[last], rows = last ? view.shape[0] : 1;
            if (size != inputs[i] || (size > 1 && view.stride(last) != 1)) return nb::none();
            if (rows != 1) {
                if (count != 1 && count != rows) return nb::none();
                if (rows == 0) return nb::none();
                count = rows;
            }
            batch |= last == 1;
            table.from[i] = view.data;
            table.from_strides[i] = rows == 1 ? 0 : view.stride(0);
            for (Py_ssize_t row = 0; row < rows; ++row)
                if (!demands.met_by(table.from[i] + row * table.from_strides[i], size, i == 0)) return nb::none();
        }
        nb::object results = new_results(given[0], batch, count);
        std::vector<Target> strided;
        for (std::size_t k = 0; k < m; ++k) {
            PyObject* result = m == 1 ? results.ptr() : PyTuple_GET_ITEM(results.ptr(), Py_ssize_t(k));
            Target target;
            if (!view.take(result, true) || !fits(view, outputs[k], batch, count, target)) return nb::none();
            if (!given[0].is_none() && overlaps(view, table, count)) return nb::none();
            table.to[k] = target.data;
            table.to_strides[k] = outputs[k].first * outputs[k].second;
            if (!target.plain) {
                target.number = k;
                target.own.reset(new double[std::size_t(count * table.to_strides[k]) + 1]);
                table.to[k] = target.own.get();
                strided.push_back(std::move(target));
            }
        }
        run(table, count);
        if (demands.finite)
            for (std::size_t k = 0; k < m; ++k)
                if (!all_finite(table.to[k], count * table.to_strides[k])) return nb::none();
        for (const Target& target : strided) target.fill(outputs[target.number], count);
        return results;
    }

    // Rows with strides of the caller's own, `count` samples; the caller answers for shapes and for memory.
    void rows(const std::vector<std::uintptr_t>& from, const std::vector<std::int64_t>& from_strides,
              const std::vector<std::uintptr_t>& to, std::int64_t count) {
        Table table(inputs.size(), outputs.size());
        expect(from.size() == inputs.size() && from_strides.size() == inputs.size() && to.size() == outputs.size(),
               "rows: another number of inputs or outputs");
        for (std::size_t i = 0; i < from.size(); ++i) {
            table.from[i] = reinterpret_cast<const double*>(from[i]);
            table.from_strides[i] = from_strides[i];
        }
        for (std::size_t k = 0; k < to.size(); ++k) {
            table.to[k] = reinterpret_cast<double*>(to[k]);
            table.to_strides[k] = outputs[k].first * outputs[k].second;
        }
        run(table, count);
    }

private:
    // Batches of more samples than this give Python's lock away.
    static constexpr Py_ssize_t SHORT = 32;

    struct Table {
        Table(std::size_t n, std::size_t m)
            : memory(2 * (n + m)),
              from(reinterpret_cast<const double**>(memory.data())),
              to(reinterpret_cast<double**>(memory.data() + n)),
              from_strides(memory.data() + n + m),
              to_strides(from_strides + n) {}
        std::vector<std::int64_t> memory;
        const double** from;
        double** to;
        std::int64_t *from_strides, *to_strides;
    };

    // Where a result goes: its entries (sample, row, column) and their strides.
    struct Target {
        double* data;
        Py_ssize_t strides[3];
        bool plain;  // sample after sample, column after column
        std::size_t number = 0;
        std::unique_ptr<double[]> own;

        void fill(const Shape& shape, Py_ssize_t count) const {
            const double* next = own.get();
            for (Py_ssize_t sample = 0; sample < count; ++sample)
                for (Py_ssize_t j = 0; j < shape.second; ++j)
                    for (Py_ssize_t i = 0; i < shape.first; ++i)
                        data[sample * strides[0] + i * strides[1] + j * strides[2]] = *next++;
        }
    };

    static bool fits(const Doubles& view, const Shape& shape, bool batch, Py_ssize_t count, Target& target) {
        const bool column = shape.second == 1;
        int axis = 0;
        if (view.dimensions != int(batch) + (column ? 1 : 2)) return false;
        const auto stride = [&](Py_ssize_t length) {
            return view.shape[axis] == length ? view.stride(axis++) : PY_SSIZE_T_MIN;
        };
        target.data = view.data;
        target.strides[0] = batch ? stride(count) : 0;
        target.strides[1] = stride(shape.first);
        target.strides[2] = column ? shape.first : stride(shape.second);
        for (Py_ssize_t each : target.strides)
            if (each == PY_SSIZE_T_MIN) return false;
        target.plain = (shape.first <= 1 || target.strides[1] == 1) &&
                       (shape.second <= 1 || target.strides[2] == shape.first) &&
                       (count <= 1 || target.strides[0] == shape.first * shape.second);
        return true;
    }

    // True if an output's memory may be an input's.
    bool overlaps(const Doubles& view, const Table& table, Py_ssize_t count) const {
        const auto bounds = [&](const double*& low, const double*& high) {
            low = high = view.data;
            for (int axis = 0; axis < view.dimensions; ++axis) {
                const Py_ssize_t reach = (view.shape[axis] - 1) * view.stride(axis);
                (reach < 0 ? low : high) += reach;
            }
        };
        const double *low, *high;
        bounds(low, high);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const std::int64_t reach = (count - 1) * table.from_strides[i];
            const double* first = table.from[i] + std::min<std::int64_t>(reach, 0);
            const double* end = table.from[i] + std::max<std::int64_t>(reach, 0) + inputs[i];
            if (first <= high && low < end) return true;
        }
        return false;
    }

    // The caller's arrays, or new ones: an array, or a tuple of several.
    nb::object new_results(nb::handle out, bool batch, Py_ssize_t count) {
        const std::size_t m = outputs.size();
        if (!out.is_none()) {
            if (m == 1) return nb::borrow(out);
            nb::object several = nb::steal(PySequence_Tuple(out.ptr()));
            if (!several.is_valid()) nb::raise_python_error();
            return nb::len(several) == m ? several : nb::object(nb::make_tuple());
        }
        if (m == 1) return new_result(outputs[0], batch, count);
        nb::object several = nb::steal(PyTuple_New(Py_ssize_t(m)));
        for (std::size_t k = 0; k < m; ++k)
            PyTuple_SET_ITEM(several.ptr(), Py_ssize_t(k), new_result(outputs[k], batch, count).release().ptr());
        return several;
    }

    static nb::object new_result(const Shape& shape, bool batch, Py_ssize_t count) {
        if (!batch) return new_array({shape.first, shape.second}, shape.second == 1 ? 1 : 2, NPY_ARRAY_F_CONTIGUOUS);
        if (shape.second == 1) return new_array({count, shape.first}, 2, 0);
        return new_array({count, shape.second, shape.first}, 3, 0).attr("transpose")(0, 2, 1);
    }

    static nb::object new_array(std::initializer_list<npy_intp> shape, int dimensions, int flags) {
        nb::object made = nb::steal(PyArray_New(&PyArray_Type, dimensions, const_cast<npy_intp*>(shape.begin()),
                                                NPY_DOUBLE, nullptr, nullptr, 0, flags, nullptr));
        if (!made.is_valid()) nb::raise_python_error();
        return made;
    }

    void run(Table& table, Py_ssize_t count) {
        std::unique_ptr<Code::Memory> memory;
        if (idle.empty())
            memory = code->memory();
        else
            memory = std::move(idle.back()), idle.pop_back();
        const auto go = [&] {
            code->evaluate(table.from, table.from_strides, table.to, table.to_strides, count, *memory);
        };
        if (count > SHORT) {
            Unlocked unlocked;
            go();
        } else {
            go();
        }
        idle.push_back(std::move(memory));
    }

    std::shared_ptr<Code> code;
    std::vector<Py_ssize_t> inputs;
    std::vector<Shape> outputs;
    bool batches;  // arguments of two dimensions are rows, a sample each
    Demands demands;
    std::vector<std::unique_ptr<Code::Memory>> idle;  // Python's lock guards it
};

}  // namespace

void bind_calls(nb::module_& m) {
    if (_import_array() < 0) nb::raise_python_error();
    nb::class_<Code>(m, "Code", "Code that takes rows of numbers; see native/src/kernels/compiled.hpp.");
    nb::class_<CompiledCode, Code>(m, "CompiledCode", "Compiled code, by its address.")
        .def("__init__", [](CompiledCode* self, std::uintptr_t address, std::size_t work) {
            new (self) CompiledCode(reinterpret_cast<Evaluate>(address), work);
        });
    nb::class_<ArrayCall>(m, "ArrayCall", "Code called with NumPy arrays: (out, *arguments) -> results.")
        .def(nb::init<std::shared_ptr<Code>, std::vector<Py_ssize_t>, std::vector<Shape>, bool, bool,
                      std::vector<Shape>, double>(),
             nb::arg("code"), nb::arg("inputs"), nb::arg("outputs"), nb::arg("batches") = false,
             nb::arg("finite") = false, nb::arg("units") = std::vector<Shape>(), nb::arg("tolerance") = 0.0)
        .def("__call__", &ArrayCall::call)
        .def("straight", [](ArrayCall& self, nb::args given) { return self.straight(given); })
        .def("rows", &ArrayCall::rows);
}

}  // namespace trisweep
