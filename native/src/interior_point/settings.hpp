// Every choice of the interior point, one field and one line each. The letters are those of Wächter and Biegler 2006.
#pragma once

#include <stdexcept>

namespace trisweep {

struct Settings {
    double tolerance = 1e-8;                 // scaled KKT error of a solution
    double acceptable_infeasibility = 1e-6;  // violation, at its least, above which a problem is called infeasible
    int iterations = 500;                    // at most
    double seconds = 1e9;                    // at most
    double initial_barrier = 0.1;            // mu at the start
    double barrier_factor = 0.2;             // kappa_mu: linear decrease of mu
    double barrier_power = 1.5;              // theta_mu: superlinear decrease of mu
    double barrier_error = 10.0;             // kappa_epsilon: a barrier problem is solved to this times mu
    double boundary_fraction = 0.99;         // tau_min: share of the way to a bound that a step may go, at least
    double bound_push = 1e-2;                // kappa_1 = kappa_2: how far inside its bounds the start is moved
    bool adaptive = false;                   // choose mu from iteration to iteration
    int patience = 0;                        // short steps in a row before restoration; 0: where no step serves
    int threads = 1;                         // that evaluate the stages' functions
    bool warm_start = false;                 // take multipliers and barrier from the previous solution

    // Beyond these the loops of a solve would not end.
    void check() const {
        const bool good = tolerance > 0.0 && tolerance <= 1.0 && iterations >= 0 && iterations <= 1000000000 &&
                          seconds > 0.0 && initial_barrier > 0.0 && initial_barrier <= 1e10 && patience >= 0 &&
                          threads >= 1 && threads <= 256;
        if (!good) throw std::invalid_argument("settings: a value is out of its range");
    }

    double smallest_barrier() const { return tolerance / 10.0; }
};

}  // namespace trisweep
