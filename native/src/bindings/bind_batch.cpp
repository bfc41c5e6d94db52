// Many solves at once as Python sees them.
#include "bind.hpp"
#include "ocp/solve/batch.hpp"

#include <nanobind/stl/vector.h>

#include <array>
#include <exception>
#include <string>

namespace trisweep {
namespace {

// The answers of a batch, in the order of its problems.
struct Results {
    std::vector<Result> results;

    const Result& at(std::size_t i) const {
        expect(i < results.size(), "there is no answer " + std::to_string(i) + " of " + std::to_string(results.size()));
        return results[i];
    }

    // A row a problem; NaN where it was not begun.
    template <std::vector<double> Result::* part>
    Array rows() const {
        std::size_t size = 0;
        for (const Result& result : results) size = std::max(size, (result.*part).size());
        double* to;
        Array array = new_array({results.size(), size}, to);
        for (const Result& result : results) {
            if ((result.*part).empty())
                std::fill_n(to, size, std::numeric_limits<double>::quiet_NaN());
            else
                std::copy((result.*part).begin(), (result.*part).end(), to);
            to += size;
        }
        return array;
    }

    template <class Read>
    Array numbers(Read read) const {
        double* to;
        Array array = new_array({results.size()}, to);
        for (const Result& result : results) *to++ = double(read(result));
        return array;
    }

    // Several numbers of each.
    template <std::size_t width, class Read>
    Array table(Read read) const {
        double* to;
        Array array = new_array({results.size(), width}, to);
        for (const Result& result : results) {
            const std::array<double, width> row = read(result);
            to = std::copy(row.begin(), row.end(), to);
        }
        return array;
    }

    Array counts() const {
        return table<4>([](const Result& r) {
            return std::array{double(r.iterations), double(r.times.evaluations), double(r.times.differentiations),
                              double(r.times.factorizations)};
        });
    }
    Array times() const {
        return table<3>([](const Result& r) { return std::array{r.seconds, r.times.functions, r.times.linear}; });
    }
    Array faults() const {
        return table<3>([](const Result& r) {
            return std::array{double(r.fault.block), double(r.fault.stage), double(r.fault.row)};
        });
    }
    Array record_counts() const {
        return table<1>([](const Result& r) { return std::array{double(r.records.size())}; });
    }
    Array records() const {
        std::size_t count = 0;
        for (const Result& result : results) count += result.records.size();
        double* to;
        Array array = new_array({count, 12}, to);
        for (const Result& result : results)
            for (const Record& r : result.records)
                for (double number :
                     {double(r.iteration), r.objective, r.infeasibility, r.dual_infeasibility, r.complementarity, r.mu,
                      r.step, r.delta, r.alpha_primal, r.alpha_dual, double(r.trials), double(r.kind)})
                    *to++ = number;
        return array;
    }
};

// Signals and progress, seen from the thread that called. What Python raises meanwhile ends the batch and is kept.
class PythonOverseer : public Batch::Overseer {
public:
    PythonOverseer(const nb::object& progress, Unlocked& unlocked) : progress(progress), unlocked(unlocked) {}

    bool watch(std::size_t finished) override {
        if (raised) return true;
        unlocked.take();
        bool end = false;
        try {
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
            if (!progress.is_none()) progress(finished);
        } catch (nb::python_error& error) {
            if (!error.matches(PyExc_KeyboardInterrupt)) raised = std::current_exception();
            end = true;
        } catch (...) {  // with threads at work nothing may be thrown
            raised = std::current_exception();
            end = true;
        }
        unlocked.give();
        return end;
    }

    std::exception_ptr raised;

private:
    const nb::object& progress;
    Unlocked& unlocked;
};

Rows rows_of(const Matrix& given, std::size_t count, const char* name) {
    expect(
        given.shape(0) == 1 || given.shape(0) == count,
        std::string(name) + " has " + std::to_string(given.shape(0)) + " rows, expected 1 or " + std::to_string(count));
    return {given.data(), given.shape(0), given.shape(1)};
}

Results solve(Batch& batch, std::size_t count, Matrix shared, Matrix stage_parameters, Matrix z, nb::object y,
              nb::object w, const std::vector<Matrix>& bounds, const Settings& settings, int threads,
              nb::object progress) {
    BatchInputs inputs;
    expect(bounds.size() == 4, "bounds are not z_low, z_high, c_low, c_high");
    Rows* const sides[] = {&inputs.z_low, &inputs.z_high, &inputs.c_low, &inputs.c_high};
    for (std::size_t i = 0; i < 4; ++i) *sides[i] = rows_of(bounds[i], count, "a bound");
    inputs.shared = rows_of(shared, count, "shared parameters");
    inputs.stage_parameters = rows_of(stage_parameters, count, "parameters of the stages");
    inputs.z = rows_of(z, count, "the guess");
    inputs.warm = !y.is_none();
    Matrix of_rows, of_bounds;
    if (inputs.warm) {
        of_rows = nb::cast<Matrix>(y);
        of_bounds = nb::cast<Matrix>(w);
        inputs.y = rows_of(of_rows, count, "multipliers of the rows");
        inputs.w = rows_of(of_bounds, count, "multipliers of the bounds");
    }
    Results answer;
    std::exception_ptr raised;
    {
        Unlocked unlocked;
        PythonOverseer overseer(progress, unlocked);
        answer.results = batch.solve(count, inputs, settings, threads, overseer);
        raised = overseer.raised;
    }
    if (raised) std::rethrow_exception(raised);
    return answer;
}

}  // namespace

void bind_batch(nb::module_& m) {
    nb::class_<Results>(m, "Results", "The answers of a batch.")
        .def("__len__", [](const Results& r) { return r.results.size(); })
        .def("__getitem__", &Results::at, nb::rv_policy::reference_internal)
        .def("z", &Results::rows<&Result::z>)
        .def("y", &Results::rows<&Result::y>)
        .def("w", &Results::rows<&Result::w>)
        .def("stage_parameters", &Results::rows<&Result::stage_parameters>)
        .def("gains", &Results::rows<&Result::gains>)
        .def("counts", &Results::counts, "Of each problem: iterations, evaluations, differentiations, factorizations.")
        .def("times", &Results::times, "Of each problem: seconds, those in functions, those in linear algebra.")
        .def("faults", &Results::faults, "Of each problem: block, stage and row of a number that is not finite.")
        .def("records", &Results::records, "Of each problem's iterations, one after another: the numbers of `Record`.")
        .def("record_counts", &Results::record_counts)
        .def("objectives",
             [](const Results& r) { return r.numbers([](const Result& one) { return one.verdict.objective; }); })
        .def("residuals",
             [](const Results& r) { return r.numbers([](const Result& one) { return one.verdict.residual.worst(); }); })
        .def("relative_residuals",
             [](const Results& r) { return r.numbers([](const Result& one) { return one.verdict.relative.worst(); }); })
        .def("statuses", [](const Results& r) {
            std::vector<Status> all;
            for (const Result& result : r.results) all.push_back(result.status);
            return all;
        });
    nb::class_<Batch>(m, "Batch", "Solves of one problem for many numbers; `Solver.solve_many` is its public face.")
        .def(nb::init<const Structure&>())
        .def("solve", &solve, nb::arg("count"), nb::arg("shared"), nb::arg("stage_parameters"), nb::arg("z"),
             nb::arg("y").none(), nb::arg("w").none(), nb::arg("bounds"), nb::arg("settings"), nb::arg("threads"),
             nb::arg("progress").none());
}

}  // namespace trisweep
