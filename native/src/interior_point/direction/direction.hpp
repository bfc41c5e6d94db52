// The direction of an iteration: the linear system of `Program` at an iterate, with the least delta that serves, and its
// solution, refined.
#pragma once

#include "curvature.hpp"
#include "interior_point/iterate.hpp"
#include "interior_point/status.hpp"
#include "refinement.hpp"

namespace trisweep {

class Direction {
public:
    explicit Direction(Iterate& point) : point(point), program(point.program), curvature(point), refinement(program) {
        arena.build([this](Arena& a) {
            for (double** vector : {&dv, &h, &sigma}) *vector = a.vector(program.size_v);
            for (double** vector : {&dy, &no_rows, &left}) *vector = a.vector(program.size_y);
        });
    }

    double *dv, *dy;  // of the variables, and of the multipliers of the rows

    void start() {
        std::fill_n(dv, program.size_v, 0.0);
        curvature.start();
        refinement.reset();
        exact = false;
    }

    // h: the gradient of the barrier's Lagrangian with the present multipliers, so that dy is their step. What is small near a
    // solution is then small in the linear system, and so are its errors. `residual`: of `Convergence`.
    void linearize(const double* residual, double mu) { set_slope(program, residual, mu, h); }

    // Comes once after `differentiate`. False where no change of the Hessian serves.
    bool factor(CurvatureRule rule) {
        set_curvature(program, sigma);
        if (!curvature.factor(sigma, rule)) return false;
        ++point.times.factorizations;
        return true;
    }

    // As the sweep gives it.
    void solve() {
        Stopwatch watch(point.times.linear);
        program.direction(h, point.r, dv, dy);
    }

    // dv alone, for who looks where it leads.
    void look() {
        Stopwatch watch(point.times.linear);
        program.turn(h, point.r, false, dv, dy);
    }

    // Refined, with larger deltas where the system is as good as singular. False where none of them helps. `again`: after `look`.
    bool solve_and_refine(bool again) {
        Stopwatch watch(point.times.linear);
        Regularization& regularization = curvature.regularization;
        for (int i = 0; !refinement.direction(program, h, point.r, dv, dy, again) && i < SINGULAR_TRIES; ++i) {
            if (!regularization.strengthen(program, point.mu)) return false;
            again = false;
        }
        if (regularization.delta_c > 0.0) refinement.reset();
        return all_finite(program.size_v, dv) && all_finite(program.size_y, dy);
    }

    // The same system for other rows.
    void solve_again(const double* rows, double* other_dv, double* other_dy) {
        Stopwatch watch(point.times.linear);
        refinement.direction_again(program, h, rows, other_dv, other_dy);
    }

    // The share of itself that was taken, from rows so far off; `shortened`: after longer ones were turned down.
    void note(double alpha, double infeasibility, bool shortened) { curvature.note(alpha, infeasibility, shortened); }

    // f is scaled by this factor from now on.
    void scale_cost(double factor) { curvature.regularization.scale_cost(factor); }

    double delta() const { return curvature.regularization.delta; }

    // Whether the rows contradict each other, as far as they are linear: the direction leaves much of their violation.
    bool contradicts() {
        if (curvature.regularization.delta_c == 0.0) return false;
        std::copy_n(point.r, program.size_y, left);
        program.add_product(dv, left);
        return sum_of_sizes(program.size_y, left) > CONTRADICTED * sum_of_sizes(program.size_y, point.r);
    }

    // Of the barrier's objective along dv.
    double slope() const { return barrier_slope(program, point.mu, dv); }

    double gain() const { return quadratic_gain(program, h, dv, point.r, dy); }

    // The largest entry of dv, by the sizes of the variables.
    double length() const {
        return largest_over(program.size_v, [&](int i) { return magnitude(load(dv + i)) / load(program.size + i); });
    }

    // Whether no entry of dv is more than this share of v's, or of 1.
    bool is_within(double share) const {
        for (int i = 0; i < program.size_v; i += W)
            if (largest(magnitude(load(dv + i)) - share * (load(program.size + i) + magnitude(load(point.v + i)))) >
                0.0)
                return false;
        return true;
    }

    // What a point whose residuals are small is. Where the objective curves down along a direction that the constraints leave open:
    // a saddle or a maximum. Beside stiff bounds small curvature is rounding, so they count as less stiff then: what still serves
    // serves. Where even a Hessian that is all diagonal seems to curve down, rows depend on each other nearly: nobody can tell.
    Status judge_curvature() {
        set_curvature(program, sigma);
        program.take_sigma(sigma);
        program.spares = false;
        exact = program.factor(0.0, 0.0);
        if (exact) return Status::solved;
        const double cost = std::min(1.0, std::max(std::fabs(point.f), program.cost_scale()));
        Regularization& regularization = curvature.regularization;
        const auto serves = [&](const auto& serves_with) {
            for (const double stiffest : STIFFEST) {
                limit_stiffness(cost * stiffest);
                regularization.delta = cost * std::max(FLAT, ROUNDING * stiffest);
                if (serves_with()) return true;
            }
            return false;
        };
        if (serves([&] { return program.factor(regularization.delta, 0.0); })) return Status::solved;
        if (!program.factor(STIFF, 0.0)) return Status::stalled;
        return serves([&] { return regularization.soften(program, point.mu); }) ? Status::solved : Status::not_minimal;
    }

    // The direction from there, by the factors of that look. False where they are not those of the system itself.
    bool solve_there(const double* residual) {
        if (!exact) return false;
        linearize(residual, point.mu);
        solve();
        return all_finite(program.size_v, dv) && all_finite(program.size_y, dy);
    }

    // Multipliers of the constraints by least squares at v (Wächter and Biegler 2006, eq. 36), zero where they come out large.
    // `differentiated`: gradient and J are those of v already. False where they are not finite.
    bool estimate_multipliers(bool differentiated = false) {
        std::fill_n(point.y, program.size_y, 0.0);
        if (!differentiated && !point.differentiate()) return false;
        Stopwatch watch(point.times.linear);
        program.clear_hessian();
        std::copy_n(program.gradient(), program.size_v, h);
        subtract_duals(program, h);
        for (int i = 0; i < program.size_v; i += W)
            store(sigma + i, 1.0 / (load(program.size + i) * load(program.size + i)));
        program.take_sigma(sigma);
        if (!program.factor(0.0, 0.0)) return true;
        program.direction(h, no_rows, dv, point.y);
        if (!all_finite(program.size_y, point.y) || largest_size(program.size_y, point.y) > LARGEST_ESTIMATE)
            std::fill_n(point.y, program.size_y, 0.0);
        return true;
    }

private:
    // Sigma beside this, at the sizes of the variables.
    void limit_stiffness(double most) {
        for (int i = 0; i < program.size_v; i += W) {
            const vec size = load(program.size + i);
            store(sigma + i, smaller(load(sigma + i), most / (size * size)));
        }
        program.take_sigma(sigma);
    }

    static constexpr int SINGULAR_TRIES = 5;  // larger deltas for a system whose solution has a large residual
    static constexpr double FLAT = 1e-6;      // curvature, of the scaled problem, below which a direction is flat
    static constexpr double STIFFEST[] = {
        1e8, 1e10};  // likewise, of bounds: the first is enough but beside much more that curves down
    static constexpr double ROUNDING = 1e-15;  // share of the stiffest bound's curvature that is lost in the sums
    static constexpr double STIFF = 1e20;      // a delta beside which there is no other curvature
    static constexpr double LARGEST_ESTIMATE = 1e3;
    static constexpr double CONTRADICTED = 0.1;  // share of the violation

    Iterate& point;
    Program& program;
    Arena arena;
    Curvature curvature;
    Refinement refinement;
    double *h, *sigma;
    double* no_rows;     // zeros
    double* left;        // of the rows
    bool exact = false;  // whether `judge_curvature` factored the system itself
};

}  // namespace trisweep
