// Machine code called with NumPy arrays at the cost of the code itself: shapes, numbers and units are checked here, arrays are
// read and made by NumPy's own interface, and whatever is not plain (lists, other types, a refusal that wants a sentence) is left
// to Python.
#include "bind.hpp"
#include "kernels/compiled.hpp"
#include "plain_arrays.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <new>
#include <tuple>
#include <utility>
#include <vector>

namespace trisweep {
namespace {

using Limit = std::tuple<std::size_t, Py_ssize_t, double>;  // an output, an entry of it, and the most it may be

// What a caller demands of arguments and results beyond their shapes.
struct Demands {
    bool finite;                // of all numbers
    std::vector<Shape> units;   // parts of the first input that have norm 1
    double tolerance;           // of that
    std::vector<Limit> limits;  // of results

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
    // groups: of the results, in their order, 0 an array and k a tuple of k; outputs beyond those are not handed out. None:
    // an array, or a tuple of all. fixed: what the last inputs always are.
    ArrayCall(std::shared_ptr<Code> code, std::vector<Py_ssize_t> inputs, std::vector<Shape> outputs, bool batches,
              bool finite, std::vector<Shape> units, double tolerance, std::vector<Py_ssize_t> groups,
              std::vector<Limit> limits, std::vector<std::vector<double>> fixed)
        : code(std::move(code)),
          inputs(std::move(inputs)),
          outputs(std::move(outputs)),
          groups(std::move(groups)),
          fixed(std::move(fixed)),
          batches(batches),
          demands{finite, std::move(units), tolerance, std::move(limits)},
          shown(this->groups.empty() ? this->outputs.size() : 0) {
        for (Py_ssize_t k : this->groups) shown += std::size_t(std::max<Py_ssize_t>(k, 1));
        expect(shown <= this->outputs.size(), "ArrayCall: more results than outputs");
        expect(this->fixed.size() <= this->inputs.size(), "ArrayCall: more fixed inputs than inputs");
        for (std::size_t k = 0; k < this->fixed.size(); ++k)
            expect(Py_ssize_t(this->fixed[k].size()) == this->inputs[this->inputs.size() - this->fixed.size() + k],
                   "ArrayCall: a fixed input of another size");
        for (const auto& [output, entry, most] : demands.limits)
            expect(output < this->outputs.size() && entry >= 0 && entry < size(output),
                   "ArrayCall: a limit of no entry");
    }

    ArrayCall(const ArrayCall&) = delete;
    ArrayCall& operator=(const ArrayCall&) = delete;

    // The results of (out, *arguments); of a subclass's `carefully`, or None, where this is a case for Python.
    static PyObject* call(PyObject* self, PyObject* given, PyObject* words) noexcept {
        try {
            if (!nb::inst_ready(self) || (words && PyDict_GET_SIZE(words))) {
                PyErr_SetString(PyExc_TypeError, "ArrayCall takes (out, *arguments)");
                return nullptr;
            }
            nb::object found = nb::inst_ptr<ArrayCall>(self)->straight(given);
            if (found.is_none() && nb::hasattr(self, "carefully"))
                found = nb::steal(PyObject_Call(nb::getattr(self, "carefully").ptr(), given, nullptr));
            return found.release().ptr();
        } catch (nb::python_error& error) {
            error.restore();
        } catch (const std::bad_alloc&) {
            PyErr_NoMemory();
        } catch (const std::exception& error) {
            PyErr_SetString(PyExc_RuntimeError, error.what());
        }
        return nullptr;
    }

    // Rows with strides of the caller's own, `count` samples; the caller answers for shapes and for memory.
    void rows(const std::vector<std::uintptr_t>& from, const std::vector<std::int64_t>& from_strides,
              const std::vector<std::uintptr_t>& to, std::int64_t count) {
        expect(from.size() == inputs.size() && from_strides.size() == inputs.size() && to.size() == outputs.size(),
               "rows: another number of inputs or outputs");
        Lent lent(*this);
        Work& work = *lent.work;
        for (std::size_t i = 0; i < from.size(); ++i) {
            work.from[i] = reinterpret_cast<const double*>(from[i]);
            work.from_strides[i] = from_strides[i];
        }
        for (std::size_t k = 0; k < to.size(); ++k) work.to[k] = reinterpret_cast<double*>(to[k]);
        run(work, count);
    }

private:
    // Batches of more samples than this give Python's lock away.
    static constexpr Py_ssize_t SHORT = 32;
    // Sets of results that are remembered: whoever keeps the last one while the next is made needs two.
    static constexpr std::size_t RECENT = 3;

    // What a call under way works in.
    struct Work {
        Work(std::size_t n, std::size_t m, std::unique_ptr<Code::Memory> memory)
            : memory(std::move(memory)), from(n), to(m), from_strides(n), to_strides(m) {}
        std::unique_ptr<Code::Memory> memory;
        std::vector<const double*> from;
        std::vector<double*> to;
        std::vector<std::int64_t> from_strides, to_strides;
        std::vector<nb::object> results;
        std::vector<double> own;  // outputs that are not handed out
    };

    // Work that is idle, or new, for the life of this object.
    struct Lent {
        explicit Lent(ArrayCall& call) : call(call) {
            if (!call.idle.empty()) {
                work = std::move(call.idle.back()), call.idle.pop_back();
                return;
            }
            work = std::make_unique<Work>(call.inputs.size(), call.outputs.size(), call.code->memory());
            for (std::size_t k = 0; k < call.outputs.size(); ++k) work->to_strides[k] = call.size(k);
            call.idle.reserve(++call.made);  // so that to give it back cannot fail
        }
        ~Lent() {
            work->results.clear();
            call.idle.push_back(std::move(work));
        }
        Lent(const Lent&) = delete;
        Lent& operator=(const Lent&) = delete;

        ArrayCall& call;
        std::unique_ptr<Work> work;
    };

    Py_ssize_t size(std::size_t output) const { return outputs[output].first * outputs[output].second; }

    nb::object straight(PyObject* given) {
        const std::size_t n = inputs.size() - fixed.size();
        if (std::size_t(PyTuple_GET_SIZE(given)) != n + 1) return nb::none();
        Lent lent(*this);
        Work& work = *lent.work;
        Doubles view;
        Py_ssize_t count = 1;
        bool batch = false;
        for (std::size_t i = 0; i < n; ++i) {
            if (!view.take(PyTuple_GET_ITEM(given, Py_ssize_t(i) + 1), false)) return nb::none();
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
            work.from[i] = view.data;
            work.from_strides[i] = rows == 1 ? 0 : view.stride(0);
            for (Py_ssize_t row = 0; row < rows; ++row)
                if (!demands.met_by(work.from[i] + row * work.from_strides[i], size, i == 0)) return nb::none();
        }
        for (std::size_t i = 0; i < fixed.size(); ++i) {
            work.from[n + i] = fixed[i].data();
            work.from_strides[n + i] = 0;
        }
        nb::handle out = PyTuple_GET_ITEM(given, 0);
        if (out.is_none())
            make_results(work.results, batch, count);
        else if (!take_results(work.results, out))
            return nb::none();
        std::vector<Target> strided;
        for (std::size_t k = 0; k < shown; ++k) {
            Target target;
            if (!view.take(work.results[k].ptr(), true) || !target.take(view, outputs[k], batch, count))
                return nb::none();
            if (!out.is_none() && (overlaps(view, work, count) || meets_another(view, work.results, k)))
                return nb::none();
            work.to[k] = target.data;
            if (!target.plain) {
                target.number = k;
                target.own.reset(new double[std::size_t(count * size(k)) + 1]);
                work.to[k] = target.own.get();
                strided.push_back(std::move(target));
            }
        }
        if (shown < outputs.size()) keep_the_rest(work, count);
        run(work, count);
        if (demands.finite &&
            !code->finite(work.to.data(), work.to_strides.data(), outputs.size(), count, *work.memory))
            return nb::none();
        for (const auto& [output, entry, most] : demands.limits)
            for (Py_ssize_t sample = 0; sample < count; ++sample)
                if (!(work.to[output][sample * size(output) + entry] <= most)) return nb::none();
        for (const Target& target : strided)
            if (!target.fill(outputs[target.number], count)) return nb::none();
        return handed_out(work.results);
    }

    // Memory for the outputs that are not handed out.
    void keep_the_rest(Work& work, Py_ssize_t count) const {
        std::size_t total = 0;
        for (std::size_t k = shown; k < outputs.size(); ++k) total += std::size_t(count * size(k));
        work.own.resize(total + 1);
        double* next = work.own.data();
        for (std::size_t k = shown; k < outputs.size(); ++k) work.to[k] = next, next += count * size(k);
    }

    // The results in their groups.
    nb::object handed_out(std::vector<nb::object>& results) const {
        auto next = [from = results.begin()]() mutable { return (from++)->release().ptr(); };
        if (groups.empty() && shown == 1) return std::move(results[0]);
        nb::object all = new_tuple(groups.empty() ? shown : groups.size());
        if (groups.empty())
            for (std::size_t k = 0; k < shown; ++k) PyTuple_SET_ITEM(all.ptr(), Py_ssize_t(k), next());
        for (std::size_t g = 0; g < groups.size(); ++g) {
            PyObject* part = groups[g] ? new_tuple(std::size_t(groups[g])).release().ptr() : next();
            for (Py_ssize_t k = 0; k < groups[g]; ++k) PyTuple_SET_ITEM(part, k, next());
            PyTuple_SET_ITEM(all.ptr(), Py_ssize_t(g), part);
        }
        return all;
    }

    // True if an output's memory may be an input's.
    bool overlaps(const Doubles& view, const Work& work, Py_ssize_t count) const {
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const std::int64_t reach = (count - 1) * work.from_strides[i];
            const double* first = work.from[i] + std::min<std::int64_t>(reach, 0);
            if (view.touches(first, work.from[i] + std::max<std::int64_t>(reach, 0) + inputs[i])) return true;
        }
        return false;
    }

    // True if an output's memory may be that of one before it.
    static bool meets_another(const Doubles& view, const std::vector<nb::object>& results, std::size_t k) {
        const auto [first, end] = view.ends();
        Doubles other;
        for (std::size_t before = 0; before < k; ++before)
            if (!other.take(results[before].ptr(), true) || other.touches(first, end)) return true;
        return false;
    }

    // The caller's arrays; false if they are not as many.
    bool take_results(std::vector<nb::object>& results, nb::handle out) const {
        if (shown == 1) {
            results.push_back(nb::borrow(out));
            return true;
        }
        if (!PyTuple_Check(out.ptr()) && !PyList_Check(out.ptr())) return false;
        if (PySequence_Fast_GET_SIZE(out.ptr()) != Py_ssize_t(shown)) return false;
        for (std::size_t k = 0; k < shown; ++k)
            results.push_back(nb::borrow(PySequence_Fast_GET_ITEM(out.ptr(), Py_ssize_t(k))));
        return true;
    }

    // Arrays for results: several of one state that were handed out before and that nobody has any more, else new ones. To make
    // and to forget arrays takes longer than to call short code.
    void make_results(std::vector<nb::object>& results, bool batch, Py_ssize_t count) {
        const bool kept = !batch && shown > 1;
        if (kept)
            for (const std::vector<nb::object>& set : recent)
                if (is_free(set)) {
                    results = set;
                    return;
                }
        for (std::size_t k = 0; k < shown; ++k) {
            const auto [rows, columns] = outputs[k];
            if (!batch)
                results.push_back(plain_array({rows, columns}, columns == 1 ? 1 : 2, NPY_ARRAY_F_CONTIGUOUS));
            else if (columns == 1)
                results.push_back(plain_array({count, rows}, 2, 0));
            else
                results.push_back(plain_array({count, columns, rows}, 3, 0).attr("transpose")(0, 2, 1));
        }
        if (!kept) return;
        if (recent.size() < RECENT)
            recent.push_back(results);
        else
            recent[oldest++ % RECENT] = results;
    }

    // True if nobody but this object has any of the arrays, and they are as they were made.
    bool is_free(const std::vector<nb::object>& set) const {
        for (std::size_t k = 0; k < shown; ++k) {
            Doubles view;
            Target target;
            if (!is_mine_alone(set[k]) || !view.take(set[k].ptr(), true) || !target.take(view, outputs[k], false, 1) ||
                !target.plain)
                return false;
        }
        return true;
    }

    void run(Work& work, Py_ssize_t count) {
        const auto go = [&] {
            code->evaluate(work.from.data(), work.from_strides.data(), work.to.data(), work.to_strides.data(), count,
                           *work.memory);
        };
        if (count > SHORT) {
            Unlocked unlocked;
            go();
        } else {
            go();
        }
    }

    std::shared_ptr<Code> code;
    std::vector<Py_ssize_t> inputs;
    std::vector<Shape> outputs;
    std::vector<Py_ssize_t> groups;
    std::vector<std::vector<double>> fixed;
    bool batches;  // arguments of two dimensions are rows, a sample each
    Demands demands;
    std::size_t shown;  // outputs that are handed out
    std::vector<std::vector<nb::object>> recent;
    std::size_t oldest = 0;
    std::vector<std::unique_ptr<Work>> idle;  // Python's lock guards it
    std::size_t made = 0;                     // of them in all
};

}  // namespace

void bind_calls(nb::module_& m) {
    if (_import_array() < 0) nb::raise_python_error();
    nb::class_<Code>(m, "Code", "Code that takes rows of numbers; see native/src/kernels/compiled.hpp.");
    nb::class_<CompiledCode, Code>(m, "CompiledCode", "Compiled code, by its address.")
        .def("__init__", [](CompiledCode* self, std::uintptr_t address, std::size_t work) {
            new (self) CompiledCode(reinterpret_cast<Evaluate>(address), work);
        });
    static const PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(&ArrayCall::call)}, {0, nullptr}};
    nb::class_<ArrayCall>(m, "ArrayCall", nb::type_slots(slots),
                          "Code called with NumPy arrays: (out, *arguments) -> results.")
        .def(
            nb::init<std::shared_ptr<Code>, std::vector<Py_ssize_t>, std::vector<Shape>, bool, bool, std::vector<Shape>,
                     double, std::vector<Py_ssize_t>, std::vector<Limit>, std::vector<std::vector<double>>>(),
            nb::arg("code"), nb::arg("inputs"), nb::arg("outputs"), nb::arg("batches") = false,
            nb::arg("finite") = false, nb::arg("units") = std::vector<Shape>(), nb::arg("tolerance") = 0.0,
            nb::arg("groups") = std::vector<Py_ssize_t>(), nb::arg("limits") = std::vector<Limit>(),
            nb::arg("fixed") = std::vector<std::vector<double>>())
        .def("rows", &ArrayCall::rows);
}

}  // namespace trisweep
