// Machine code called with NumPy arrays at the cost of the code itself: shapes, numbers and units are checked here, arrays are
// read in place by the buffer protocol, and whatever is not plain (lists, other types, a refusal that wants a sentence) is left
// to Python.
#include "bind.hpp"
#include "kernels/compiled.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace trisweep {
namespace {

using Shape = std::pair<Py_ssize_t, Py_ssize_t>;  // of a matrix, or (first, length) of a part of a row

// Memory of Python's objects, held while this lives.
class Buffers {
public:
    explicit Buffers(std::size_t most) { views.reserve(most); }
    ~Buffers() {
        for (Py_buffer& view : views) PyBuffer_Release(&view);
    }
    Buffers(const Buffers&) = delete;
    Buffers& operator=(const Buffers&) = delete;

    // The doubles of an object, or null if it has none; valid until the next one if there are more than `most`.
    const Py_buffer* doubles(PyObject* object, bool to_write) {
        views.emplace_back();
        if (PyObject_GetBuffer(object, &views.back(), to_write ? PyBUF_RECORDS : PyBUF_RECORDS_RO)) {
            PyErr_Clear();
            views.pop_back();
            return nullptr;
        }
        const Py_buffer& view = views.back();
        if (!view.format || std::strcmp(view.format, "d") != 0) return nullptr;
        for (int axis = 0; axis < view.ndim; ++axis)
            if (view.strides[axis] % Py_ssize_t(sizeof(double))) return nullptr;
        return &view;
    }

private:
    std::vector<Py_buffer> views;
};

bool all_finite(const double* x, Py_ssize_t size) {
    constexpr std::uint64_t exponent = 0x7ff0000000000000u;
    std::uint64_t found = 0;
    for (Py_ssize_t i = 0; i < size; ++i) {
        std::uint64_t bits;
        std::memcpy(&bits, x + i, sizeof bits);
        found |= std::uint64_t((bits & exponent) == exponent);
    }
    return !found;
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
    ArrayCall(std::uintptr_t address, std::size_t work, std::vector<Py_ssize_t> inputs, std::vector<Shape> outputs,
              bool batches, bool finite, std::vector<Shape> units, double tolerance)
        : evaluate(reinterpret_cast<Evaluate>(address)),
          work(work),
          inputs(std::move(inputs)),
          outputs(std::move(outputs)),
          batches(batches),
          demands{finite, std::move(units), tolerance},
          empty(nb::module_::import_("numpy").attr("empty")),
          columns_first(nb::str("F")),
          number(nb::module_::import_("numpy").attr("float64")) {}

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
        Buffers buffers(n + m);
        Table table(n, m);
        Py_ssize_t count = 1;
        bool batch = false;
        for (std::size_t i = 0; i < n; ++i) {
            const Py_buffer* view = buffers.doubles(PyTuple_GET_ITEM(given.ptr(), Py_ssize_t(i) + 1), false);
            if (!view || view->ndim < 1 || view->ndim > (batches ? 2 : 1)) return nb::none();
            const int last = view->ndim - 1;
            const Py_ssize_t size = view->shape[last], rows = last ? view->shape[0] : 1;
            if (size != inputs[i] || (size > 1 && view->strides[last] != sizeof(double))) return nb::none();
            if (rows != 1) {
                if (count != 1 && count != rows) return nb::none();
                if (rows == 0) return nb::none();
                count = rows;
            }
            batch |= last == 1;
            table.from[i] = static_cast<const double*>(view->buf);
            table.from_strides[i] = rows == 1 ? 0 : view->strides[0] / Py_ssize_t(sizeof(double));
            for (Py_ssize_t row = 0; row < rows; ++row)
                if (!demands.met_by(table.from[i] + row * table.from_strides[i], size, i == 0)) return nb::none();
        }
        nb::object results = new_results(given[0], batch, count);
        std::vector<Target> strided;
        for (std::size_t k = 0; k < m; ++k) {
            PyObject* result = m == 1 ? results.ptr() : PyTuple_GET_ITEM(results.ptr(), Py_ssize_t(k));
            const Py_buffer* view = buffers.doubles(result, true);
            Target target;
            if (!view || !fits(*view, outputs[k], batch, count, target)) return nb::none();
            if (overlaps(*view, table, count)) return nb::none();
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

    static bool fits(const Py_buffer& view, const Shape& shape, bool batch, Py_ssize_t count, Target& target) {
        const bool column = shape.second == 1;
        int axis = 0;
        if (view.ndim != int(batch) + (column ? 1 : 2)) return false;
        const auto stride = [&](Py_ssize_t length) {
            return view.shape[axis] == length ? view.strides[axis++] / Py_ssize_t(sizeof(double)) : PY_SSIZE_T_MIN;
        };
        target.data = static_cast<double*>(view.buf);
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
    bool overlaps(const Py_buffer& view, const Table& table, Py_ssize_t count) const {
        const auto bounds = [&](const double*& low, const double*& high) {
            low = high = static_cast<const double*>(view.buf);
            for (int axis = 0; axis < view.ndim; ++axis) {
                const Py_ssize_t reach = (view.shape[axis] - 1) * (view.strides[axis] / Py_ssize_t(sizeof(double)));
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

    nb::object new_result(const Shape& shape, bool batch, Py_ssize_t count) {
        if (batch && shape.second == 1) return empty(nb::make_tuple(count, shape.first));
        if (batch) return empty(nb::make_tuple(count, shape.second, shape.first)).attr("transpose")(0, 2, 1);
        if (shape.second == 1) return empty(shape.first);
        return empty(nb::make_tuple(shape.first, shape.second), number, columns_first);
    }

    void run(Table& table, Py_ssize_t count) {
        std::unique_ptr<double[]> memory;
        if (idle.empty())
            memory.reset(new double[work + 1]);
        else
            memory = std::move(idle.back()), idle.pop_back();
        const auto go = [&] {
            evaluate(table.from, table.from_strides, table.to, table.to_strides, count, memory.get());
        };
        if (count > SHORT) {
            Unlocked unlocked;
            go();
        } else {
            go();
        }
        idle.push_back(std::move(memory));
    }

    Evaluate evaluate;
    std::size_t work;
    std::vector<Py_ssize_t> inputs;
    std::vector<Shape> outputs;
    bool batches;  // arguments of two dimensions are rows, a sample each
    Demands demands;
    nb::object empty, columns_first, number;
    std::vector<std::unique_ptr<double[]>> idle;  // Python's lock guards it
};

}  // namespace

void bind_calls(nb::module_& m) {
    nb::class_<ArrayCall>(m, "ArrayCall", "Machine code called with NumPy arrays: (out, *arguments) -> results.")
        .def(nb::init<std::uintptr_t, std::size_t, std::vector<Py_ssize_t>, std::vector<Shape>, bool, bool,
                      std::vector<Shape>, double>(),
             nb::arg("address"), nb::arg("work"), nb::arg("inputs"), nb::arg("outputs"), nb::arg("batches") = false,
             nb::arg("finite") = false, nb::arg("units") = std::vector<Shape>(), nb::arg("tolerance") = 0.0)
        .def("__call__", &ArrayCall::call)
        .def("straight", [](ArrayCall& self, nb::args given) { return self.straight(given); })
        .def("rows", &ArrayCall::rows);
}

}  // namespace trisweep
