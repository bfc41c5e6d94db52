// Restoration (Wächter and Biegler 2006, Sec. 3.3): where no step is acceptable, look for a point that violates the
// constraints less, by the same interior point on the elastic problem. If there is none nearby, the problem is infeasible here.
#pragma once

#include "elastic.hpp"
#include "interior_point.hpp"

namespace trisweep {

class Restoration {
public:
    explicit Restoration(OptimalControl& base) : base(base), elastic(base), inner(elastic) {
        arena.build([&](Arena& a) { rows = a.vector(base.size_y); });
    }

    Status operator()(InteriorPoint& outer) {
        if (largest_entry(base.size_y, outer.r) <= outer.settings.tolerance) return Status::stalled;
        inner.settings = outer.settings;
        inner.iteration = outer.iteration + 1;
        inner.deadline = outer.deadline;
        inner.interrupted = [&outer] { return outer.interrupted(); };
        inner.watch = [this, &outer](Record record) {
            record.objective = elastic.base_objective, record.infeasibility = elastic.base_infeasibility;
            record.kind = 'r';
            return outer.watch(record);
        };
        inner.mu = std::max(outer.mu, largest_entry(base.size_y, outer.r));
        elastic.start(outer.v, outer.r, inner.mu, inner.v);
        std::fill_n(inner.y, elastic.size_y, 0.0);
        double objective = 0.0;
        const auto good_enough = [&] {
            return inner.iteration > outer.iteration + 1 && base.evaluate(inner.v, objective, rows) &&
                   outer.would_accept(inner.v, objective, rows);
        };
        inner.good_enough = std::cref(good_enough);
        const Status status = inner.run();
        outer.iteration = inner.iteration;
        outer.times.functions += inner.times.functions, outer.times.linear += inner.times.linear;
        outer.times.evaluations += inner.times.evaluations, outer.times.differentiations += inner.times.differentiations;
        outer.times.factorizations += inner.times.factorizations;
        inner.times = {};
        if (!base.evaluate(inner.v, objective, rows)) return Status::not_finite;
        std::copy_n(inner.v, base.size_v, outer.v);
        std::copy_n(rows, base.size_y, outer.r);
        outer.f = objective;
        if (status == Status::solved || status == Status::stalled || status == Status::not_minimal)
            return largest_entry(base.size_y, rows) > outer.settings.acceptable_infeasibility ? Status::infeasible : Status::stalled;
        if (status != Status::restored) return status;
        take_duals(elastic.lower, base.lower);
        take_duals(elastic.upper, base.upper);
        return outer.estimate_multipliers() ? Status::restored : Status::not_finite;
    }

private:
    // The bounds of the base problem come first among those of the elastic one. Large multipliers start anew.
    static void take_duals(const Bounds& from, Bounds& to) {
        constexpr double LARGE = 1e3;
        double largest = 0.0;
        for (int i = 0; i < to.count; ++i) largest = std::max(largest, from.dual[i]);
        for (int i = 0; i < to.count; ++i) to.dual[i] = largest > LARGE ? 1.0 : from.dual[i];
    }

    OptimalControl& base;
    Elastic elastic;
    InteriorPoint inner;
    Arena arena;
    double* rows;
};

}  // namespace trisweep
