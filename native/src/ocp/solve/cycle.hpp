// A controller's cycle: the interior point, one step at a time, cut at the measurement. Before it the plan moves on, functions
// and derivatives are evaluated and the linear system is factored; with it one sweep over vectors finds the step from the
// measured state, which is the fixed part of the root (Diehl, Bock and Schlöder 2005, "A real-time iteration scheme for
// nonlinear optimization in optimal feedback control", with a barrier in place of an active set).
//
// There is no line search: a step goes as far as the bounds allow, so that controls keep their limits whatever happens. Who
// calls it looks at the error of the point, and solves anew where that does not go down.
#pragma once

#include <algorithm>
#include <span>

#include "interior_point/barrier/retreat.hpp"
#include "interior_point/interior_point.hpp"
#include "ocp/program/optimal_control.hpp"

namespace trisweep {

class Cycle {
public:
    Cycle(OptimalControl& program, InteriorPoint& interior_point)
        : program(program),
          point(interior_point.point),
          convergence(interior_point.convergence),
          fixed(program.fixed_places()) {
        arena.build([this](Arena& a) {
            for (double** vector : {&dv, &h, &slope, &sigma, &root}) *vector = a.vector(this->program.size_v);
            for (double** vector : {&dy, &rows}) *vector = a.vector(this->program.size_y);
        });
    }

    double error = 0.0;  // of the barrier problem, at the point where the last step began
    double alpha = 1.0;  // share of the last step that the bounds allowed
    bool lost() const { return alpha <= NOWHERE || many_met; }
    double least_mu = 1e-6;

    // The point is that of a finished solve.
    void take_over() {
        program.horizon.forget_constants();
        alpha = 1.0;
        regularization = {};
        point.mu = std::max(least_mu, mean_complementarity(program));
        ready = false;
    }

    // Every stage takes over what was the next one's; the last step is repeated.
    void move_on() {
        const auto& stages = program.riccati.stages;
        for (std::size_t k = 0; k + 1 < stages.size(); ++k) {
            const Riccati::Stage &here = stages[k], &next = stages[k + 1];
            if (here.nu == next.nu) copy_along(here.at_z, next.at_z, here.nu);
            copy_along(here.at_z + here.up, next.at_z + next.up, here.nx);
            if (k > 0) std::copy_n(point.y + next.at_x, here.nx, point.y + here.at_x);
            if (here.ng == next.ng)
                std::copy_n(point.y + program.at_eta() + next.at_g, here.ng, point.y + program.at_eta() + here.at_g);
            const Horizon& horizon = program.horizon;
            const int count = horizon.inequality_count[k];
            if (count != horizon.inequality_count[k + 1]) continue;
            copy_along(program.at_slack() + horizon.at_c[k], program.at_slack() + horizon.at_c[k + 1], count);
            for (const int at : {program.at_over(), program.at_under()})
                if (program.size_e) copy_along(at + horizon.at_c[k], at + horizon.at_c[k + 1], count);
            std::copy_n(point.y + program.at_nu() + horizon.at_c[k + 1], count,
                        point.y + program.at_nu() + horizon.at_c[k]);
        }
    }

    // Functions, derivatives and factorization at the point. False where a number is not finite or no delta serves.
    bool prepare() {
        ready = false;
        program.refresh_gaps(point.v);
        choose_barrier();
        if (!point.evaluate() || !point.differentiate()) return false;
        convergence.measure();
        error = convergence.error(point.mu);
        std::copy_n(convergence.residual, program.size_v, h);
        std::copy_n(program.gradient(), program.size_v, slope);
        add_barrier_gradient(program, point.mu, slope, h);
        set_curvature(program, sigma);
        program.add_barrier(sigma);
        return ready = regularization.factor(program);
    }

    // The step from the measured state: values of the root's fixed entries. False where it is not finite; the point is then
    // what it was.
    bool feedback(std::span<const double> measured) {
        if (!ready) return false;
        ready = false;
        for (std::size_t i = 0; i < fixed.size(); ++i) root[fixed[i]] = measured[i] - point.v[fixed[i]];
        std::copy_n(point.r, program.size_y, rows);
        program.move_root(root, h, rows);
        program.direction(h, rows, dv, dy);
        for (int i : fixed) dv[i] = root[i];
        if (!all_finite(program.size_v, dv) || !all_finite(program.size_y, dy)) return false;
        take_step();
        for (std::size_t i = 0; i < fixed.size(); ++i) point.v[fixed[i]] = measured[i];
        return true;
    }

private:
    static constexpr double TO_BOUNDARY = 0.99;  // share of the way that a step may go
    static constexpr double NOWHERE = 0.05;      // a step after which the plan is given up
    static constexpr double LONG = 0.9;          // a step after which mu falls
    static constexpr double FASTER = 0.2;        // to this share

    void copy_along(int here, int next, int count) {
        std::copy_n(point.v + next, count, point.v + here);
        for (Bounds* b : {&program.lower, &program.upper})
            for (int i = 0; i < count; ++i)
                if (b->there[here + i] != 0.0 && b->there[next + i] != 0.0) b->dual[here + i] = b->dual[next + i];
        // limits may differ from stage to stage: what is carried over keeps inside of them
        for (int i = here; i < here + count; ++i) {
            const Bounds &low = program.lower, &high = program.upper;
            const bool both = low.there[i] != 0.0 && high.there[i] != 0.0;
            const double room = both ? 1e-3 * (high.bound[i] - low.bound[i]) : 1e-6;
            if (low.there[i] != 0.0 && !(point.v[i] > low.bound[i])) point.v[i] = low.bound[i] + room;
            if (high.there[i] != 0.0 && !(point.v[i] < high.bound[i])) point.v[i] = high.bound[i] - room;
        }
    }

    // Down while steps are long; where the bounds cut them short, up, and the point back to the middle.
    void choose_barrier() {
        if (alpha > LONG) point.mu = std::max(least_mu, FASTER * point.mu);
        if (!Retreat::cut_short(alpha)) return;
        point.mu = Retreat::barrier(program, dv, quadratic_gain(program, h, dv, rows, dy), point.mu);
        Retreat::run(program, point.mu, point.v);
    }

    void take_step() {
        const double tau = std::max(TO_BOUNDARY, 1.0 - point.mu);
        alpha = largest_primal_step(program, dv, tau);
        find_dual_steps(program, dv, point.mu);
        many_met = Retreat::cut_short(alpha) && Retreat::meets_many(program, dv);
        const double alpha_dual = largest_dual_step(program, tau);
        for (int i = 0; i < program.size_v; ++i) point.v[i] += alpha * dv[i];
        for (int i = 0; i < program.size_y; ++i) point.y[i] += alpha * dy[i];
        program.refresh_gaps(point.v);
        take_dual_steps(program, alpha_dual, point.mu);
    }

    OptimalControl& program;
    Iterate& point;
    Convergence& convergence;
    const std::vector<int>& fixed;  // places in v
    Regularization regularization;
    Arena arena;
    double *dv, *dy, *h, *slope, *sigma, *root, *rows;
    bool ready = false, many_met = false;  // the last step was cut short, and by many bounds
};

}  // namespace trisweep
