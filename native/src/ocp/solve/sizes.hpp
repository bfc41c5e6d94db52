// How large a variable is. States and controls are given in some unit, found by their limits or, where there are none, by their guess:
// a power of 100, so that what people write down in units that suit them counts as it stands. Seconds and radians are what they are.
// A variable is as large as its unit, unless its guess and its limits say that it is much smaller or larger all along the motion.
// Rows, the objective, a delta and errors are scaled as if it were a number of that size, and it starts as far inside its limits.
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "kernels/unit.hpp"
#include "largest_values.hpp"

namespace trisweep {

class Sizes {
public:
    // `variables`: of every entry of z; `standard`: those of them that are seconds, and radians.
    Sizes(OptimalControl& program, const Packing& packing, const std::vector<int>& variables,
          std::initializer_list<const std::vector<int>*> standard)
        : program(program), packing(packing), largest(packing, variables), limits(packing, variables) {
        is_standard.resize(largest.of_variable.size());
        for (const std::vector<int>* kind : standard)
            for (int variable : *kind) is_standard[std::size_t(variable)] = true;
        known.reserve(is_standard.size());
    }

    // Of a guess v within these bounds. All are as large as their units in a convex quadratic program, whose rule has no delta.
    void find(const double* v, const double* low, const double* high) {
        const double common = find_unit(v, low, high);
        const auto unit = [&](std::size_t i) { return is_standard[largest.variable(i)] ? 1.0 : common; };
        largest.clear(0.0);
        for (std::size_t i = 0; !program.convex && i < packing.z.size(); ++i) {
            const int at = packing.z[i];
            const double limit = std::min(of_limit(low[at]), of_limit(high[at]));
            largest[i] = std::max({largest[i], std::fabs(v[at]), limit < LARGEST_LIMIT * unit(i) ? limit : 0.0});
        }
        program.set_sizes(packing.z, unit, [&](std::size_t i) {
            const double size = largest[i] / unit(i);
            const bool counts = size > ROUNDING && (size < SMALL || size > LARGE);
            return unit(i) * (counts ? std::min(size, MOST) : 1.0);
        });
    }

private:
    static constexpr double SMALL = 0.1, LARGE = 200.0;     // of a unit; what is between is as good as it
    static constexpr double LARGEST_LIMIT = 1e4;            // beyond it is none, by the numbers of who states it
    static constexpr double ROUNDING = 1e-12, MOST = 1e12;  // a guess that says nothing of a size, and a size
    static constexpr double NO_LIMIT = 1e9;                 // beyond which nobody means one, in any unit
    // Limits and guesses that are natural to write down, from this one to 100 times it, and the share of all that is below.
    static constexpr double LEAST_OF_LIMITS = 0.22, LEAST_OF_GUESSES = 0.09, TYPICAL = 0.25;
    // The ratio of the largest and the smallest in one unit, but for a share of both.
    static constexpr double FAR_APART = 1e4, FEW = 0.1;

    static double of_limit(double bound) { return bound == 0.0 ? INFINITY : std::fabs(bound); }

    // Of states and controls.
    double find_unit(const double* v, const double* low, const double* high) {
        largest.clear(0.0), limits.clear(0.0);
        for (std::size_t i = 0; i < packing.z.size(); ++i) {
            const int at = packing.z[i];
            largest[i] = std::max(largest[i], std::fabs(v[at]));
            const double range = std::max(std::fabs(low[at]), std::fabs(high[at]));
            if (range < NO_LIMIT) limits[i] = std::max(limits[i], range);
        }
        keep_known(limits.of_variable);
        if (!known.empty()) return common_unit(LEAST_OF_LIMITS);
        keep_known(largest.of_variable);
        return known.empty() ? 1.0 : common_unit(LEAST_OF_GUESSES);
    }

    // Values of states and controls that are not zero.
    void keep_known(const std::vector<double>& values) {
        known.clear();
        for (std::size_t i = 0; i < values.size(); ++i)
            if (values[i] > 0.0 && !is_standard[i]) known.push_back(values[i]);
    }

    // Where they are too far apart to be given in one, each counts as it stands.
    double common_unit(double least) {
        const double low = quantile(known, FEW), high = quantile(known, 1.0 - FEW);
        return high > FAR_APART * low ? 1.0 : unit_of(quantile(known, TYPICAL), least);
    }

    OptimalControl& program;
    const Packing& packing;
    LargestValues largest, limits;
    std::vector<char> is_standard;  // of every variable
    std::vector<double> known;
};

}  // namespace trisweep
