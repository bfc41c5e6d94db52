// The primal-dual interior point with a filter line search of Wächter and Biegler 2006 ("On the implementation of an
// interior-point filter line-search algorithm for large-scale nonlinear programming", Math. Program. 106), on any `Program`.
// Equation numbers are that paper's.
#pragma once

#include <algorithm>
#include <cmath>

#include "convergence.hpp"
#include "interior_point/barrier/barrier_rules.hpp"
#include "interior_point/barrier/retreat.hpp"
#include "interior_point/direction/direction.hpp"
#include "interior_point/direction/predictor_corrector.hpp"
#include "interior_point/line_search/jam.hpp"
#include "interior_point/line_search/line_search.hpp"
#include "settings.hpp"
#include "supervisor.hpp"

namespace trisweep {

class InteriorPoint {
public:
    // `violation_factor`: of the violation at the start; no step may lead beyond.
    InteriorPoint(Program& program, Supervisor& supervisor, double violation_factor = 1e4)
        : point(program),
          convergence(point),
          direction(point),
          search(point, direction, settings),
          predictor_corrector(point, settings),
          mu(point, convergence, direction, search, settings),
          program(program),
          supervisor(supervisor),
          violation_factor(violation_factor) {}

    Settings settings;
    Stopwatch::clock::time_point deadline = Stopwatch::clock::time_point::max();
    bool hurries = true;  // whether no iteration is begun that would end too late; else there is at least one
    int iteration = 0;
    Iterate point;
    Convergence convergence;
    Direction direction;
    LineSearch search;
    PredictorCorrector predictor_corrector;
    Mu mu;

    // The shortest that any iteration took.
    Stopwatch::clock::duration quickest = Stopwatch::clock::duration::max();

    // Whether what takes so long would end too late.
    bool too_late(Stopwatch::clock::time_point now, Stopwatch::clock::duration expected) const {
        return now > deadline || (expected != Stopwatch::clock::duration::max() && deadline - now < expected);
    }

    // From the point, its multipliers, the duals of the bounds and mu: to a solution. Its f and r are known.
    Status run() {
        start();
        if (!point.differentiate()) return Status::not_finite;
        for (;; ++iteration) {
            if (!measure()) return Status::not_finite;
            const bool asked_to_end = supervisor.watch(record());
            if (converged() || supervisor.confirmed())
                return program.convex ? Status::solved : direction.judge_curvature();
            if (largest_size(program.size_v, point.v) > farthest) return Status::unbounded;
            if (supervisor.good_enough()) return Status::restored;
            if (iteration >= settings.iterations) return Status::iteration_limit;
            if (out_of_time()) return Status::time_limit;
            if (asked_to_end || supervisor.interrupted()) return Status::interrupted;
            if (!predict_and_correct()) {
                if (!follow_cost()) return Status::not_finite;
                mu.update();
                const bool found = find_direction();
                if (!found && search.on_trial()) search.retreat();
                if (!found || jammed() || !search.run()) {
                    const Status status = restore();
                    if (status != Status::restored) return status;
                } else {
                    const double alpha = search.taken.alpha_primal;
                    jam.note(alpha, direction.length(), direction.delta());
                    direction.note(alpha, convergence.infeasibility, search.taken.trials > 1);
                }
            }
            if (!predictor_corrector.carries() && !differentiate()) return Status::not_finite;
        }
    }

    // From a solution that `run` has found: its rows once more, by the factors that the look at its curvature left. Newton's last
    // step leaves them off by about its square. Costs a solve and an evaluation, as corrections within a search do.
    bool correct_rows() { return direction.solve_there(convergence.residual) && search.correct_rows(); }

private:
    static constexpr double DIVERGED = 1e15;  // times the largest entry at the start, or 1: on its way to infinity
    static constexpr double NEARLY = 1e-2;    // error from which on the cost is about what it will be
    static constexpr double NOTICED = 3.0;    // factor of it

    void start() {
        began = {};
        farthest = DIVERGED * std::max(1.0, largest_size(program.size_v, point.v));
        point.start();
        direction.start();
        search.start(violation_factor);
        predictor_corrector.start();
        retreat.start(settings.warm_start && iteration == 0 && bound_count(program) > 0);
        if (retreat.possible()) predictor_corrector.on = false;
        jam.reset();
        mu.start();
        followed = false;
    }

    // Whether an iteration like the last one would end too late; of the first, one like the quickest that there was.
    bool out_of_time() {
        const auto now = Stopwatch::clock::now();
        auto expected = quickest;
        const bool first = began == Stopwatch::clock::time_point();
        if (!first) {
            expected = now - began;
            quickest = std::min(quickest, expected);
        }
        began = now;
        return !(first && !hurries) && too_late(now, expected);
    }

    // Steps on trial are the watchdog's, which ends them itself.
    bool jammed() const { return !search.on_trial() && jam.reached(settings.patience, convergence.infeasibility); }

    Record record() const {
        return {iteration,
                point.f,
                convergence.infeasibility,
                convergence.dual_infeasibility,
                convergence.complementarity,
                point.mu,
                largest_size(program.size_v, direction.dv),
                direction.delta(),
                search.taken.alpha_primal,
                search.taken.alpha_dual,
                search.taken.trials,
                search.taken.kind};
    }

    // The error at the point. Where the residuals there are known from the last step alone, and would end the search, from the
    // functions.
    bool measure() {
        if (predictor_corrector.carries()) {
            convergence.carry(1.0 - predictor_corrector.alpha);
            if (convergence.error(0.0) > settings.tolerance) return true;
            if (!renew()) return false;
        }
        convergence.measure();
        return true;
    }

    bool converged() const {
        return convergence.error(0.0) <= settings.tolerance &&
               !(convergence.complementarity > settings.tolerance && predictor_corrector.falls_fast());
    }

    // Functions and derivatives where the residuals were carried along.
    bool renew() {
        predictor_corrector.carry_no_more();
        if (!point.evaluate() || !point.differentiate()) return false;
        point.settle();
        return true;
    }

    // A step by the rule of convex quadratic programs. Where that gives up, the filter takes over from the same point.
    bool predict_and_correct() {
        if (!predictor_corrector.on) return false;
        predictor_corrector.may_carry = convergence.forgiving;
        if (predictor_corrector.step(convergence.residual, direction.dv, direction.dy)) {
            search.taken = {'p', 1, predictor_corrector.alpha, predictor_corrector.alpha};
            return true;
        }
        mu.hold();
        if (renew()) convergence.measure();
        return false;
    }

    // Near the end of a run, once: an f that was scaled down for the slopes of a poor guess is scaled up again, as far as its value
    // and its statement allow. Else mu and the error would be small too early. False where a number is not finite.
    bool follow_cost() {
        if (followed || program.convex || convergence.error(0.0) > NEARLY) return true;
        followed = true;
        const double factor = 1.0 / std::max(program.cost_scale(), std::fabs(point.f));
        if (!(factor >= NOTICED)) return true;
        point.scale_cost(factor);
        direction.scale_cost(factor);
        mu.scale_cost(factor);
        if (!point.differentiate()) return false;
        convergence.measure();
        return true;
    }

    bool find_direction() {
        program.corrected = false;
        direction.linearize(convergence.residual, mu.free ? 0.0 : point.mu);
        if (!direction.factor(settings.curvature)) return false;
        if (mu.free) {
            direction.look();
            mu.probe();
            direction.linearize(convergence.residual, point.mu);
        }
        if (!direction.solve_and_refine(mu.free)) return false;
        return !retreat.asked_for(program, direction.dv, point.mu, settings.boundary_fraction) ||
               (step_back() && find_direction());
    }

    // Of a warm start that is too near its bounds.
    bool step_back() {
        const double further = Retreat::barrier(program, direction.dv, direction.gain(), point.mu);
        Retreat::run(program, further, point.v);
        if (!point.evaluate() || !point.differentiate()) return false;
        point.settle();
        if (!program.convex && !(direction.estimate_multipliers(true) && point.differentiate())) return false;
        convergence.measure();
        search.start(violation_factor);
        predictor_corrector.start();
        mu.limit();
        mu.set(further);
        return true;
    }

    Status restore() {
        program.corrected = false;
        search.give_up();
        const Status status = supervisor.restore();
        if (status != Status::restored) return status;
        search.taken = {'r', 0, 0.0, 0.0};
        direction.note(0.0, convergence.infeasibility, false);
        point.settle();
        jam.reset();
        return status;
    }

    // At the point; where that is not finite after steps on trial, at the one where they began.
    bool differentiate() {
        if (point.differentiate()) return true;
        if (!search.on_trial()) return false;
        search.retreat();
        return point.differentiate();
    }

    Program& program;
    Supervisor& supervisor;
    const double violation_factor;
    Jam jam;
    Retreat retreat;
    double farthest = DIVERGED;          // that a point may be
    bool followed = false;               // the cost, by its scale
    Stopwatch::clock::time_point began;  // the present iteration
};

}  // namespace trisweep
