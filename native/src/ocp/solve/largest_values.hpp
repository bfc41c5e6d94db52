// Of every variable of a problem the largest value along the motion, found by any entry of z that is a value of it.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "packing.hpp"

namespace trisweep {

class LargestValues {
public:
    // `variables`: of every entry of z, as in `Structure`.
    LargestValues(const Packing& packing, const std::vector<int>& variables) : variables(variables) {
        if (variables.empty()) {
            this->variables.resize(packing.z.size());
            std::iota(this->variables.begin(), this->variables.end(), 0);
        }
        int count = 0;
        for (int variable : this->variables) count = std::max(count, variable + 1);
        of_variable.resize(std::size_t(count));
    }

    std::vector<double> of_variable;

    void clear(double to) { std::fill(of_variable.begin(), of_variable.end(), to); }

    // Of the variable that entry i of all stages' (u, x) is a value of.
    double& operator[](std::size_t i) { return of_variable[variable(i)]; }
    std::size_t variable(std::size_t i) const { return std::size_t(variables[i]); }

private:
    std::vector<int> variables;
};

}  // namespace trisweep
