// A jam: several steps in a row so short that the search gets nowhere, while the rows do not hold. The linearised rows then
// ask for more than is true nearby; each such step makes the multipliers grow, and with them the curvature that the next one
// is cut short by. Restoration, which is tied to where it starts, gets out of it in a few iterations; the search alone would
// come to the same end by a step that no length makes acceptable, only later. Short steps whose directions become shorter without
// a delta are on their own way out.
#pragma once

namespace trisweep {

class Jam {
public:
    void reset() { short_steps = 0, last_length = 0.0; }

    // The share of its direction that a step took, how long that was, and the delta that shortened it.
    void note(double alpha, double length, double delta) {
        const bool gains = delta == 0.0 && length < SHORTER * last_length;
        if (alpha >= SHORT)
            short_steps = 0;
        else if (!gains)
            ++short_steps;
        last_length = length;
    }

    // Whether it is time for restoration; `patience` 0: never.
    bool reached(int patience, double infeasibility) const {
        return patience > 0 && short_steps >= patience && infeasibility > HOLDS;
    }

private:
    static constexpr double SHORT = 0.1;     // share of a direction
    static constexpr double SHORTER = 0.75;  // of the direction before
    static constexpr double HOLDS = 1e-4;    // violation below which short steps have other reasons

    int short_steps = 0;
    double last_length = 0.0;
};

}  // namespace trisweep
