// The inertia correction of Wächter and Biegler 2006, Sec. 3.1: the least delta, by trial, that makes the reduced Hessian
// positive definite; the sweep's own Cholesky is the test. Where the rows depend on each other, delta_c lets them be missed.
// `eager`: where whole steps from rows that hold show that the Hessian is right, delta falls faster and faster, as one that is too
// small costs a factorization, and one that is too large an iteration. Elsewhere the steps would outgrow what rows allow.
#pragma once

#include <algorithm>
#include <cmath>

#include "interior_point/program.hpp"

namespace trisweep {

class Regularization {
public:
    double delta = 0.0;    // of the last factorization
    double delta_c = 0.0;  // likewise
    bool eager = false;

    void clear() { delta = delta_c = 0.0; }

    bool factor(Program& program) {
        clear();
        return program.factor(0.0, 0.0) || increase(program);
    }

    // For a system that is as good as singular: first as if the rows were at fault, then the Hessian. Where no delta serves they
    // are: rows that nearly depend on each other let the sweep's numbers grow.
    bool strengthen(Program& program, double mu) {
        if (delta_c > 0.0) return increase(program);
        if (delta > LARGEST) delta = 0.0;
        return soften(program, mu) || increase(program);
    }

    // The same delta where rows may be missed by a little. Whatever serves there serves the rows as they are, too: along what
    // they leave open both are the same. Only the sweep's numbers do not grow as they may where few controls meet many rows.
    bool soften(Program& program, double mu) {
        delta_c = 1e-8 * std::pow(mu, 0.25);
        return program.factor(delta, delta_c);
    }

    // The share of its direction that a step took, and the rows' violation where it began.
    void note(double alpha, double infeasibility) {
        if (alpha < 1.0 || infeasibility > HOLDS) right = 0;
    }

    // f is scaled by this factor from now on: so is curvature.
    void scale_cost(double factor) { delta *= factor, last *= factor; }

    // The next larger delta that serves.
    bool increase(Program& program) {
        int tried = 0;
        do {
            delta = delta == 0.0 ? (last == 0.0 ? FIRST : std::max(SMALLEST, decrease() * last))
                                 : delta * (last == 0.0 ? FIRST_INCREASE : INCREASE);
            if (delta > LARGEST) return false;
            ++tried;
        } while (!program.factor(delta, delta_c));
        last = delta;
        right = tried == 1 ? right + 1 : 0;
        return true;
    }

private:
    static constexpr double FIRST = 1e-4, SMALLEST = 1e-20, LARGEST = 1e40;
    static constexpr double FIRST_INCREASE = 100.0, INCREASE = 8.0, DECREASE = 1.0 / 3.0;
    static constexpr int MOST_POWERS = 5;  // of DECREASE, at once
    static constexpr double HOLDS = 1e-6;  // violation below which rows do

    double decrease() const { return eager ? std::pow(DECREASE, std::min(1 + right, MOST_POWERS)) : DECREASE; }

    double last = 0.0;
    int right = 0;  // deltas, one after the other, that served at once and led to such a step
};

}  // namespace trisweep
