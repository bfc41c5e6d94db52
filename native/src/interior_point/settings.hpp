// Every choice of the interior point, one field and one line each. The letters are those of Wächter and Biegler 2006.
#pragma once

#include <cmath>
#include <stdexcept>
#include <string>

namespace trisweep {

enum class BarrierRule : int;    // barrier/barrier_rules.hpp
enum class CurvatureRule : int;  // direction/curvature.hpp

struct Settings {
    double tolerance = 1e-8;                 // scaled KKT error of a solution
    double acceptable_infeasibility = 1e-6;  // violation, at its least, above which a problem is called infeasible
    int iterations = 1000;                   // at most
    double seconds = INFINITY;               // at most
    double initial_barrier = 0.1;            // mu at the start
    double barrier_factor = 0.2;             // kappa_mu: linear decrease of mu
    double barrier_power = 1.5;              // theta_mu: superlinear decrease of mu
    double barrier_error = 10.0;             // kappa_epsilon: a barrier problem is solved to this times mu
    double boundary_fraction = 0.99;         // tau_min: share of the way to a bound that a step may go, at least
    double bound_push = 1e-2;                // kappa_1 = kappa_2: how far inside its bounds the start is moved
    BarrierRule barrier{};                   // how mu falls
    CurvatureRule curvature{};               // how a Hessian that curves down is met
    int patience = 3;                        // short steps in a row before restoration; 0: where no step serves
    int threads = 1;                         // that evaluate the stages' functions
    bool warm_start = false;                 // take multipliers and barrier from the previous solution

    // Those that callers may set: name, field and limits, beyond which the loops of a solve would not end. Counts lie between
    // their limits, other numbers above the first.
    template <class Visit>
    static void each(const Visit& visit) {
        visit("tolerance", &Settings::tolerance, 0.0, 0.1);
        visit("iterations", &Settings::iterations, 0, 1000000000);
        visit("seconds", &Settings::seconds, 0.0, INFINITY);
        visit("initial_barrier", &Settings::initial_barrier, 0.0, 1e10);
        visit("barrier", &Settings::barrier);
        visit("curvature", &Settings::curvature);
        visit("patience", &Settings::patience, 0, 1000000000);
        visit("threads", &Settings::threads, 1, 256);
        visit("warm_start", &Settings::warm_start);
    }

    void check() const {
        each([this](const char* name, auto field, auto... limits) {
            if (!within(this->*field, limits...))
                throw std::invalid_argument(std::string("settings: ") + name + " is out of its range");
        });
    }

    double smallest_barrier() const { return tolerance / 10.0; }

private:
    template <class Choice>
    static bool within(Choice) {
        return true;
    }
    static bool within(double value, double least, double most) { return value > least && value <= most; }
    static bool within(int value, int least, int most) { return value >= least && value <= most; }
};

}  // namespace trisweep
