// The point at which an interior point stands: variables and multipliers, and what is known of the program there.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "interior_point/barrier/barrier.hpp"
#include "record.hpp"

namespace trisweep {

class Iterate {
public:
    explicit Iterate(Program& program) : program(program) {
        arena.build([this](Arena& a) {
            v = a.vector(this->program.size_v);
            y = a.vector(this->program.size_y);
            r = a.vector(this->program.size_y);
        });
    }

    Program& program;
    double *v, *y, *r;       // variables, multipliers of the rows, and the rows' values
    double f = 0.0;          // objective
    double mu = 0.0;         // barrier
    double violation = 0.0;  // of the rows, as `violation_of` has it
    Times times;

    // f and r at v, or at another point. False where a number is not finite.
    bool evaluate() { return evaluate(v, f, r); }
    bool evaluate(const double* other, double& objective, double* rows) {
        Stopwatch watch(times.functions);
        ++times.evaluations;
        return program.evaluate(other, objective, rows);
    }

    bool differentiate() {
        Stopwatch watch(times.functions);
        ++times.differentiations;
        return program.differentiate(v, y);
    }

    bool damp(double share) {
        Stopwatch watch(times.functions);
        return program.damp(v, share);
    }

    // A search begins here.
    void start() {
        rounding = std::max(10.0 * std::numeric_limits<double>::epsilon() * program.row_terms(v), LEAST_ROUNDING);
        settle();
    }

    // v, f and r are new: so are the gaps and the violation. `known`: the sum of the gaps' logarithms, where v has not gone to
    // other coordinates since.
    void settle(double known = NAN) {
        program.refresh_gaps(v);
        violation = violation_of(r);
        logarithms = program.size_place ? NAN : known;
    }

    // f is scaled by this factor from now on, and all that is in its units.
    void scale_cost(double factor) {
        program.scale_cost(factor);
        f *= factor, mu *= factor;
        for (int i = 0; i < program.size_y; i += W) store(y + i, factor * load(y + i));
        for (Bounds* b : {&program.lower, &program.upper})
            for (int i = 0; i < b->size; i += W) store(b->dual + i, factor * load(b->dual + i));
    }

    // The violation of the constraints; what is within rounding counts as the same small number, so that no step is turned
    // down for the last digit of a residual.
    double violation_of(const double* rows) const { return std::max(rounding, sum_of_sizes(program.size_y, rows)); }

    bool within_rounding() const { return violation <= rounding; }

    // The sum of the logarithms of all gaps.
    double logarithms_at(const double* other) const {
        return sum_of_logarithms(program.lower, other) + sum_of_logarithms(program.upper, other);
    }

    double barrier_objective() {
        if (std::isnan(logarithms)) logarithms = logarithms_at(v);
        return f - mu * logarithms;
    }
    double barrier_objective(const double* other, double objective) const {
        return objective - mu * logarithms_at(other);
    }

private:
    static constexpr double LEAST_ROUNDING = 1e-30;  // of rows without terms

    Arena arena;
    double rounding = 0.0;    // of the sum of the rows
    double logarithms = NAN;  // at v; NaN: not known
};

}  // namespace trisweep
