// The watchdog of Chamberlain, Powell, Lemarechal and Pedersen 1982, as IPOPT has it: after several iterations with short
// steps, a few full steps are taken on trial. If one of them is acceptable, seen from where they began, it stays; otherwise
// the search goes back there and shortens the first of them. Every time that happens it will take more steps on trial the
// next time.
#pragma once

#include <algorithm>

#include "interior_point/iterate.hpp"

namespace trisweep {

class Watchdog {
public:
    explicit Watchdog(const Program& program) : size_v(program.size_v), size_y(program.size_y) {
        arena.build([&](Arena& a) {
            for (double** vector : {&v, &dv, &lower, &upper}) *vector = a.vector(size_v);
            for (double** vector : {&y, &dy, &r}) *vector = a.vector(size_y);
            place = a.vector(program.size_place);
        });
    }

    bool on = false;
    double alpha = 0.0;  // the full step where it began

    void reset() {
        on = false;
        shortened = 0;
        trials = FEWEST_TRIALS;
    }

    // How many step lengths a search has tried.
    void note(int lengths) {
        if (lengths == 1) shortened = 0;
        if (lengths > 2) ++shortened;
    }

    bool due() const { return !on && shortened >= TRIGGER; }
    bool patient(double step) { return ++tried <= trials && step >= LEAST_STEP; }
    bool hopeless() const { return trials >= MOST_TRIALS; }

    // Keep the point, its multipliers, its direction and the length of a full step.
    void start(const Iterate& point, const double* dv_now, const double* dy_now, double full_step) {
        on = true;
        tried = 0;
        alpha = full_step;
        f = point.f;
        violation = point.violation;
        std::copy_n(point.v, size_v, v);
        std::copy_n(point.y, size_y, y);
        std::copy_n(point.r, size_y, r);
        std::copy_n(dv_now, size_v, dv);
        std::copy_n(dy_now, size_y, dy);
        const Program& program = point.program;
        std::copy_n(program.lower.dual, program.lower.size, lower);
        std::copy_n(program.upper.dual, program.upper.size, upper);
        program.copy_place(place);
    }

    void go_back(Iterate& point, double* dv_now, double* dy_now) {
        on = false;
        shortened = 0;
        trials = std::min(2 * trials, MOST_TRIALS);
        std::copy_n(v, size_v, point.v);
        std::copy_n(y, size_y, point.y);
        std::copy_n(r, size_y, point.r);
        std::copy_n(dv, size_v, dv_now);
        std::copy_n(dy, size_y, dy_now);
        Program& program = point.program;
        std::copy_n(lower, program.lower.size, program.lower.dual);
        std::copy_n(upper, program.upper.size, program.upper.dual);
        program.set_place(place);
        point.settle();
        point.f = f;
        point.violation = violation;
    }

private:
    static constexpr int TRIGGER = 10;                         // short steps before it starts
    static constexpr int FEWEST_TRIALS = 3, MOST_TRIALS = 24;  // full ones on trial
    static constexpr double LEAST_STEP = 1e-4;                 // to the next bound, which a trial is not worth

    Arena arena;
    const int size_v, size_y;
    int shortened = 0, tried = 0, trials = FEWEST_TRIALS;
    double f = 0.0, violation = 0.0;
    double *v, *dv, *y, *dy, *r, *lower, *upper, *place;
};

}  // namespace trisweep
