// The backtracking filter line search of Wächter and Biegler 2006, with second-order corrections of a rejected full
// step and a watchdog. Equation numbers and steps of the algorithm are that paper's.
#pragma once

#include <algorithm>
#include <limits>

#include "acceptance.hpp"
#include "interior_point/direction/direction.hpp"
#include "interior_point/settings.hpp"
#include "watchdog.hpp"

namespace trisweep {

class LineSearch {
public:
    LineSearch(Iterate& point, Direction& direction, const Settings& settings)
        : point(point),
          direction(direction),
          settings(settings),
          program(point.program),
          acceptance(FILTER_ROOM),
          watchdog(program) {
        arena.build([this](Arena& a) {
            for (double** vector : {&trial, &dv_corrected}) *vector = a.vector(program.size_v);
            for (double** vector : {&dy_corrected, &r_trial, &r_corrected}) *vector = a.vector(program.size_y);
        });
    }

    // The last step.
    struct Taken {
        char kind = ' ';  // as in `Record`
        int trials = 0;
        double alpha_primal = 0.0, alpha_dual = 0.0;
    };
    Taken taken;
    bool tiny = false;  // whether it was within rounding of nothing

    // `violation_factor`: of the violation here; no step may lead beyond.
    void start(double violation_factor) {
        acceptance.start(point.violation, violation_factor, settings.patience > 0);
        watchdog.reset();
        tiny = false;
        taken = {};
        given_up = begun_anew = 0;
        restored = RESTORED;
    }

    // For another barrier problem: what was learnt of the last one does not hold for it.
    void forget() {
        acceptance.forget();
        watchdog.reset();
        tiny = false;
    }

    // To the next point along the direction. False where no step is acceptable.
    bool run() {
        const double tau = std::max(settings.boundary_fraction, 1.0 - point.mu);
        const double alpha = largest_primal_step(program, direction.dv, tau);
        if (direction.is_within(TINY)) {
            watchdog.reset();
            return take_tiny_step(alpha);
        }
        if (!watchdog.on) refer();
        if (watchdog.due()) watchdog.start(point, direction.dv, direction.dy, alpha);
        taken = {};
        acceptance.loosen();
        if (!watchdog.on) return backtrack(alpha, tau, true) || (rounded() && take_tiny_step(alpha));
        if (try_full_step(alpha, tau)) return true;
        retreat();
        if (watchdog.hopeless()) return false;
        taken.trials = 1;
        return backtrack(0.5 * watchdog.alpha, tau, false);
    }

    // From a solution, the whole step where that leaves less than half of the rows' violation.
    bool correct_rows() {
        const double tau = std::max(settings.boundary_fraction, 1.0 - point.mu);
        if (largest_primal_step(program, direction.dv, tau) < 1.0 || !try_step(1.0, direction.dv) ||
            !(point.violation_of(r_trial) < 0.5 * point.violation))
            return false;
        take(1.0, direction.dv, direction.dy, tau);
        return true;
    }

    // Whether the watchdog has taken steps on trial.
    bool on_trial() const { return watchdog.on; }

    // Back to where the watchdog started.
    void retreat() {
        watchdog.go_back(point, direction.dv, direction.dy);
        program.corrected = false;
    }

    // No step was found: the filter keeps others from coming back here.
    void give_up() {
        acceptance.reference = {point.violation, point.barrier_objective(), 0.0};
        if (++given_up > PATIENCE || direction.contradicts()) restored *= IMPATIENCE;
        acceptance.guard();
        watchdog.reset();
    }

    // From a point whose rows hold, though the filter, which knows points of less objective that violate them, would not take it:
    // what it knows of those is forgotten. A few times, lest a solve goes round in circles.
    bool begin_anew() {
        if (++begun_anew > MOST_BEGINNINGS) return false;
        forget();
        return true;
    }

    // Whether a point with this objective and these rows would be a clear step ahead of the present one.
    bool would_accept(const double* v, double objective, const double* rows) const {
        const double violation = point.violation_of(rows);
        return violation <= restored * point.violation &&
               acceptance.passes_filter(violation, point.barrier_objective(v, objective));
    }

private:
    static constexpr std::size_t FILTER_ROOM = 1000;  // entries
    static constexpr double TINY = 10.0 * std::numeric_limits<double>::epsilon();
    static constexpr double NEARLY_TINY = 1e-9;
    static constexpr int CORRECTIONS = 4;  // second-order ones
    static constexpr double KAPPA_CORRECTION = 0.99;
    static constexpr double RESTORED = 0.9;  // share of the violation at which restoration has done its work
    // Restorations after which that share falls, lest its work is undone for ever; at once where rows contradict each other.
    static constexpr int PATIENCE = 10;
    static constexpr double IMPATIENCE = 0.3;
    static constexpr int MOST_BEGINNINGS = 3;

    // Trial points are compared with this one. Rows that hold within rounding are still off by something, which moves the
    // objective as large multipliers say: here, and at trial points that hold them as well, it is the Lagrangian that is compared.
    void refer() {
        exact = point.within_rounding();
        const double moved = exact ? weighed(point.r) : 0.0;
        acceptance.reference = {point.violation, point.barrier_objective() + moved, direction.slope() - moved};
    }

    // Rows, by the multipliers that a full step leads to.
    double weighed(const double* rows) const {
        return sum_over(program.size_y,
                        [=, this](int i) { return (load(point.y + i) + load(direction.dy + i)) * load(rows + i); });
    }

    // Shorter and shorter steps from alpha on; `full`: that is a full one, which is tried in any case and may be corrected.
    bool backtrack(double alpha, double tau, bool full) {
        const double smallest = acceptance.smallest_step();
        while (full || alpha > smallest) {
            ++taken.trials;
            const bool finite = try_step(alpha, direction.dv);
            if (finite && accept(alpha)) {
                watchdog.note(taken.trials);
                take(alpha, direction.dv, direction.dy, tau);
                return true;
            }
            if (finite && full && point.violation_of(r_trial) >= point.violation && correct(alpha, tau)) {
                watchdog.note(1);
                return true;
            }
            full = false;
            alpha *= 0.5;
        }
        return false;
    }

    // A full step on trial: taken while the watchdog has patience, for good if it is acceptable from where that began.
    bool try_full_step(double alpha, double tau) {
        taken.trials = 1;
        if (!try_step(alpha, direction.dv)) return false;
        const bool accepted = accept(watchdog.alpha);
        if (accepted) watchdog.reset();
        taken.kind = 'w';
        if (!accepted && !watchdog.patient(alpha)) return false;
        take(alpha, direction.dv, direction.dy, tau);
        return true;
    }

    // trial = v + alpha d, with objective and rows there.
    bool try_step(double alpha, const double* d) {
        for (int i = 0; i < program.size_v; i += W) store(trial + i, load(point.v + i) + alpha * load(d + i));
        logarithms = NAN;
        return point.evaluate(trial, f_trial, r_trial);
    }

    bool accept(double alpha) {
        const double violation = point.violation_of(r_trial);
        const double moved = exact && !watchdog.on && violation <= point.violation ? weighed(r_trial) : 0.0;
        logarithms = point.logarithms_at(trial);
        return acceptance.accept(alpha, violation, f_trial - point.mu * logarithms + moved, taken.kind);
    }

    // Second-order corrections of a rejected full step, for as long as each violates less than the one before;
    // the first is compared with the step itself: from a point far away one correction seldom does.
    bool correct(double alpha, double tau) {
        double previous = point.violation_of(r_trial);
        for (int i = 0; i < program.size_y; ++i) r_corrected[i] = alpha * point.r[i] + r_trial[i];
        for (int p = 0; p < CORRECTIONS; ++p) {
            direction.solve_again(r_corrected, dv_corrected, dy_corrected);
            const double step = largest_primal_step(program, dv_corrected, tau);
            if (!try_step(step, dv_corrected)) return false;
            const double violation = point.violation_of(r_trial);
            if (accept(alpha)) {
                taken.kind = 's';
                take(step, dv_corrected, dy_corrected, tau);
                return true;
            }
            if (violation > KAPPA_CORRECTION * previous) return false;
            previous = violation;
            for (int i = 0; i < program.size_y; ++i) r_corrected[i] = step * r_corrected[i] + r_trial[i];
        }
        return false;
    }

    // The trial point becomes the point.
    void take(double alpha, const double* d, const double* y_step, double tau) {
        const double alpha_dual = find_dual_steps(program, d, point.mu, tau);
        for (int i = 0; i < program.size_y; i += W) store(point.y + i, load(point.y + i) + alpha * load(y_step + i));
        std::swap(point.v, trial);
        std::swap(point.r, r_trial);
        point.f = f_trial;
        program.recentre(point.v);
        point.settle(logarithms);
        take_dual_steps(program, alpha_dual, point.mu);
        program.corrected = false;
        taken.alpha_primal = alpha;
        taken.alpha_dual = alpha_dual;
    }

    // Whether a step is so short, and the rows hold so well, that to compare its two ends is to compare rounding.
    bool rounded() const { return direction.is_within(NEARLY_TINY) && point.within_rounding(); }

    // A step within rounding of nothing is taken as it is, and asks for a smaller mu (Sec. 3.9).
    bool take_tiny_step(double alpha) {
        taken = {'t', 1, alpha, alpha};
        if (!try_step(alpha, direction.dv)) return false;
        if (tiny && point.mu <= settings.smallest_barrier()) return false;
        tiny = true;
        take(alpha, direction.dv, direction.dy, settings.boundary_fraction);
        return true;
    }

    Iterate& point;
    Direction& direction;
    const Settings& settings;
    Program& program;
    Arena arena;
    Acceptance acceptance;
    Watchdog watchdog;
    double f_trial = 0.0, logarithms = NAN;  // of the trial point; NaN: not known
    int given_up = 0, begun_anew = 0;        // times that no step was found, and that the filter was forgotten for it
    double restored = RESTORED;
    bool exact = false;  // whether the search compares Lagrangians
    double *trial, *r_trial, *dv_corrected, *dy_corrected, *r_corrected;
};

}  // namespace trisweep
