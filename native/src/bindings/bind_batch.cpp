// Many solves at once as Python sees them.
#include "bind.hpp"
#include "ocp/solve/batch.hpp"

#include <nanobind/stl/vector.h>

#include <exception>
#include <string>

namespace trisweep {
namespace {

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

// Where the answers go: by name, the caller's arrays with a row a problem.
AnswerRows answers_in(const nb::dict& into, std::size_t count) {
    AnswerRows answers;
    const auto take = [&](const char* name, AnswerRows::Part& part, std::size_t width = 0) {
        const auto given = nb::cast<nb::ndarray<double, nb::c_contig, nb::device::cpu>>(into[name], false);
        part = {given.data(), given.ndim() == 2 ? given.shape(1) : 1};
        expect(given.ndim() > 0 && given.ndim() < 3 && given.shape(0) == count && (!width || part.size == width),
               std::string("room for ") + name + " has another shape than the answers");
    };
    take("statuses", answers.statuses, 1);
    take("z", answers.z);
    take("y", answers.y);
    take("w", answers.w);
    take("stage_parameters", answers.stage_parameters);
    take("gains", answers.gains);
    take("counts", answers.counts, AnswerRows::COUNTS);
    take("times", answers.times, AnswerRows::TIMES);
    take("objectives", answers.objectives, 1);
    take("residuals", answers.residuals, 1);
    take("relative_residuals", answers.relative_residuals, 1);
    take("faults", answers.faults, AnswerRows::FAULTS);
    take("record_counts", answers.record_counts, 1);
    return answers;
}

Array as_numbers(const std::vector<Record>& records) {
    double* to;
    Array array = new_array({records.size(), 12}, to);
    for (const Record& r : records)
        for (double number :
             {double(r.iteration), r.objective, r.infeasibility, r.dual_infeasibility, r.complementarity, r.mu, r.step,
              r.delta, r.alpha_primal, r.alpha_dual, double(r.trials), double(r.kind)})
            *to++ = number;
    return array;
}

Array solve(Batch& batch, std::size_t count, Matrix shared, Matrix stage_parameters, Matrix z, nb::object y,
            nb::object w, const std::vector<Matrix>& bounds, const nb::dict& into, const Settings& settings,
            int threads, nb::object progress) {
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
    const AnswerRows answers = answers_in(into, count);
    batch.expect_room(answers);
    std::vector<Record> records;
    std::exception_ptr raised;
    {
        Unlocked unlocked;
        PythonOverseer overseer(progress, unlocked);
        records = batch.solve(count, inputs, answers, settings, threads, overseer);
        raised = overseer.raised;
    }
    if (raised) std::rethrow_exception(raised);
    return as_numbers(records);
}

}  // namespace

void bind_batch(nb::module_& m) {
    nb::class_<Batch>(m, "Batch", "Solves of one problem for many numbers; `Solver.solve_many` is its public face.")
        .def(nb::init<const Structure&>())
        .def("solve", &solve, nb::arg("count"), nb::arg("shared"), nb::arg("stage_parameters"), nb::arg("z"),
             nb::arg("y").none(), nb::arg("w").none(), nb::arg("bounds"), nb::arg("into"), nb::arg("settings"),
             nb::arg("threads"), nb::arg("progress").none(),
             "Answers into arrays of the caller's, by name; gives the numbers of `Record` of all iterations.");
}

}  // namespace trisweep
