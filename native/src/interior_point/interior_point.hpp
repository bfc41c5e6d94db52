// The primal-dual interior point with a filter line search of Wächter and Biegler 2006 ("On the implementation of an
// interior-point filter line-search algorithm for large-scale nonlinear programming", Math. Program. 106), on any `Program`.
// Equation numbers are that paper's.
#pragma once

#include <functional>
#include <limits>

#include "acceptance.hpp"
#include "adaptive_barrier.hpp"
#include "barrier.hpp"
#include "program.hpp"
#include "record.hpp"
#include "refinement.hpp"
#include "regularization.hpp"
#include "settings.hpp"
#include "status.hpp"
#include "watchdog.hpp"

namespace trisweep {

class InteriorPoint {
public:
    InteriorPoint(Program& program, std::size_t filter_room = 1000)
        : program(program), acceptance(filter_room), refinement(program), watchdog(program) {
        arena.build([this](Arena& a) {
            const int n = this->program.size_v, m = this->program.size_y;
            for (double** vector : {&v, &trial, &dv, &dv_corrected, &h, &barrier_gradient, &sigma, &residual}) *vector = a.vector(n);
            for (double** vector : {&y, &dy, &dy_corrected, &r, &r_trial, &r_corrected}) *vector = a.vector(m);
        });
    }

    Settings settings;
    Times times;
    // Sees every iteration as it begins; true asks for an end.
    std::function<bool(const Record&)> watch = [](const Record&) { return false; };
    std::function<bool()> interrupted = [] { return false; };
    // Called where no step is acceptable: moves v (and leaves its r and f) to a better one, or says why it cannot.
    std::function<Status(InteriorPoint&)> restore = [](InteriorPoint&) { return Status::stalled; };
    // Asked after restoration: whether the problem is no longer the one that was scaled, and should be started anew.
    std::function<bool()> outgrown = [] { return false; };
    // For restoration itself: whether the point is already good enough for the problem it serves.
    std::function<bool()> good_enough = [] { return false; };

    double *v, *y, *r;  // the point, its multipliers and its residual
    double f = 0.0, mu = 0.0;
    double violation_factor = 1e4;  // of the violation at the start: no step may lead beyond
    double infeasibility = 0.0, dual_infeasibility = 0.0, complementarity = 0.0;
    Stopwatch::clock::time_point deadline = Stopwatch::clock::time_point::max();

    // From v, y and the duals of the bounds, with mu: to a solution. `evaluated`: f and r are those of v already.
    Status run(bool evaluated = false) {
        if (!evaluated && !evaluate(v, f, r)) return Status::not_finite;
        program.refresh_gaps(v);
        rounding = 10.0 * EPSILON * program.rows * std::max(1.0, largest_size(program.size_v, v));
        violation = violation_of(r);
        acceptance.start(violation, violation_factor);
        std::fill_n(dv, program.size_v, 0.0);
        regularization = {};
        refinement.reset();
        watchdog.reset();
        adaptive.start(settings.adaptive && bound_count(program) > 0);
        most_mu = MOST_MU * AdaptiveBarrier::mean_complementarity(program);
        tiny = false;
        taken = {};
        if (!differentiate()) return Status::not_finite;
        for (;; ++iteration) {
            measure();
            const bool enough = note();
            if (error(0.0) <= settings.tolerance) return curves_down() ? Status::not_minimal : Status::solved;
            if (largest_size(program.size_v, v) > DIVERGED) return Status::unbounded;
            if (good_enough()) return Status::restored;
            if (iteration >= settings.iterations) return Status::iteration_limit;
            if (Stopwatch::clock::now() > deadline) return Status::time_limit;
            if (enough || interrupted()) return Status::interrupted;
            update_barrier();
            const bool found = find_direction();
            if (!found && !watchdog.on) return Status::stalled;
            if (!(found ? search() : retreat())) {
                acceptance.guard();
                watchdog.reset();
                const Status status = restore(*this);
                if (status != Status::restored) return status;
                if (outgrown()) return Status::outgrown;
                taken = {'r', 0, 0.0, 0.0};
                program.refresh_gaps(v);
                violation = violation_of(r);
            }
            const bool lost = !differentiate() && (!watchdog.on || retreat() || !differentiate());
            if (lost) return Status::not_finite;
        }
    }

    // Multipliers of the constraints by least squares at v (eq. 36), zero where they come out large. `differentiated`:
    // gradient and J are those of v already.
    bool estimate_multipliers(bool differentiated = false) {
        std::fill_n(y, program.size_y, 0.0);
        if (!differentiated && !differentiate()) return false;
        Stopwatch watch(times.linear);
        program.clear_hessian();
        std::copy_n(program.gradient(), program.size_v, h);
        subtract_duals(program, h);
        std::fill_n(sigma, program.size_v, 1.0);
        program.add_barrier(sigma);
        if (!program.factor(0.0)) return true;
        std::fill_n(r_corrected, program.size_y, 0.0);
        program.direction(h, r_corrected, dv, y);
        if (!(largest_size(program.size_y, y) <= LARGEST_ESTIMATE)) std::fill_n(y, program.size_y, 0.0);
        return true;
    }

    // Whether a point with this objective and these rows would be a clear step ahead of the present one.
    bool would_accept(const double* point, double objective, const double* rows) const {
        const double other = violation_of(rows);
        return other <= RESTORED * violation && acceptance.passes_filter(other, barrier_at(point, objective));
    }

    // The scaled KKT error (5) where `run` ended.
    double final_error() const { return error(0.0); }

    Program& program;
    int iteration = 0;

private:
    static constexpr int CORRECTIONS = 4;                                              // second-order corrections
    static constexpr double KAPPA_CORRECTION = 0.99;
    static constexpr double LARGEST_ESTIMATE = 1e3;
    static constexpr double DIVERGED = 1e15;        // entries of a point that is taken for one on its way to infinity
    static constexpr double FLAT = 1e-6;            // curvature, of the scaled problem, below which a direction is flat
    static constexpr double RESTORED = 0.9;  // share of the violation at which restoration has done its work
    static constexpr double MOST_MU = 1e3;    // times the mean complementarity at the start
    static constexpr int SINGULAR_TRIES = 5;  // larger deltas for a system whose solution has a large residual
    static constexpr double EPSILON = std::numeric_limits<double>::epsilon();

    struct Taken {
        char kind = ' ';
        int trials = 0;
        double alpha_primal = 0.0, alpha_dual = 0.0;
    };

    // The violation of the constraints; what is within rounding counts as the same small number, so that no step is turned
    // down for the last digit of a residual.
    double violation_of(const double* rows) const { return std::max(rounding, sum_of_sizes(program.size_y, rows)); }

    double barrier_at(const double* point, double objective) const { return objective + barrier_value(program, point, mu); }

    bool evaluate(const double* point, double& objective, double* rows) {
        Stopwatch watch(times.functions);
        ++times.evaluations;
        return program.evaluate(point, objective, rows);
    }

    bool differentiate() {
        Stopwatch watch(times.functions);
        ++times.differentiations;
        return program.differentiate(v, y);
    }

    // The parts of the KKT error (5) at the point.
    void measure() {
        std::copy_n(program.gradient(), program.size_v, residual);
        program.add_transposed_product(y, residual);
        subtract_duals(program, residual);
        const int bounds = bound_count(program);
        double dual_sum = 0.0;
        for (const Bounds* b : {&program.lower, &program.upper})
            dual_sum += sum_over(b->size, [=](int i) { return load(b->dual + i); });
        constexpr double LARGE = 100.0;
        const double sum = dual_sum + sum_of_sizes(program.size_y, y);
        scale_dual = std::max(LARGE, sum / std::max(1, program.rows + bounds)) / LARGE;
        scale_complementarity = std::max(LARGE, dual_sum / std::max(1, bounds)) / LARGE;
        dual_infeasibility = largest_size(program.size_v, residual);
        infeasibility = largest_size(program.size_y, r);
        complementarity = complementarity_error(program, 0.0);
    }

    double error(double target) const {
        return std::max({dual_infeasibility / scale_dual, infeasibility, complementarity_error(program, target) / scale_complementarity});
    }

    double smallest_mu() const { return settings.tolerance / 10.0; }

    // A new barrier problem: what was learnt of the last one does not hold for it.
    void set_barrier(double value) {
        mu = std::max(smallest_mu(), value);
        acceptance.forget();
        watchdog.reset();
        tiny = false;
    }

    // Monotone decrease of mu (7), as often as the barrier problem is solved well enough; where mu is free, `find_direction`
    // chooses it.
    void update_barrier() {
        if (settings.adaptive && bound_count(program) > 0) {
            const bool free = adaptive.progress(mean_error()) && !tiny && regularization.delta == 0.0;
            if (adaptive.free && !free) set_barrier(std::min(most_mu, AdaptiveBarrier::held(program)));
            adaptive.free = free;
            if (adaptive.free) return;
        }
        while (mu > smallest_mu() && (error(mu) <= settings.barrier_error * mu || tiny))
            set_barrier(std::min(settings.barrier_factor * mu, std::pow(mu, settings.barrier_power)));
    }

    // The KKT error as a sum of means, in which no single entry hides the progress of the others.
    double mean_error() const {
        return sum_of_sizes(program.size_v, residual) / std::max(1, program.variables) +
               sum_of_sizes(program.size_y, r) / std::max(1, program.rows) + AdaptiveBarrier::mean_complementarity(program);
    }

    // Whether the objective curves down along a direction that the constraints leave open: a saddle or a maximum.
    bool curves_down() {
        set_curvature(program, sigma);
        program.add_barrier(sigma);
        return !program.factor(0.0) && !program.factor(FLAT);
    }

    bool find_direction() {
        set_curvature(program, sigma);
        linearize(adaptive.free ? 0.0 : mu);
        Stopwatch watch(times.linear);
        program.add_barrier(sigma);
        if (!regularization.factor(program)) return false;
        ++times.factorizations;
        if (adaptive.free) {
            program.direction(h, r, dv, dy);
            // A step that a delta has shortened says little of how far mu could fall.
            if (regularization.delta == 0.0) set_barrier(std::min(most_mu, AdaptiveBarrier::probe(program, dv)));
            linearize(mu);
        }
        barrier_objective = barrier_at(v, f);
        for (int i = 0; !refinement.direction(program, h, r, dv, dy) && i < SINGULAR_TRIES; ++i)
            if (!regularization.increase(program)) return false;
        return true;
    }

    // Gradient of the barrier's objective, and h: of its Lagrangian with the present multipliers, so that the direction's
    // y is their step. What is small near a solution is then small in the linear system, and so are its errors.
    void linearize(double barrier) {
        std::copy_n(program.gradient(), program.size_v, barrier_gradient);
        std::copy_n(residual, program.size_v, h);
        add_barrier_gradient(program, barrier, barrier_gradient, h);
    }

    // The backtracking filter line search. On success the point, f and r are the new ones.
    bool search() {
        const double tau = std::max(settings.boundary_fraction, 1.0 - mu);
        const double slope = sum_over(program.size_v, [this](int i) { return load(barrier_gradient + i) * load(dv + i); });
        const double relative = largest_over(
            program.size_v, [this](int i) { return magnitude(load(dv + i)) / (1.0 + magnitude(load(v + i))); });
        double alpha = largest_primal_step(program, dv, tau);
        if (relative < 10.0 * EPSILON) return watchdog.reset(), take_tiny_step(alpha);
        if (!watchdog.on) acceptance.reference = {violation, barrier_objective, slope};
        if (watchdog.due()) watchdog.start(program, v, y, r, dv, dy), watchdog.f = f, watchdog.alpha = alpha;
        taken = {' ', 0, 0.0, 0.0};
        acceptance.loosen();
        bool first = true;
        if (watchdog.on) {
            if (try_full_step(alpha, tau)) return true;
            retreat();
            if (watchdog.hopeless()) return false;
            alpha = 0.5 * watchdog.alpha, first = false, taken.trials = 1;
        }
        for (const double smallest = acceptance.smallest_step(); first || alpha > smallest; first = false, alpha *= 0.5) {
            ++taken.trials;
            double objective;
            const bool finite = move(alpha, dv, objective, r_trial);
            if (finite && accept(alpha, objective)) {
                watchdog.note(taken.trials);
                return take(alpha, dv, dy, objective, tau);
            }
            if (finite && first && violation_of(r_trial) >= violation && correct(alpha, tau)) return watchdog.note(1), true;
        }
        return false;
    }

    // Back to where the watchdog started.
    bool retreat() {
        watchdog.go_back(program, v, y, r, dv, dy);
        f = watchdog.f, violation = acceptance.reference.violation;
        return false;
    }

    // A full step on trial: taken while the watchdog has patience, for good if it is acceptable from where that began.
    bool try_full_step(double alpha, double tau) {
        double objective;
        taken.trials = 1;
        if (!move(alpha, dv, objective, r_trial)) return false;
        const bool accepted = accept(watchdog.alpha, objective);
        if (accepted) watchdog.reset();
        taken.kind = 'w';
        return (accepted || watchdog.patient(alpha)) && take(alpha, dv, dy, objective, tau);
    }

    // trial = v + alpha d, with objective and rows there.
    bool move(double alpha, const double* d, double& objective, double* rows) {
        for (int i = 0; i < program.size_v; ++i) trial[i] = v[i] + alpha * d[i];
        return evaluate(trial, objective, rows);
    }

    bool accept(double alpha, double objective) {
        return acceptance.accept(alpha, violation_of(r_trial), barrier_at(trial, objective), taken.kind);
    }

    // Second-order corrections of a rejected full step.
    bool correct(double alpha, double tau) {
        double previous = violation;
        for (int i = 0; i < program.size_y; ++i) r_corrected[i] = alpha * r[i] + r_trial[i];
        for (int p = 0; p < CORRECTIONS; ++p) {
            {
                Stopwatch watch(times.linear);
                refinement.direction_again(program, h, r_corrected, dv_corrected, dy_corrected);
            }
            const double step = largest_primal_step(program, dv_corrected, tau);
            double objective;
            if (!move(step, dv_corrected, objective, r_trial)) return false;
            const double trial_violation = violation_of(r_trial);
            if (accept(alpha, objective)) {
                taken.kind = 's';
                return take(step, dv_corrected, dy_corrected, objective, tau);
            }
            if (trial_violation > KAPPA_CORRECTION * previous) return false;
            previous = trial_violation;
            for (int i = 0; i < program.size_y; ++i) r_corrected[i] = step * r_corrected[i] + r_trial[i];
        }
        return false;
    }

    bool take(double alpha, const double* d, const double* y_step, double objective, double tau) {
        find_dual_steps(program, d, mu);
        const double alpha_dual = largest_dual_step(program, tau);
        for (int i = 0; i < program.size_y; ++i) y[i] += alpha * y_step[i];
        std::swap(v, trial);
        std::swap(r, r_trial);
        f = objective;
        violation = violation_of(r);
        program.recentre(v);
        program.refresh_gaps(v);
        take_dual_steps(program, alpha_dual, mu);
        taken.alpha_primal = alpha, taken.alpha_dual = alpha_dual;
        return true;
    }

    // A step within rounding of nothing is taken as it is, and asks for a smaller mu (Sec. 3.9).
    bool take_tiny_step(double alpha) {
        double objective;
        taken = {'t', 1, alpha, alpha};
        if (!move(alpha, dv, objective, r_trial)) return false;
        if (tiny && mu <= smallest_mu()) return false;
        tiny = true;
        return take(alpha, dv, dy, objective, settings.boundary_fraction);
    }

    bool note() {
        return watch({iteration, f, infeasibility, dual_infeasibility, complementarity, mu,
                      largest_size(program.size_v, dv), regularization.delta, taken.alpha_primal, taken.alpha_dual,
                      taken.trials, taken.kind});
    }

    Arena arena;
    Acceptance acceptance;
    Regularization regularization;
    Refinement refinement;
    AdaptiveBarrier adaptive;
    Watchdog watchdog;
    Taken taken;
    bool tiny = false;
    double most_mu = INFINITY;
    double rounding = 0.0, violation = 0.0, barrier_objective = 0.0;
    double scale_dual = 1.0, scale_complementarity = 1.0;
    double *trial, *dv, *dv_corrected, *h, *barrier_gradient, *sigma, *residual, *dy, *dy_corrected, *r_trial, *r_corrected;
};

}  // namespace trisweep
