// A circle: rows come near to holding and are left again for an objective that is to be had far off them alone. A filter takes
// both ends, as each is better in one of the two. Who has come near to the rows a second time goes far off them no more. In the
// funnel of Kiessling, Leyffer and Vanaret 2024 ("A unified funnel restoration SQP algorithm") the largest violation falls from the
// first step on; from a poor guess that is too early.
#pragma once

#include <algorithm>
#include <cmath>

namespace trisweep {

class Circle {
public:
    // From a point with this violation; `watches`: whether there is one at all.
    void start(double violation, bool watches) {
        one = std::max(1.0, violation);
        far = watches ? FAR * one : INFINITY;
        arrivals = 0;
    }

    // Whether a step between points with these violations goes round once more.
    bool closes(double from, double to) const { return arrivals >= MOST_ARRIVALS && to > std::max(from, far); }

    // That one was taken.
    void note(double from, double to) { arrivals += from > NEAR * one && to <= NEAR * one; }

private:
    static constexpr double NEAR = 0.1, FAR = 0.5;  // shares of the violation at the start
    static constexpr int MOST_ARRIVALS = 2;

    double one = 1.0, far = 0.0;  // that violation, and where it is far
    int arrivals = 0;             // near the rows
};

}  // namespace trisweep
