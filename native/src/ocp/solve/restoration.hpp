// Restoration (Wächter and Biegler 2006, Sec. 3.3): where no step is acceptable, look for a point that violates the
// constraints less: by normal steps, and where these lead nowhere by the same interior point on the elastic problem. If there is none
// nearby, the problem is infeasible here.
#pragma once

#include <random>

#include "approach.hpp"
#include "interior_point/interior_point.hpp"
#include "ocp/program/elastic.hpp"

namespace trisweep {

class Restoration : private Supervisor {
public:
    Restoration(OptimalControl& base, InteriorPoint& outer, Supervisor& supervisor)
        : base(base),
          elastic(base),
          inner(elastic, *this, VIOLATION_FACTOR),
          outer(outer),
          supervisor(supervisor),
          approach(base, outer, supervisor) {
        arena.build([&](Arena& a) {
            rows = a.vector(base.size_y);
            step = a.vector(base.size_v);
            place = a.vector(base.size_place);
        });
    }

    // Where steps count, normal ones first. Then rounds of the elastic problem, each about the end of the last one and tied to it
    // much less, until one of them reaches a point that serves the outer problem, or one whose rows hold, or does not make the
    // violation any less: then it is least where that began, unless that is a saddle or a maximum of it, which is left, once.
    Status run() {
        const double worst = largest_size(base.size_y, outer.point.r);
        if (worst <= outer.settings.tolerance) return Status::stalled;
        connect();
        began = outer.iteration;
        for (int i = 0; i < base.size_v; ++i) step[i] = -outer.point.v[i];
        if (outer.settings.patience > 0) {
            const Status status = approach.run();
            if (status == Status::restored) return hand_over();
            if (status != Status::stalled) return status;
        }
        inner.point.mu = std::max(outer.point.mu, worst);
        std::fill_n(inner.point.y, elastic.size_y, 0.0);
        double proximity = std::sqrt(inner.point.mu), least = INFINITY;
        bool at_saddle = false, moved = false;
        for (int round = 0; round < ROUNDS; ++round) {
            base.copy_place(place);
            const Status status = run_round(proximity, round == 0);
            if (!evaluate_base()) return Status::not_finite;
            const double violation = sum_of_sizes(base.size_y, rows);
            const bool ended = status == Status::solved || status == Status::not_minimal || status == Status::stalled;
            at_saddle |= status == Status::not_minimal;
            if (ended && violation > BETTER * least) {
                base.set_place(place);
                if (at_saddle && !moved) {
                    moved = true;
                    move_off();
                    if (!outer.point.evaluate()) return Status::not_finite;
                    inner.point.mu = std::max(outer.point.mu, largest_size(base.size_y, outer.point.r));
                    proximity = std::sqrt(inner.point.mu), least = INFINITY;
                    continue;
                }
                testify();
                return Status::infeasible;
            }
            least = violation;
            take_point();
            if (status == Status::restored) return hand_over();
            if (!ended) return status;
            if (status == Status::stalled && !(inner.convergence.error(0.0) <= NEARLY)) return status;
            if (largest_size(base.size_y, rows) <= outer.settings.acceptable_infeasibility)
                return outer.search.begin_anew() ? hand_over() : Status::stalled;
            proximity *= LOOSER;
            inner.point.mu = std::max(outer.point.mu, largest_size(base.size_y, rows));
        }
        return Status::stalled;
    }

private:
    static constexpr double VIOLATION_FACTOR = 1e8;  // it starts from a point whose rows p and n meet
    static constexpr int ROUNDS = 10;
    static constexpr double LOOSER = 1e-3;     // the tie to the reference, from round to round
    static constexpr double BETTER = 0.999;    // of the violation before: a round that has made it less
    static constexpr double TOLERANCE = 1e-6;  // of a round: enough to tell where the violation is least
    static constexpr double ASIDE =
        0.01;  // of a variable's size, and half of the way to its bounds: most that it is moved by
    static constexpr double NEAR = 1e-2;    // violation of a row at which its multiplier can be told
    static constexpr double NEARLY = 1e-4;  // error at which a stalled round counts as a converged one

    // Every variable by a share of ASIDE of its own, the same every time.
    void move_off() {
        std::minstd_rand random;
        for (int i = 0; i < base.at_slack(); ++i) {
            if (!base.moves(i)) continue;
            const double share = 2.0 * double(random()) / double(std::minstd_rand::max()) - 1.0;
            double &v = outer.point.v[i], by = ASIDE * base.size[i] * share;
            if (base.lower.there[i] != 0.0) by = std::max(by, 0.5 * (base.lower.bound[i] - v));
            if (base.upper.there[i] != 0.0) by = std::min(by, 0.5 * (base.upper.bound[i] - v));
            v += by;
        }
    }

    void connect() {
        inner.settings = outer.settings;
        inner.settings.barrier = BarrierRule::monotone;
        inner.settings.tolerance = std::max(outer.settings.tolerance, TOLERANCE);
        inner.deadline = outer.deadline;
    }

    Status run_round(double proximity, bool first) {
        inner.iteration = outer.iteration + 1;
        elastic.start(outer.point.v, outer.point.r, inner.point.mu, proximity, first, inner.point.v);
        const Status status = inner.point.evaluate() ? inner.run() : Status::not_finite;
        outer.point.times.add(inner.point.times);
        inner.point.times = {};
        outer.iteration = inner.iteration;
        return status;
    }

    // Objective and rows of the base problem where the inner point is.
    bool evaluate_base() { return base.evaluate(inner.point.v, objective, rows); }

    void take_point() {
        std::copy_n(inner.point.v, base.size_v, outer.point.v);
        std::copy_n(rows, base.size_y, outer.point.r);
        outer.point.f = objective;
    }

    // The way here is a step of the outer problem like any other; that it ends is no iteration of its own. Far from the rows
    // the multipliers start from nothing: estimates would belong to slopes that are not met again, and bend the next step.
    Status hand_over() {
        --outer.iteration;
        for (int i = 0; i < base.size_v; ++i) step[i] += outer.point.v[i];
        take_duals();
        if (largest_size(base.size_y, outer.point.r) <= NEAR)
            return outer.direction.estimate_multipliers() ? Status::restored : Status::not_finite;
        std::fill_n(outer.point.y, base.size_y, 0.0);
        return Status::restored;
    }

    // The multipliers of the least violation are the weights with which rows and bounds contradict each other.
    void testify() {
        std::copy_n(inner.point.y, base.size_y, outer.point.y);
        std::copy_n(elastic.lower.dual, base.lower.size, base.lower.dual);
        std::copy_n(elastic.upper.dual, base.upper.size, base.upper.dual);
    }

    // The bounds' multipliers take the step that goes with it, from those that the outer problem had. Large ones start anew:
    // where steps count, from the centre; without haste from 1 (Wächter and Biegler 2006, Sec. 3.3.1), so that the two differ
    // in what they may miss.
    void take_duals() {
        constexpr double LARGE = 1e3;
        const double mu = outer.point.mu, tau = std::max(outer.settings.boundary_fraction, 1.0 - mu);
        const double alpha = find_dual_steps(base, step, mu, tau);
        double largest = 0.0;
        for (Bounds* b : {&base.lower, &base.upper})
            for (int i = 0; i < b->size; ++i) {
                b->dual[i] += alpha * b->step[i];
                largest = std::max(largest, b->dual[i] * base.size[i]);
            }
        base.refresh_gaps(outer.point.v);
        if (largest <= LARGE) return;
        if (outer.settings.patience > 0)
            set_central_duals(base, mu);
        else
            for (Bounds* b : {&base.lower, &base.upper})
                for (int i = 0; i < b->size; ++i) b->dual[i] = b->there[i] / base.size[i];
    }

    // --- for the inner problem

    bool watch(const Record& seen) override {
        Record record = seen;
        record.objective = elastic.base_objective;
        record.infeasibility = elastic.base_infeasibility;
        record.kind = 'r';
        return supervisor.watch(record);
    }

    bool interrupted() override { return supervisor.interrupted(); }

    bool good_enough() override {
        return inner.iteration > began + 1 && evaluate_base() &&
               outer.search.would_accept(inner.point.v, objective, rows);
    }

    // Where the elastic problem itself finds no step: leave the point, and meet its rows by p and n alone.
    Status restore() override {
        Iterate& point = inner.point;
        if (largest_size(elastic.size_y, point.r) <= inner.settings.tolerance) return Status::stalled;
        if (!evaluate_base()) return Status::not_finite;
        elastic.balance(rows, point.mu, point.v);
        return elastic.evaluate(point.v, point.f, point.r) ? Status::restored : Status::not_finite;
    }

    OptimalControl& base;
    Elastic elastic;
    InteriorPoint inner;
    InteriorPoint& outer;
    Supervisor& supervisor;  // of the outer one
    Approach approach;
    Arena arena;
    int began = 0;           // iteration of the outer one
    double objective = 0.0;  // of the base problem, at a point
    double* step;            // of v, from where a restoration began
    double *rows, *place;    // of the base problem: at a point, and the coordinates that a round began in
};

}  // namespace trisweep
