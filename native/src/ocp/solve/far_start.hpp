// Where a convex quadratic program starts whose rows are far off from the guess: what its variables are like is then told by the rows
// alone (Mehrotra 1992, "On the implementation of a primal-dual interior point method", Sec. 7).
//
//     dv   the least step to the rows;     w = f' + J'y   what of the slopes there no multipliers of rows can take
//     gaps     those after the step, moved by as much as the worst of them lacks; between two bounds inside of these
//     duals    mu / gap, mu the mean of the gaps times the mean of |w|
#pragma once

#include <algorithm>
#include <cmath>

#include "interior_point/interior_point.hpp"
#include "ocp/program/optimal_control.hpp"

namespace trisweep {

class FarStart {
public:
    explicit FarStart(OptimalControl& program) : program(program) {
        arena.build([this](Arena& a) {
            for (double** vector : {&there, &step, &sigma, &no_slope}) *vector = a.vector(this->program.size_v);
            for (double** vector : {&y, &no_rows}) *vector = a.vector(this->program.size_y);
        });
    }

    // Whether rows with these residuals are far off, and there are bounds that say nothing of how large a variable is.
    bool is_due(const double* r) const { return largest_size(program.size_y, r) > FAR && has_one_sided(); }

    // The point goes there, with its bounds' multipliers and mu; nowhere where the rows depend on each other. False where a number is
    // not finite.
    bool run(Iterate& point, double push, double narrow) {
        if (!point.differentiate()) return false;
        if (!factor()) return true;
        program.direction(no_slope, point.r, step, y);
        if (!all_finite(program.size_v, step)) return true;
        for (int i = 0; i < program.size_v; ++i) there[i] = point.v[i] + step[i];
        const double lacking = worst_gap();
        for (int i = 0; i < program.size_v; ++i)
            if (is_one_sided(i)) there[i] += (program.lower.there[i] - program.upper.there[i]) * SHIFT * lacking;
        push_inside(program, program.size, push, 0, there, narrow);
        std::copy_n(there, program.size_v, point.v);
        if (!point.evaluate() || !point.differentiate() || !factor()) return false;
        program.direction(program.gradient(), no_rows, step, y);
        program.refresh_gaps(point.v);
        const double mu = mean_gap() * mean_slope();
        if (!(mu > point.mu)) return true;
        point.mu = mu;
        set_central_duals(program, mu);
        return true;
    }

private:
    static constexpr double FAR = 300.0;  // of a scaled row
    static constexpr double SHIFT = 1.5;  // times what the worst gap lacks

    bool factor() {
        program.clear_hessian();
        for (int i = 0; i < program.size_v; i += W)
            store(sigma + i, 1.0 / (load(program.size + i) * load(program.size + i)));
        program.take_sigma(sigma);
        return program.factor(0.0, 0.0);
    }

    bool is_one_sided(int i) const { return program.lower.there[i] != program.upper.there[i]; }

    bool has_one_sided() const {
        for (int i = 0; i < program.size_v; ++i)
            if (is_one_sided(i)) return true;
        return false;
    }

    // By how much the worst one-sided bound is missed.
    double worst_gap() const {
        double worst = 0.0;
        for (const Bounds* b : {&program.lower, &program.upper})
            for (int i = 0; i < b->size; ++i)
                if (b->there[i] != 0.0 && is_one_sided(i)) worst = std::max(worst, b->sign * (b->bound[i] - there[i]));
        return worst;
    }

    double mean_gap() const {
        double sum = 0.0;
        for (const Bounds* b : {&program.lower, &program.upper})
            for (int i = 0; i < b->size; ++i) sum += b->there[i] * b->gap[i];
        return sum / std::max(1, bound_count(program));
    }

    // Of variables with bounds: the step is -w there, by the unit weights of its system.
    double mean_slope() const {
        double sum = 0.0;
        for (const Bounds* b : {&program.lower, &program.upper})
            for (int i = 0; i < b->size; ++i) sum += b->there[i] * std::fabs(step[i]);
        return sum / std::max(1, bound_count(program));
    }

    OptimalControl& program;
    Arena arena;
    double *there, *step, *sigma, *y;
    double *no_slope, *no_rows;  // zeros
};

}  // namespace trisweep
