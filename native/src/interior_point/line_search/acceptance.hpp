// Which trial points of a search are progress (Wächter and Biegler 2006, Sec. 2.3): Armijo's condition where the objective
// should fall, otherwise less violation or less objective, and always the filter. Equation numbers are that paper's.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "circle.hpp"
#include "filter.hpp"

namespace trisweep {

class Acceptance {
public:
    explicit Acceptance(std::size_t filter_room) : filter(filter_room) {}

    // What trial points are compared with: where the search, or the watchdog, started.
    struct Reference {
        double violation = 0.0, objective = 0.0, slope = 0.0;
    };
    Reference reference;

    // From a point with this violation; no step may lead beyond `factor` times it, nor, if `watches`, round in a circle.
    void start(double violation, double factor, bool watches) {
        least_violation = 1e-4 * std::max(1.0, violation);
        most_violation = factor * std::max(1.0, violation);
        circle.start(violation, watches);
        forget();
    }

    // For another barrier problem.
    void forget() {
        filter.reset(most_violation);
        resets = rejections = 0;
        rejected = false;
    }

    // A filter that several times running had the last word on a step may be too strict: it starts anew, a few times.
    // Comes before each search.
    void loosen() {
        rejections = rejected ? rejections + 1 : 0;
        rejected = false;
        if (rejections < REJECTIONS || resets >= RESETS) return;
        ++resets;
        filter.reset(most_violation);
    }

    // Whether to take a step of length alpha to this violation and barrier objective. `kind`: by Armijo (f) or not (h).
    bool accept(double alpha, double violation, double objective, char& kind) {
        rejected = false;
        if (!(std::fabs(objective) <= 1e300)) return false;
        const double slack = 10.0 * std::numeric_limits<double>::epsilon() * std::fabs(reference.objective);
        const double gain = reference.objective + slack - objective;
        const bool armijo = -gain <= ETA * alpha * reference.slope;
        const bool descend = reference.violation <= least_violation && switching(alpha);
        kind = descend ? 'f' : 'h';
        const bool progress =
            violation <= (1.0 - GAMMA_VIOLATION) * reference.violation || gain >= GAMMA_OBJECTIVE * reference.violation;
        if (!(descend ? armijo : progress) || circle.closes(reference.violation, violation)) return false;
        rejected = !filter.accepts(violation, objective - slack);
        if (rejected) return false;
        if (!switching(alpha) || !armijo) guard();
        circle.note(reference.violation, violation);
        return true;
    }

    // The filter takes in the point that the search started from.
    void guard() {
        filter.add((1.0 - GAMMA_VIOLATION) * reference.violation,
                   reference.objective - GAMMA_OBJECTIVE * reference.violation);
    }

    bool passes_filter(double violation, double objective) const { return filter.accepts(violation, objective); }

    // The step (23) at which a search gives up.
    double smallest_step() const {
        double bound = GAMMA_VIOLATION;
        if (reference.slope < 0.0) {
            bound = std::min(bound, GAMMA_OBJECTIVE * reference.violation / -reference.slope);
            if (reference.violation <= least_violation)
                bound = std::min(bound, DELTA * std::pow(reference.violation, S_VIOLATION) /
                                            std::pow(-reference.slope, S_OBJECTIVE));
        }
        return std::max(GAMMA_ALPHA * bound, LEAST_STEP);
    }

private:
    static constexpr double GAMMA_VIOLATION = 1e-5, GAMMA_OBJECTIVE = 1e-8;     // sufficient progress (18)
    static constexpr double S_OBJECTIVE = 2.3, S_VIOLATION = 1.1, DELTA = 1.0;  // switching (19)
    static constexpr double ETA = 1e-8;                                         // Armijo (20)
    static constexpr double GAMMA_ALPHA = 0.05;                                 // smallest step (23)
    static constexpr double LEAST_STEP = 1e-16;                                 // that moves anything
    static constexpr int REJECTIONS = 5, RESETS = 5;

    bool switching(double alpha) const {
        return reference.slope < 0.0 &&
               alpha * std::pow(-reference.slope, S_OBJECTIVE) > DELTA * std::pow(reference.violation, S_VIOLATION);
    }

    Filter filter;
    Circle circle;
    double least_violation = 0.0, most_violation = 0.0;
    bool rejected = false;  // the last trial point, by the filter
    int resets = 0, rejections = 0;
};

}  // namespace trisweep
