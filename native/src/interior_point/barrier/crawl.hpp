// A crawl: a delta is needed again and again, and little of each direction is taken though the rows nearly hold. The objective
// still falls all the way, and mu, which fell before, keeps the steps short beside the limits: it was too early.
#pragma once

#include <cmath>

namespace trisweep {

class Crawl {
public:
    void start() { iterations = 0, left = false; }

    // The last step: its delta, the share of its direction, and the objective and by how much the rows miss after it.
    void note(double delta, double alpha, double objective, double infeasibility) {
        iterations = delta != 0.0 && alpha < SHORT && infeasibility < NEAR ? iterations + 1 : 0;
        if (iterations <= 1) began = objective;
        present = objective;
    }

    // Once.
    bool to_be_left() {
        if (left || iterations < MANY || !(began - present > FALLS * std::fabs(present))) return false;
        left = true;
        return true;
    }

private:
    static constexpr double SHORT = 0.5;   // share of a direction
    static constexpr double NEAR = 1e-2;   // violation of a row
    static constexpr double FALLS = 1e-3;  // share of the objective by which it does
    static constexpr int MANY = 6;

    int iterations = 0;                 // one after the other
    double began = 0.0, present = 0.0;  // objectives
    bool left = false;
};

}  // namespace trisweep
