// The solver of optimal-control problems as Python sees it.
#include "bind.hpp"
#include "ocp/solve/solver.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <exception>
#include <string>

namespace trisweep {
namespace {

std::span<const double> plain(const Vector& v) { return {v.data(), v.size()}; }

// A vector of a result, in its own memory.
template <std::vector<double> Result::* part>
nb::ndarray<nb::numpy, double, nb::ndim<1>> view(Result& result) {
    return {(result.*part).data(), {(result.*part).size()}, nb::handle()};
}

// A record as `trisweep.ocp.Iteration` has it.
using Fields = Tuple<int, double, double, double, double, double, double, double, double, double, int, std::string>;
Fields fields(const Record& r) {
    return nb::make_tuple(r.iteration, r.objective, r.infeasibility, r.dual_infeasibility, r.complementarity, r.mu,
                          r.step, r.delta, r.alpha_primal, r.alpha_dual, r.trials, std::string(1, r.kind));
}

// Looks on for Python: signals, and a callback that may ask for an end. What a handler of signals or the callback raises ends
// the solve too and is kept, to be raised when that has come to rest; KeyboardInterrupt just ends it. Signals are handled on
// the main thread alone, so a solve on another one never asks for them.
class PythonWatcher : public Watcher {
public:
    PythonWatcher(const nb::object& callback, Unlocked& unlocked, bool signals)
        : callback(callback), unlocked(unlocked), watched(!callback.is_none()), signals(signals) {}

    bool watch(const Record& record) override {
        if (!watched || raised) return false;
        return ask([&] { return nb::cast<bool>(callback(fields(record))); });
    }

    bool interrupted() override {
        if (!signals) return false;
        return ask([] {
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
            return false;
        });
    }

    std::exception_ptr raised;

private:
    // What Python answers to a question; true where it raises.
    template <typename Question>
    bool ask(Question&& question) {
        unlocked.take();
        bool answer = true;
        try {
            answer = question();
        } catch (nb::python_error& error) {
            if (!error.matches(PyExc_KeyboardInterrupt)) raised = std::current_exception();
        } catch (...) {
            raised = std::current_exception();
        }
        unlocked.give();
        return answer;
    }

    const nb::object& callback;
    Unlocked& unlocked;
    const bool watched, signals;
};

bool on_main_thread() {
    const nb::object main = nb::module_::import_("threading").attr("main_thread")();
    return nb::cast<unsigned long>(main.attr("ident")) == PyThread_get_thread_ident();
}

Result solve(Solver& solver, const Settings& settings, nb::object callback) {
    const bool signals = on_main_thread();
    const Result* result;
    std::exception_ptr raised;
    {
        Unlocked unlocked;
        PythonWatcher watcher(callback, unlocked, signals);
        result = &solver.solve(settings, watcher);
        raised = watcher.raised;
    }
    if (raised) std::rethrow_exception(raised);
    return *result;
}

// Of z, y, w and the parameters, as in `Result`.
Verdict verdict(Judge& judge, Vector z, Vector y, Vector w, Vector shared, Vector stage_parameters) {
    expect(z.size() == judge.slope.size() && w.size() == z.size() && y.size() == judge.g.size(),
           "z, y or w has another size than the problem's");
    return judge.measure(z.data(), y.data(), w.data(), shared.data(), stage_parameters.data());
}

// Objective, values of the rows, slopes, and the relative conditions.
Tuple<double, Array, Array, Tuple<double, double, double, double, double, double>> measure(Judge& judge, Vector z,
                                                                                           Vector y, Vector w,
                                                                                           Vector shared,
                                                                                           Vector stage_parameters) {
    const Verdict said = verdict(judge, z, y, w, shared, stage_parameters);
    const Conditions& c = said.relative;
    const auto array = [](const std::vector<double>& from) {
        double* to;
        Array made = new_array({from.size()}, to);
        std::copy(from.begin(), from.end(), to);
        return made;
    };
    return nb::make_tuple(
        said.objective, array(judge.g), array(judge.slope),
        nb::make_tuple(c.stationarity, c.dynamics, c.equalities, c.inequalities, c.bounds, c.complementarity));
}

// The constants of stage k: H (nz, nz), h (nz), equalities G z + g = 0, inequalities C z + c, and the edge from its parent
// x = E z + b; z is (u, x), of the parent in the edge. Matrices by rows.
void set_quadratic(Solver& solver, int k, Matrix H, Vector h, Matrix G, Vector g, Matrix C, Vector c, Matrix E,
                   Vector b) {
    const auto part = [](const Matrix& m) { return MatrixView{m.data(), m.shape(0), m.shape(1)}; };
    solver.set_quadratic(k, {part(H), part(G), part(C), part(E), plain(h), plain(g), plain(c), plain(b)});
}

void bind_structure(nb::module_& m) {
    nb::class_<Block>(m, "Block", "One compiled function on a run of stages; see native/src/ocp/stages/horizon.hpp.")
        .def(nb::init<>())
        .def_rw("first", &Block::first)
        .def_rw("count", &Block::count)
        .def_rw("child", &Block::child)
        .def_rw("at_shared", &Block::at_shared)
        .def_rw("at_stage", &Block::at_stage)
        .def_rw("stage_stride", &Block::stage_stride)
        .def_rw("at_child", &Block::at_child)
        .def_rw("child_stride", &Block::child_stride)
        .def_rw("objective", &Block::objective)
        .def_rw("dynamics", &Block::dynamics)
        .def_rw("equalities", &Block::equalities)
        .def_rw("inequalities", &Block::inequalities)
        .def_rw("at_equality", &Block::at_equality)
        .def_rw("at_inequality", &Block::at_inequality)
        .def_rw("lanes", &Block::lanes)
        .def_rw("graph", &Block::graph)
        .def_rw("jacobian_rows", &Block::jacobian_rows)
        .def_rw("jacobian_columns", &Block::jacobian_columns)
        .def_rw("hessian_rows", &Block::hessian_rows)
        .def_rw("hessian_columns", &Block::hessian_columns)
        .def("set_values",
             [](Block& b, std::uintptr_t address, std::int64_t work) {
                 b.values = reinterpret_cast<Evaluate>(address);
                 b.values_work = work;
             })
        .def("set_derivatives", [](Block& b, std::uintptr_t address, std::int64_t work) {
            b.derivatives = reinterpret_cast<Evaluate>(address);
            b.derivatives_work = work;
        });
    nb::class_<Recentring>(m, "Recentring",
                           "A change of coordinates on a run of stages; see native/src/ocp/stages/horizon.hpp.")
        .def(nb::init<>())
        .def_rw("first", &Recentring::first)
        .def_rw("count", &Recentring::count)
        .def_rw("at_stage", &Recentring::at_stage)
        .def_rw("per_stage", &Recentring::per_stage)
        .def("set_function", [](Recentring& c, std::uintptr_t address, std::int64_t work) {
            c.function = reinterpret_cast<Evaluate>(address);
            c.work = work;
        });
    nb::class_<Structure>(m, "Structure", "The stages of a problem and what is computed on them.")
        .def(nb::init<>())
        .def_rw("nx", &Structure::nx)
        .def_rw("nu", &Structure::nu)
        .def_rw("equalities", &Structure::equalities)
        .def_rw("inequalities", &Structure::inequalities)
        .def_rw("parent", &Structure::parent)
        .def_rw("blocks", &Structure::blocks)
        .def_rw("fixed", &Structure::fixed)
        .def_rw("variables", &Structure::variables)
        .def_rw("turns", &Structure::turns)
        .def_rw("durations", &Structure::durations)
        .def_rw("price", &Structure::price)
        .def_rw("price_growth", &Structure::price_growth)
        .def_rw("recentrings", &Structure::recentrings)
        .def_rw("shared_parameters", &Structure::shared_parameters)
        .def_rw("stage_parameters", &Structure::stage_parameters)
        .def_rw("quadratic", &Structure::quadratic);
}

void bind_settings(nb::module_& m) {
    nb::enum_<BarrierRule> rules(m, "BarrierRule", "How mu falls.");
    for (auto [word, rule] : BARRIER_RULES) rules.value(word, rule);
    nb::enum_<CurvatureRule> curvatures(m, "CurvatureRule", "How a Hessian that curves down is met.");
    for (auto [word, rule] : CURVATURE_RULES) curvatures.value(word, rule);
    nb::class_<Settings> settings(m, "Settings");
    settings.def(nb::init<>());
    Settings::each([&](const char* name, auto field, auto...) { settings.def_rw(name, field); });
    using Limits = nb::typed<nb::dict, nb::str, Tuple<double, double>>;
    settings.def_static("limits", []() -> Limits {
        nb::dict found;
        Settings::each([&](const char* name, auto, auto... limits) {
            if constexpr (sizeof...(limits) > 0) found[name] = nb::make_tuple(double(limits)...);
        });
        return found;
    });
}

void bind_result(nb::module_& m) {
    nb::enum_<Status> statuses(m, "Status", "How a solve ended.");
    for (auto [word, status] : STATUSES) statuses.value(word, status);
    nb::class_<Result>(m, "Result", "What a solve hands back; see native/src/ocp/solve/result.hpp.")
        .def_ro("status", &Result::status)
        .def_prop_ro("z", &view<&Result::z>, nb::rv_policy::reference_internal)
        .def_prop_ro("w", &view<&Result::w>, nb::rv_policy::reference_internal)
        .def_prop_ro("y", &view<&Result::y>, nb::rv_policy::reference_internal)
        .def_prop_ro("stage_parameters", &view<&Result::stage_parameters>, nb::rv_policy::reference_internal)
        .def_prop_ro("gains", &view<&Result::gains>, nb::rv_policy::reference_internal)
        .def_prop_ro("records",
                     [](const Result& r) -> nb::typed<nb::list, Fields> {
                         nb::list made;
                         for (const Record& record : r.records) made.append(fields(record));
                         return made;
                     })
        .def_ro("iterations", &Result::iterations)
        .def_ro("seconds", &Result::seconds)
        .def_prop_ro("seconds_functions", [](const Result& r) { return r.times.functions; })
        .def_prop_ro("seconds_linear", [](const Result& r) { return r.times.linear; })
        .def_prop_ro("evaluations", [](const Result& r) { return r.times.evaluations; })
        .def_prop_ro("differentiations", [](const Result& r) { return r.times.differentiations; })
        .def_prop_ro("factorizations", [](const Result& r) { return r.times.factorizations; })
        .def_prop_ro("fault", [](const Result& r) -> Tuple<int, int, int> {
            return nb::make_tuple(r.fault.block, r.fault.stage, r.fault.row);
        });
}

}  // namespace

void bind_solver(nb::module_& m) {
    bind_structure(m);
    bind_settings(m);
    bind_result(m);
    nb::class_<Judge>(m, "Judge", "The KKT conditions at a point; see native/src/ocp/judge/judge.hpp.")
        .def(nb::init<const Structure&>())
        .def("set_bounds",
             [](Judge& j, Vector z_low, Vector z_high, Vector c_low, Vector c_high) {
                 j.set_bounds(plain(z_low), plain(z_high), plain(c_low), plain(c_high));
             })
        .def("measure", &measure);
    nb::class_<Solver>(m, "Solver", "The interior point on a horizon; `trisweep.ocp` is its public face.")
        .def(nb::init<const Structure&>())
        .def("set_parameters",
             [](Solver& s, Vector shared, Vector stage_parameters) {
                 s.set_parameters(plain(shared), plain(stage_parameters));
             })
        .def("set_bounds",
             [](Solver& s, Vector z_low, Vector z_high, Vector c_low, Vector c_high) {
                 s.set_bounds(plain(z_low), plain(z_high), plain(c_low), plain(c_high));
             })
        .def("set_quadratic", &set_quadratic)
        .def("set_guess", [](Solver& s, Vector z) { s.set_guess(plain(z)); })
        .def("set_fallback",
             [](Solver& s, Vector z, Vector stage_parameters) { s.set_fallback(plain(z), plain(stage_parameters)); })
        .def("set_multipliers", [](Solver& s, Vector y, Vector w) { s.set_multipliers(plain(y), plain(w)); })
        .def("solve", &solve, nb::arg("settings"), nb::arg("callback").none() = nb::none());
}

}  // namespace trisweep
