// The interior point as Python sees it: structure and functions once, then parameters, bounds and a guess for each solve.
#include "bind.hpp"
#include "interior_point/restoration.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>

namespace trisweep {
namespace {

class Solver {
public:
    Solver(const std::vector<int>& nx, const std::vector<int>& nu, const std::vector<int>& equalities,
           const std::vector<int>& inequalities, const std::vector<int>& parent, const std::vector<Block>& blocks,
           const std::vector<Chart>& charts, int parameters, int stage_parameters)
        : riccati(nx, nu, equalities, parent, true),
          horizon(riccati, blocks, charts, inequalities, parameters, stage_parameters),
          program(riccati, horizon),
          point(program),
          restoration(program) {
        arena.build([this](Arena& a) {
            for (double** vector : {&low, &high, &scaled_low, &scaled_high, &start, &start_low, &start_high})
                *vector = a.vector(program.size_v);
            start_y = a.vector(program.size_y), start_place = a.vector(program.size_place);
        });
        point.restore = [this](InteriorPoint& outer) { return restoration(outer); };
        point.outgrown = [this] { return scale_anew(0.01); };
    }

    void set_parameters(Vector shared, Vector of_stages) {
        expect(shared.size() == std::size_t(horizon.parameter_count) && of_stages.size() == std::size_t(horizon.stage_parameter_count),
               "parameters have the wrong size");
        std::copy_n(shared.data(), shared.size(), horizon.parameters);
        std::copy_n(of_stages.data(), of_stages.size(), horizon.stage_parameters);
    }

    // Of all stages' (u, x), and of all stages' inequalities; infinite where there is none.
    void set_bounds(Vector z_low, Vector z_high, Vector c_low, Vector c_high) {
        std::fill_n(low, program.size_v, -INFINITY);
        std::fill_n(high, program.size_v, INFINITY);
        spread_z(z_low, low), spread_z(z_high, high), spread_c(c_low, low), spread_c(c_high, high);
    }

    void set_guess(Vector z) {
        std::fill_n(start, program.size_v, 0.0);
        spread_z(z, start);
    }

    // Multipliers to start from, in the layout of `result`; used where the settings ask for a warm start.
    void set_multipliers(Vector lambda, Vector eta, Vector nu, Vector lower, Vector upper) {
        std::size_t x = 0, g = 0;
        for (const Riccati::Stage& s : riccati.stages) x += s.parent < 0 ? 0 : s.nx, g += s.ng;
        expect(lambda.size() == x && eta.size() == g, "multipliers have the wrong length");
        std::fill_n(start_y, program.size_y, 0.0);
        const double *from_lambda = lambda.data(), *from_eta = eta.data();
        for (const Riccati::Stage& s : riccati.stages) {
            if (s.parent >= 0) std::copy_n(from_lambda, s.nx, start_y + s.at_x), from_lambda += s.nx;
            std::copy_n(from_eta, s.ng, start_y + program.at_eta() + s.at_g);
            from_eta += s.ng;
        }
        std::fill_n(start_low, program.size_v, 0.0);
        std::fill_n(start_high, program.size_v, 0.0);
        spread_z(lower, start_low), spread_z(upper, start_high), spread_c(nu, start_low);
        for (int i = 0; i < horizon.size_c; ++i) {
            double &low = start_low[program.at_slack() + i], &high = start_high[program.at_slack() + i];
            start_y[program.at_nu() + i] = low;
            high = std::max(low, 0.0), low = std::max(-low, 0.0);
        }
    }

    // `callback`, if it is not None, is called with the row of every iteration and may ask for an end; what it raises is
    // raised again when the solve has ended.
    int solve(const Settings& settings, nb::object callback) {
        solved_once = false;
        std::exception_ptr raised;
        {
            nb::gil_scoped_release release;
            point.settings = settings;
            horizon.set_threads(settings.threads);
            point.deadline = settings.seconds < 1e8 ? Stopwatch::clock::now() + std::chrono::duration_cast<Stopwatch::clock::duration>(
                                                                                    std::chrono::duration<double>(settings.seconds))
                                                    : Stopwatch::clock::time_point::max();
            records_made.clear();
            records_made.reserve(std::size_t(std::min(settings.iterations, 100000)) + 2);
            const auto watch = [&](const Record& record) {
                records_made.push_back(record);
                return !callback.is_none() && !raised && tell(callback, record, raised);
            };
            point.watch = std::cref(watch);
            point.times = {};
            point.iteration = 0;
            point.interrupted = [] {
                nb::gil_scoped_acquire acquire;
                return PyErr_CheckSignals() != 0;
            };
            const auto begin = Stopwatch::clock::now();
            program.copy_place(start_place);
            scaled_anew = false;
            status = prepare(false) ? point.run(true) : Status::not_finite;
            if (status == Status::outgrown || ((status == Status::infeasible || status == Status::stalled) && scale_anew(0.5)))
                scaled_anew = true, program.set_place(start_place), status = prepare(true) ? point.run(true) : Status::not_finite;
            seconds = std::chrono::duration<double>(Stopwatch::clock::now() - begin).count();
        }
        if (status == Status::interrupted) PyErr_Clear();
        if (raised) std::rethrow_exception(raised);
        solved_once = true;
        return int(status);
    }

    // All stages' (u, x); multipliers of dynamics (nx of every stage but the root), equalities, inequalities; of bounds of (u, x).
    nb::dict result() {
        nb::dict out;
        std::size_t z = 0, x = 0, g = 0, c = 0;
        for (std::size_t k = 0; k < riccati.stages.size(); ++k) {
            const Riccati::Stage& s = riccati.stages[k];
            z += s.nu + s.nx, x += k ? s.nx : 0, g += s.ng, c += horizon.inequality_count[k];
        }
        double *to_z, *to_low, *to_high, *to_lambda, *to_eta, *to_nu, *to_b, *to_g, *to_c, *to_scale;
        out["z"] = new_array({z}, to_z), out["lower"] = new_array({z}, to_low), out["upper"] = new_array({z}, to_high);
        out["dynamics"] = new_array({x}, to_lambda), out["equalities"] = new_array({g}, to_eta), out["inequalities"] = new_array({c}, to_nu);
        out["dynamics_residual"] = new_array({x}, to_b), out["equalities_residual"] = new_array({g}, to_g);
        out["inequalities_residual"] = new_array({c}, to_c);
        out["row_scale"] = new_array({x + g + c}, to_scale);  // of dynamics, equalities, inequalities
        double *scale_b = to_scale, *scale_g = scale_b + x, *scale_c = scale_g + g;
        const double f = horizon.objective_scale;
        for (std::size_t k = 0; k < riccati.stages.size(); ++k) {
            const Riccati::Stage& s = riccati.stages[k];
            for (int i = 0; i < s.nu + s.nx; ++i) {
                const int at = s.at_z + (i < s.nu ? i : s.up + i - s.nu);
                *to_z++ = point.v[at], *to_low++ = program.lower.dual[at] / f, *to_high++ = program.upper.dual[at] / f;
            }
            for (int i = s.at_x; k && i < s.at_x + s.nx; ++i) {
                *to_lambda++ = point.y[i] * horizon.dynamics_scale[i] / f;
                *to_b++ = point.r[i] / horizon.dynamics_scale[i];
                *scale_b++ = horizon.dynamics_scale[i];
            }
            for (int i = s.at_g; i < s.at_g + s.ng; ++i) {
                *to_eta++ = point.y[program.at_eta() + i] * horizon.equality_scale[i] / f;
                *to_g++ = point.r[program.at_eta() + i] / horizon.equality_scale[i];
                *scale_g++ = horizon.equality_scale[i];
            }
            for (int i = horizon.at_c[k]; i < horizon.at_c[k] + horizon.inequality_count[k]; ++i) {
                *to_nu++ = point.y[program.at_nu() + i] * horizon.inequality_scale[i] / f;
                *to_c++ = point.r[program.at_nu() + i] / horizon.inequality_scale[i];
                *scale_c++ = horizon.inequality_scale[i];
            }
        }
        double* to_own;
        out["of_stages"] = new_array({std::size_t(horizon.stage_parameter_count)}, to_own);
        std::copy_n(horizon.stage_parameters, horizon.stage_parameter_count, to_own);
        out["objective"] = point.f / f;
        out["objective_scale"] = f;
        out["seconds"] = seconds;
        out["seconds_functions"] = point.times.functions, out["seconds_linear"] = point.times.linear;
        out["evaluations"] = point.times.evaluations, out["differentiations"] = point.times.differentiations;
        out["factorizations"] = point.times.factorizations;
        out["iterations"] = point.iteration;
        out["mu"] = point.mu;
        out["fault"] = nb::make_tuple(horizon.faulty_block, horizon.faulty_stage, horizon.faulty_row);
        return out;
    }

    // One row an iteration: objective, infeasibility, dual infeasibility, complementarity, mu, step, delta, alphas, trials, kind.
    nb::list records() const {
        nb::list rows;
        for (const Record& record : records_made) rows.append(row(record));
        return rows;
    }

    // The feedback du = K dx of a stage's last direction: (nu, nx).
    Array gain(int k) {
        expect(k >= 0 && std::size_t(k) < riccati.stages.size(), "no such stage");
        const Riccati::Stage& s = riccati.stages[k];
        double* K;
        Array out = new_array({std::size_t(s.nu), std::size_t(s.nx)}, K);
        std::vector<double> constant(s.nu + 1);
        if (solved_once) riccati.feedback(k, K, constant.data());
        return out;
    }

private:
    nb::tuple row(const Record& r) const {
        return nb::make_tuple(r.iteration, r.objective / horizon.objective_scale, r.infeasibility, r.dual_infeasibility,
                              r.complementarity, r.mu, r.step, r.delta, r.alpha_primal, r.alpha_dual, r.trials,
                              std::string(1, r.kind));
    }

    // Ctrl-C during the callback ends the solve as it does elsewhere.
    bool tell(const nb::object& callback, const Record& record, std::exception_ptr& raised) const {
        nb::gil_scoped_acquire acquire;
        try {
            return nb::cast<bool>(callback(row(record)));
        } catch (nb::python_error& error) {
            if (!error.matches(PyExc_KeyboardInterrupt)) raised = std::current_exception();
            return true;
        }
    }

    // The starting point (Wächter and Biegler 2006, Sec. 3.6): scaling, v inside its bounds, slacks, multipliers, mu.
    bool prepare(bool scaled) {
        const Settings& settings = point.settings;
        std::copy_n(start, program.size_v, point.v);
        std::copy_n(low, program.size_v, scaled_low);
        std::copy_n(high, program.size_v, scaled_high);
        program.set_bounds(scaled_low, scaled_high);
        const double push = settings.warm_start ? WARM_PUSH : settings.bound_push;
        push_inside(program, push, 0, point.v);
        if (!scaled && !scale()) return false;
        std::copy_n(low, program.size_v, scaled_low);
        for (int i = 0; i < horizon.size_c; ++i) {
            scaled_low[program.at_slack() + i] *= horizon.inequality_scale[i];
            scaled_high[program.at_slack() + i] *= horizon.inequality_scale[i];
        }
        // Room of the tolerance beyond every bound: an equality may hold a variable right on it (Sec. 3.5 there).
        for (int i = 0; i < program.size_v; ++i) scaled_low[i] -= settings.tolerance, scaled_high[i] += settings.tolerance;
        program.set_bounds(scaled_low, scaled_high);
        double* slack = point.v + program.at_slack();
        std::fill_n(slack, horizon.size_c, 0.0);
        if (!program.evaluate(point.v, point.f, point.r)) return false;
        double* r_c = point.r + program.at_nu();
        std::copy_n(r_c, horizon.size_c, slack);
        push_inside(program, push, program.at_slack(), point.v);
        for (int i = 0; i < horizon.size_c; ++i) r_c[i] -= slack[i];
        if (settings.warm_start) return take_multipliers();
        for (Bounds* b : {&program.lower, &program.upper}) std::copy_n(b->there, b->size, b->dual);
        point.mu = settings.initial_barrier;
        return point.estimate_multipliers(!scaled);
    }

    bool scale() {
        Stopwatch watch(point.times.functions);
        ++point.times.evaluations, ++point.times.differentiations;
        return program.scale(point.v, LARGEST_DERIVATIVE);
    }

    // Where a solve is in trouble with rows much steeper than at its start, which no slope there foretold: once, scale them by
    // their slopes here too, if that is by a factor below `matters`.
    bool scale_anew(double matters) {
        bool changed = false;
        return !scaled_anew && program.scale_further(point.v, LARGEST_DERIVATIVE, matters, changed) && changed;
    }

    // The multipliers that were set, scaled like the problem; mu is what they say of the distance to the solution.
    bool take_multipliers() {
        const double f = horizon.objective_scale;
        for (int i = 0; i < riccati.size_x; ++i) point.y[i] = f * start_y[i] / horizon.dynamics_scale[i];
        for (int i = 0; i < riccati.size_g; ++i) point.y[program.at_eta() + i] = f * start_y[program.at_eta() + i] / horizon.equality_scale[i];
        for (int i = 0; i < horizon.size_c; ++i) point.y[program.at_nu() + i] = f * start_y[program.at_nu() + i] / horizon.inequality_scale[i];
        double sum = 0.0;
        program.refresh_gaps(point.v);
        for (Bounds* b : {&program.lower, &program.upper})
            for (int i = 0; i < b->size; ++i) {
                if (b->there[i] == 0.0) continue;
                const int slack = i - program.at_slack();
                const double scale = slack < 0 ? f : f / horizon.inequality_scale[slack];
                b->dual[i] = std::max(scale * (b->sign > 0 ? start_low : start_high)[i], 1e-12);
                sum += b->dual[i] * b->gap[i];
            }
        const int bounds = bound_count(program);
        const double smallest = point.settings.tolerance / 10.0;
        point.mu = std::clamp(bounds ? sum / bounds : 0.0, smallest, std::max(smallest, point.settings.initial_barrier));
        return true;
    }

    void spread_z(const Vector& from, double* to) const {
        std::size_t size = 0;
        for (const Riccati::Stage& s : riccati.stages) size += s.nu + s.nx;
        expect(from.size() == size, "a vector along (u, x) has the wrong length");
        const double* at = from.data();
        for (const Riccati::Stage& s : riccati.stages) {
            std::copy_n(at, s.nu, to + s.at_z);
            std::copy_n(at + s.nu, s.nx, to + s.at_z + s.up);
            at += s.nu + s.nx;
        }
    }

    void spread_c(const Vector& from, double* to) const {
        std::size_t size = 0;
        for (int count : horizon.inequality_count) size += count;
        expect(from.size() == size, "a vector along the inequalities has the wrong length");
        const double* at = from.data();
        for (std::size_t k = 0; k < riccati.stages.size(); ++k) {
            std::copy_n(at, horizon.inequality_count[k], to + program.at_slack() + horizon.at_c[k]);
            at += horizon.inequality_count[k];
        }
    }

    Riccati riccati;
    Horizon horizon;
    OptimalControl program;
    InteriorPoint point;
    Restoration restoration;
    Arena arena;
    static constexpr double WARM_PUSH = 1e-8, LARGEST_DERIVATIVE = 100.0;
    double *low, *high, *scaled_low, *scaled_high, *start, *start_low, *start_high, *start_y, *start_place;
    std::vector<Record> records_made;
    Status status = Status::stalled;
    double seconds = 0.0;
    bool solved_once = false, scaled_anew = false;
};

}  // namespace

void bind_interior_point(nb::module_& m) {
    nb::class_<Block>(m, "Block", "One compiled function on a run of stages; see native/src/horizon.hpp.")
        .def(nb::init<>())
        .def_rw("first", &Block::first)
        .def_rw("count", &Block::count)
        .def_rw("child", &Block::child)
        .def_rw("at_shared", &Block::at_shared)
        .def_rw("at_own", &Block::at_own)
        .def_rw("own_stride", &Block::own_stride)
        .def_rw("at_following", &Block::at_following)
        .def_rw("following_stride", &Block::following_stride)
        .def_rw("objective", &Block::objective)
        .def_rw("next", &Block::next)
        .def_rw("equalities", &Block::equalities)
        .def_rw("inequalities", &Block::inequalities)
        .def_rw("at_equality", &Block::at_equality)
        .def_rw("at_inequality", &Block::at_inequality)
        .def_rw("lanes", &Block::lanes)
        .def_rw("jacobian_rows", &Block::jacobian_rows)
        .def_rw("jacobian_columns", &Block::jacobian_columns)
        .def_rw("hessian_rows", &Block::hessian_rows)
        .def_rw("hessian_columns", &Block::hessian_columns)
        .def("set_values", [](Block& b, std::uintptr_t address, std::int64_t work) {
            b.values = reinterpret_cast<Evaluate>(address), b.values_work = work;
        })
        .def("set_derivatives", [](Block& b, std::uintptr_t address, std::int64_t work) {
            b.derivatives = reinterpret_cast<Evaluate>(address), b.derivatives_work = work;
        });
    nb::class_<Chart>(m, "Chart", "A change of coordinates on a run of stages; see native/src/horizon.hpp.")
        .def(nb::init<>())
        .def_rw("first", &Chart::first)
        .def_rw("count", &Chart::count)
        .def_rw("at_own", &Chart::at_own)
        .def_rw("own", &Chart::own)
        .def("set_recentre", [](Chart& c, std::uintptr_t address, std::int64_t work) {
            c.recentre = reinterpret_cast<Evaluate>(address), c.work = work;
        });
    nb::class_<Settings>(m, "Settings")
        .def(nb::init<>())
        .def_rw("tolerance", &Settings::tolerance)
        .def_rw("iterations", &Settings::iterations)
        .def_rw("seconds", &Settings::seconds)
        .def_rw("initial_barrier", &Settings::initial_barrier)
        .def_rw("bound_push", &Settings::bound_push)
        .def_rw("adaptive", &Settings::adaptive)
        .def_rw("threads", &Settings::threads)
        .def_rw("warm_start", &Settings::warm_start);
    nb::class_<Solver>(m, "InteriorPoint", "The interior point on a horizon; `trisweep.ocp` is its public face.")
        .def(nb::init<const std::vector<int>&, const std::vector<int>&, const std::vector<int>&, const std::vector<int>&,
                      const std::vector<int>&, const std::vector<Block>&, const std::vector<Chart>&, int, int>())
        .def("set_parameters", &Solver::set_parameters)
        .def("set_bounds", &Solver::set_bounds)
        .def("set_guess", &Solver::set_guess)
        .def("set_multipliers", &Solver::set_multipliers)
        .def("solve", &Solver::solve, nb::arg("settings"), nb::arg("callback").none() = nb::none())
        .def("result", &Solver::result)
        .def("records", &Solver::records)
        .def("gain", &Solver::gain);
}

}  // namespace trisweep
