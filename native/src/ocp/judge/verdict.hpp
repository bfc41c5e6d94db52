// What is said of a point: the largest error of every KKT condition.
#pragma once

#include <algorithm>
#include <cmath>

namespace trisweep {

constexpr double LARGEST = 1e300;  // of all numbers that errors are compared with

// A maximum that keeps NaN.
inline void raise(double& most, double value) {
    if (!(value <= most)) most = std::isnan(most) ? most : value;
}

// Beside what has outgrown all numbers nothing is small.
inline double share(double part, double whole) { return whole > LARGEST ? INFINITY : part / whole; }

struct Conditions {
    double stationarity = 0.0, dynamics = 0.0, equalities = 0.0, inequalities = 0.0, bounds = 0.0,
           complementarity = 0.0;

    // NaN where one is.
    double worst() const {
        double most = 0.0;
        for (double each : {stationarity, dynamics, equalities, inequalities, bounds, complementarity})
            raise(most, each);
        return most;
    }
};

struct Verdict {
    double objective = 0.0;
    Conditions residual, relative;  // in the units of the statement; of the terms summed there

    // An error of a condition beside the size of its terms. Nothing is off by nothing, whatever its size.
    void note(double Conditions::* part, double error, double size) {
        raise(residual.*part, error);
        double& most = relative.*part;
        if (!(error <= most * std::min(size, LARGEST))) raise(most, error == 0.0 ? 0.0 : share(error, size));
    }

    // The same where the size is at least `least` and takes longer to find.
    template <class Size>
    void note(double Conditions::* part, double error, double least, const Size& size) {
        if (error <= relative.*part * std::min(least, LARGEST))
            raise(residual.*part, error);
        else
            note(part, error, size());
    }
};

}  // namespace trisweep
