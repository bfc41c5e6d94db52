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
#include "packing.hpp"

namespace trisweep {

// A plan that moves on by a step: of every entry of z, y and the parameters of the stages, as in `Result`, the one whose place
// it takes, which stands no earlier.
struct Shift {
    std::vector<int> z, y, stage_parameters;
};

class Cycle {
public:
    Cycle(OptimalControl& program, InteriorPoint& interior_point)
        : program(program),
          point(interior_point.point),
          convergence(interior_point.convergence),
          fixed(program.fixed_places()) {
        arena.build([this](Arena& a) {
            for (double** vector : {&dv, &h, &sigma, &root}) *vector = a.vector(this->program.size_v);
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

    void set_shift(const Shift& shift, const Packing& packing) {
        for (std::vector<Move>* moves : {&variables, &slacks, &multipliers, &places}) moves->clear();
        const auto add = [](std::vector<Move>& moves, int to, int from) {
            if (to != from) moves.push_back({to, from});
        };
        for (std::size_t i = 0; i < shift.z.size(); ++i) add(variables, packing.z[i], packing.z[shift.z[i]]);
        for (std::size_t i = 0; i < shift.y.size(); ++i) add(multipliers, packing.y[i], packing.y[shift.y[i]]);
        const std::size_t first = packing.y.size() - packing.c.size();  // of the inequalities
        for (std::size_t i = first; i < shift.y.size(); ++i)
            add(slacks, packing.c[i - first] - program.at_slack(), packing.c[shift.y[i] - first] - program.at_slack());
        for (std::size_t i = 0; i < shift.stage_parameters.size(); ++i) add(places, int(i), shift.stage_parameters[i]);
    }

    // Every stage takes over what was the next one's.
    void move_on() {
        const Horizon& horizon = program.horizon;
        for (const auto& [to, from] : variables) take_over(to, from, 1.0);
        for (const auto& [to, from] : slacks) {
            const double scale = horizon.inequality_scale[to] / horizon.inequality_scale[from];
            for (const int at : {program.at_slack(), program.at_over(), program.at_under()})
                if (at == program.at_slack() || program.excess.size) take_over(at + to, at + from, scale);
        }
        for (const auto& [to, from] : multipliers)
            point.y[to] = point.y[from] * (horizon.row_scale[from] / horizon.row_scale[to]);
        for (const auto& [to, from] : places) horizon.stage_parameters[to] = horizon.stage_parameters[from];
    }

    // Functions, derivatives and factorization at the point. False where a number is not finite or no delta serves.
    bool prepare() {
        ready = false;
        program.refresh_gaps(point.v);
        choose_barrier();
        if (!point.evaluate() || !point.differentiate()) return false;
        convergence.measure();
        error = convergence.error(point.mu);
        set_slope(program, convergence.residual, point.mu, h);
        set_curvature(program, sigma);
        program.take_sigma(sigma);
        ready = regularization.factor(program);
        if (ready) program.begin_direction(h, point.r);
        return ready;
    }

    // The step from the measured state: values of the root's fixed entries; none: they stay. False where it is not finite; the
    // point is then what it was.
    bool feedback(std::span<const double> measured) {
        if (!ready) return false;
        ready = false;
        for (std::size_t i = 0; i < fixed.size(); ++i)
            root[fixed[i]] = measured.empty() ? 0.0 : measured[i] - point.v[fixed[i]];
        std::copy_n(point.r, program.size_y, rows);
        program.move_root(root, h, rows);
        program.end_direction(h, rows, dv, dy);
        program.complete(dv, dy);
        for (int i : fixed) dv[i] = root[i];
        if (!all_finite(program.size_v, dv) || !all_finite(program.size_y, dy)) return false;
        take_step();
        for (std::size_t i = 0; i < measured.size(); ++i) point.v[fixed[i]] = measured[i];
        program.recentre(point.v);
        return true;
    }

private:
    // Share of the way that a step may go: not 1 - mu, of which a gap of 1e-9 would be gone after two steps.
    static constexpr double TO_BOUNDARY = 0.99;
    static constexpr double NOWHERE = 0.05;  // a step after which the plan is given up
    static constexpr double LONG = 0.9;      // a step after which mu falls
    static constexpr double FASTER = 0.2;    // to this share

    struct Move {
        int to, from;
    };

    // An entry of v in place of another, whose values are so many times larger; the multipliers of its bounds with it.
    void take_over(int to, int from, double scale) {
        point.v[to] = scale * point.v[from];
        for (Bounds* b : {&program.lower, &program.upper})
            if (b->there[to] != 0.0 && b->there[from] != 0.0) b->dual[to] = b->dual[from] / scale;
        put_inside(program, to, point.v);  // limits may differ from stage to stage
    }

    // Down while steps are long; where the bounds cut them short, up, and the point back to the middle.
    void choose_barrier() {
        if (alpha > LONG) point.mu = std::max(least_mu, FASTER * point.mu);
        if (!Retreat::cut_short(alpha)) return;
        point.mu = Retreat::barrier(program, dv, quadratic_gain(program, h, dv, rows, dy), point.mu);
        Retreat::run(program, point.mu, point.v);
    }

    void take_step() {
        alpha = largest_primal_step(program, dv, TO_BOUNDARY);
        const double alpha_dual = find_dual_steps(program, dv, point.mu, TO_BOUNDARY);
        many_met = Retreat::cut_short(alpha) && Retreat::meets_many(program, dv);
        for (int i = 0; i < program.size_v; ++i) point.v[i] += alpha * dv[i];
        for (int i = 0; i < program.size_y; ++i) point.y[i] += alpha * dy[i];
        program.refresh_gaps(point.v);
        take_dual_steps(program, alpha_dual, point.mu);
    }

    OptimalControl& program;
    Iterate& point;
    Convergence& convergence;
    const std::vector<int>& fixed;                             // places in v
    std::vector<Move> variables, slacks, multipliers, places;  // of a plan that moves on
    Regularization regularization;
    Arena arena;
    double *dv, *dy, *h, *sigma, *root, *rows;
    bool ready = false, many_met = false;  // the last step was cut short, and by many bounds
};

}  // namespace trisweep
