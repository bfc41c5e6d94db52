// The inertia correction of Wächter and Biegler 2006, Sec. 3.1: the least delta, by trial, that makes the reduced Hessian
// positive definite; the sweep's own Cholesky is the test.
#pragma once

#include <algorithm>

#include "program.hpp"

namespace trisweep {

class Regularization {
public:
    double delta = 0.0;  // of the last factorization

    bool factor(Program& program) {
        delta = 0.0;
        return program.factor(0.0) || increase(program);
    }

    // The next larger delta that serves.
    bool increase(Program& program) {
        do {
            delta = delta == 0.0 ? (last == 0.0 ? FIRST : std::max(SMALLEST, DECREASE * last))
                                 : delta * (last == 0.0 ? FIRST_INCREASE : INCREASE);
            if (delta > LARGEST) return false;
        } while (!program.factor(delta));
        last = delta;
        return true;
    }

private:
    static constexpr double FIRST = 1e-4, SMALLEST = 1e-20, LARGEST = 1e40;
    static constexpr double FIRST_INCREASE = 100.0, INCREASE = 8.0, DECREASE = 1.0 / 3.0;
    double last = 0.0;
};

}  // namespace trisweep
