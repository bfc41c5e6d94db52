// Normal steps: straight to the rows, whatever the cost. Where the linear system of a solve asks for a long step along the rows, of
// which little can be taken, the short one across them may still serve; it is tried before a problem of its own is solved for that
// (restoration.hpp).
//
//     min 1/2 dv' D dv   subject to   J dv + r = 0,      D = 1 / max(1, v^2) + 1 / gap^2 of every bound
//
// D is the scaling of Byrd, Hribar and Nocedal 1999 ("An interior point algorithm for large-scale nonlinear programming"): no bound
// is near in it.
#pragma once

#include <algorithm>

#include "interior_point/interior_point.hpp"
#include "ocp/program/optimal_control.hpp"

namespace trisweep {

class Approach {
public:
    Approach(OptimalControl& program, InteriorPoint& outer, Supervisor& supervisor)
        : program(program), outer(outer), point(outer.point), supervisor(supervisor) {
        arena.build([&](Arena& a) {
            for (double** vector : {&D, &dv, &trial, &no_slope, &start}) *vector = a.vector(program.size_v);
            for (double** vector : {&dy, &rows}) *vector = a.vector(program.size_y);
        });
    }

    // The outer point goes towards the rows until the outer search would take it. `Status::stalled`: these steps lead no further,
    // though it may have come nearer. Gaps stay those of where it began: the bounds' multipliers have not moved.
    Status run() {
        std::copy_n(point.v, program.size_v, start);
        const Status status = approach();
        program.refresh_gaps(start);
        return status;
    }

private:
    static constexpr int MOST = 8;            // steps
    static constexpr double SHORTEST = 0.25;  // share of a step below which it is not worth it
    static constexpr double LESS = 0.3;       // share of the violation that a whole step has to take away

    Status approach() {
        for (int i = 0; i < MOST; ++i) {
            if (outer.iteration >= outer.settings.iterations) return Status::iteration_limit;
            if (outer.too_late(Stopwatch::clock::now(), outer.quickest)) return Status::time_limit;
            if (!step()) return Status::stalled;
            ++outer.iteration;
            if (outer.search.would_accept(point.v, point.f, point.r)) return Status::restored;
            if (supervisor.watch(record()) || supervisor.interrupted()) return Status::interrupted;
        }
        return Status::stalled;
    }

    // To the next point. False where there is none.
    bool step() {
        if (!find_direction()) return false;
        const double present = point.violation_of(point.r);
        double f = 0.0;
        for (alpha = largest_primal_step(program, dv, outer.settings.boundary_fraction); alpha >= SHORTEST;
             alpha *= 0.5) {
            for (int i = 0; i < program.size_v; i += W) store(trial + i, load(point.v + i) + alpha * load(dv + i));
            if (!point.evaluate(trial, f, rows) || point.violation_of(rows) > (1.0 - LESS * alpha) * present) continue;
            std::copy_n(trial, program.size_v, point.v);
            std::copy_n(rows, program.size_y, point.r);
            point.f = f;
            return true;
        }
        return false;
    }

    bool find_direction() {
        program.refresh_gaps(point.v);
        if (!point.differentiate()) return false;
        Stopwatch watch(point.times.linear);
        program.clear_hessian();
        for (int i = 0; i < program.size_v; i += W) {
            const vec v = load(point.v + i), size = load(program.size + i), low = load(program.lower.inverse + i),
                      high = load(program.upper.inverse + i);
            store(D + i, 1.0 / larger(size * size, v * v) + low * low + high * high);
        }
        program.take_sigma(D);
        if (!program.factor(0.0, 0.0)) return false;
        program.direction(no_slope, point.r, dv, dy);
        return all_finite(program.size_v, dv);
    }

    Record record() const {
        const double worst = largest_size(program.size_y, point.r), longest = largest_size(program.size_v, dv);
        return {outer.iteration, point.f, worst, 0.0, 0.0, point.mu, longest, 0.0, alpha, 0.0, 1, 'r'};
    }

    OptimalControl& program;
    InteriorPoint& outer;
    Iterate& point;
    Supervisor& supervisor;
    Arena arena;
    double alpha = 0.0;  // share of the last step
    double *D, *dv, *dy, *trial, *rows, *start;
    double* no_slope;  // zeros
};

}  // namespace trisweep
