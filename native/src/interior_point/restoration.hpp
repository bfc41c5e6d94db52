// Restoration (Wächter and Biegler 2006, Sec. 3.3): where no step is acceptable, look for a point that violates the
// constraints less, by the same interior point on the elastic problem. If there is none nearby, the problem is infeasible here.
#pragma once

#include "ocp/elastic.hpp"
#include "interior_point.hpp"

namespace trisweep {

class Restoration {
public:
    explicit Restoration(OptimalControl& base) : base(base), elastic(base), inner(elastic) {
        arena.build([&](Arena& a) { rows = a.vector(base.size_y), place = a.vector(base.size_place); });
        inner.violation_factor = 1e8;  // it starts from a point whose rows p and n meet
        inner.restore = [this](InteriorPoint&) { return balance(); };
    }

    // Rounds of the elastic problem, each about the end of the last one and tied to it much less, until one of them reaches
    // a point that serves the outer problem, or does not make the violation any less: then it is least where that began.
    Status operator()(InteriorPoint& outer) {
        const double worst = largest_size(base.size_y, outer.r);
        if (worst <= outer.settings.tolerance) return Status::stalled;
        connect(outer);
        const int began = outer.iteration;
        double objective = 0.0;
        const auto good_enough = [&] {
            return inner.iteration > began + 1 && base.evaluate(inner.v, objective, rows) &&
                   outer.would_accept(inner.v, objective, rows);
        };
        inner.good_enough = std::cref(good_enough);
        inner.mu = std::max(outer.mu, worst);
        std::fill_n(inner.y, elastic.size_y, 0.0);
        double proximity = std::sqrt(inner.mu), least = INFINITY;
        for (int round = 0; round < ROUNDS; ++round, proximity *= LOOSER, inner.mu = LATER_MU) {
            inner.iteration = outer.iteration + 1;
            base.copy_place(place);
            elastic.start(outer.v, outer.r, inner.mu, proximity, round == 0, inner.v);
            const Status status = inner.run();
            take_times(outer);
            outer.iteration = inner.iteration;
            if (!base.evaluate(inner.v, objective, rows)) return Status::not_finite;
            const double violation = sum_of_sizes(base.size_y, rows);
            const bool ended = status == Status::solved || status == Status::not_minimal || status == Status::stalled;
            if (ended && violation > BETTER * least) return base.set_place(place), Status::infeasible;
            least = violation;
            std::copy_n(inner.v, base.size_v, outer.v);
            std::copy_n(rows, base.size_y, outer.r);
            outer.f = objective;
            if (status == Status::restored) return hand_over(outer);
            const bool converged = ended && (status != Status::stalled || inner.final_error() <= NEARLY);
            if (!converged) return status;
            if (largest_size(base.size_y, rows) <= outer.settings.acceptable_infeasibility) return Status::stalled;
        }
        return Status::stalled;
    }

private:
    static constexpr int ROUNDS = 10;
    static constexpr double LOOSER = 1e-3;   // the tie to the reference, from round to round
    static constexpr double LATER_MU = 1e-4; // where the later rounds start
    static constexpr double BETTER = 0.999;  // of the violation before: a round that has made it less
    static constexpr double TOLERANCE = 1e-6;  // of a round: enough to tell where the violation is least
    static constexpr double NEARLY = 1e-4;   // error at which a stalled round counts as a converged one

    void connect(InteriorPoint& outer) {
        inner.settings = outer.settings;
        inner.settings.adaptive = false;
        inner.settings.tolerance = std::max(outer.settings.tolerance, TOLERANCE);
        inner.deadline = outer.deadline;
        inner.interrupted = [&outer] { return outer.interrupted(); };
        inner.watch = [this, &outer](Record record) {
            record.objective = elastic.base_objective, record.infeasibility = elastic.base_infeasibility;
            record.kind = 'r';
            return outer.watch(record);
        };
    }

    // Where the elastic problem itself finds no step: leave the point, and meet its rows by p and n alone.
    Status balance() {
        if (largest_size(elastic.size_y, inner.r) <= inner.settings.tolerance) return Status::stalled;
        double objective;
        if (!base.evaluate(inner.v, objective, rows)) return Status::not_finite;
        elastic.balance(rows, inner.mu, inner.v);
        return elastic.evaluate(inner.v, inner.f, inner.r) ? Status::restored : Status::not_finite;
    }

    void take_times(InteriorPoint& outer) {
        outer.times.functions += inner.times.functions, outer.times.linear += inner.times.linear;
        outer.times.evaluations += inner.times.evaluations, outer.times.differentiations += inner.times.differentiations;
        outer.times.factorizations += inner.times.factorizations;
        inner.times = {};
    }

    Status hand_over(InteriorPoint& outer) {
        take_duals(elastic.lower, base.lower);
        take_duals(elastic.upper, base.upper);
        return outer.estimate_multipliers() ? Status::restored : Status::not_finite;
    }

    // The bounds of the base problem come first among those of the elastic one. Large multipliers start anew.
    static void take_duals(const Bounds& from, Bounds& to) {
        constexpr double LARGE = 1e3;
        double largest = 0.0;
        for (int i = 0; i < to.size; ++i) largest = std::max(largest, from.dual[i]);
        for (int i = 0; i < to.size; ++i) to.dual[i] = largest > LARGE ? to.there[i] : from.dual[i];
    }

    OptimalControl& base;
    Elastic elastic;
    InteriorPoint inner;
    Arena arena;
    double *rows, *place;  // of the base problem: at a point, and the coordinates that a round began in
};

}  // namespace trisweep
