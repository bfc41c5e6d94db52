// The watchdog of Chamberlain, Powell, Lemarechal and Pedersen 1982, as IPOPT has it: after several iterations with short
// steps, a few full steps are taken on trial. If one of them is acceptable, seen from where they began, it stays; otherwise
// the search goes back there and shortens the first of them. Every time that happens it will take more steps on trial the
// next time.
#pragma once

#include <algorithm>

#include "program.hpp"

namespace trisweep {

class Watchdog {
public:
    static constexpr int TRIGGER = 10;                       // short steps before it starts
    static constexpr int FEWEST_TRIALS = 3, MOST_TRIALS = 24;  // full ones on trial
    static constexpr double LEAST_STEP = 1e-4;                 // to the next bound, which a trial is not worth

    explicit Watchdog(const Program& program) {
        size_v = program.size_v, size_y = program.size_y;
        arena.build([&](Arena& a) {
            v = a.vector(size_v), dv = a.vector(size_v);
            y = a.vector(size_y), dy = a.vector(size_y), r = a.vector(size_y);
            lower = a.vector(size_v), upper = a.vector(size_v), place = a.vector(program.size_place);
        });
    }

    bool on = false;
    double f = 0.0, alpha = 0.0;

    void reset() { on = false, shortened = 0, trials = FEWEST_TRIALS; }
    // How many step lengths a search has tried.
    void note(int lengths) { shortened = lengths == 1 ? 0 : shortened + (lengths > 2); }
    bool due() const { return !on && shortened >= TRIGGER; }
    bool patient(double step) { return ++tried <= trials && step >= LEAST_STEP; }
    bool hopeless() const { return trials >= MOST_TRIALS; }

    // Keep the point, its multipliers and its direction.
    void start(Program& program, const double* v_now, const double* y_now, const double* r_now, const double* dv_now,
               const double* dy_now) {
        on = true, tried = 0;
        copy_all(v_now, y_now, r_now, dv_now, dy_now, v, y, r, dv, dy);
        std::copy_n(program.lower.dual, program.lower.size, lower);
        std::copy_n(program.upper.dual, program.upper.size, upper);
        program.copy_place(place);
    }

    void go_back(Program& program, double* v_now, double* y_now, double* r_now, double* dv_now, double* dy_now) {
        on = false, shortened = 0, trials = std::min(2 * trials, MOST_TRIALS);
        copy_all(v, y, r, dv, dy, v_now, y_now, r_now, dv_now, dy_now);
        std::copy_n(lower, program.lower.size, program.lower.dual);
        std::copy_n(upper, program.upper.size, program.upper.dual);
        program.set_place(place);
        program.refresh_gaps(v_now);
    }

private:
    void copy_all(const double* v1, const double* y1, const double* r1, const double* dv1, const double* dy1, double* v2,
                  double* y2, double* r2, double* dv2, double* dy2) const {
        std::copy_n(v1, size_v, v2), std::copy_n(dv1, size_v, dv2);
        std::copy_n(y1, size_y, y2), std::copy_n(r1, size_y, r2), std::copy_n(dy1, size_y, dy2);
    }

    Arena arena;
    int size_v = 0, size_y = 0, shortened = 0, tried = 0, trials = FEWEST_TRIALS;
    double *v, *dv, *y, *dy, *r, *lower, *upper, *place;
};

}  // namespace trisweep
