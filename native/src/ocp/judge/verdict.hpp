// What is said of a point: the largest error of every KKT condition.
#pragma once

#include <cmath>

namespace trisweep {

struct Conditions {
    double stationarity = 0.0, dynamics = 0.0, equalities = 0.0, inequalities = 0.0, bounds = 0.0,
           complementarity = 0.0;

    // NaN where one is.
    double worst() const {
        double most = 0.0;
        for (double each : {stationarity, dynamics, equalities, inequalities, bounds, complementarity})
            if (!(each <= most)) most = std::isnan(most) ? most : each;
        return most;
    }
};

struct Verdict {
    double objective = 0.0;
    Conditions residual, relative;  // in the units of the statement; of the terms summed there
};

}  // namespace trisweep
