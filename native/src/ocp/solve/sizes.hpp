// How large a variable is: 1, unless its guess and its limits say that it is much smaller or larger all along the motion. Rows, the
// objective and a delta are scaled as if it were a number of that size, and it starts as far inside its limits.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "packing.hpp"

namespace trisweep {

class Sizes {
public:
    // `variables`: of every entry of z, as in `Structure`.
    Sizes(OptimalControl& program, const Packing& packing, const std::vector<int>& variables)
        : program(program), packing(packing), variables(variables) {
        if (variables.empty()) {
            this->variables.resize(packing.z.size());
            std::iota(this->variables.begin(), this->variables.end(), 0);
        }
        int count = 0;
        for (int variable : this->variables) count = std::max(count, variable + 1);
        largest.resize(std::size_t(count));
    }

    // Of a guess v within these bounds. All count as 1 in a convex quadratic program, whose rule has no delta.
    void find(const double* v, const double* low, const double* high) {
        std::fill(largest.begin(), largest.end(), 0.0);
        for (std::size_t i = 0; !program.convex && i < packing.z.size(); ++i) {
            const int at = packing.z[i];
            const double limit = std::min(of_limit(low[at]), of_limit(high[at]));
            double& most = largest[std::size_t(variables[i])];
            most = std::max({most, std::fabs(v[at]), limit < LARGEST_LIMIT ? limit : 0.0});
        }
        program.set_sizes(packing.z, [&](std::size_t i) {
            const double size = largest[std::size_t(variables[i])];
            return size > 0.0 && (size < SMALL || size > LARGE) ? size : 1.0;
        });
    }

private:
    static constexpr double SMALL = 0.1, LARGE = 200.0;  // what is between is as good as 1
    static constexpr double LARGEST_LIMIT = 1e4;         // beyond it is none, by the numbers of who states it

    static double of_limit(double bound) { return bound == 0.0 ? INFINITY : std::fabs(bound); }

    OptimalControl& program;
    const Packing& packing;
    std::vector<int> variables;   // of every entry of z
    std::vector<double> largest;  // of every variable
};

}  // namespace trisweep
