// The problem on its stages: values and derivatives at a point, by the user's functions or, where all stages are quadratic, by
// their constants; and the anchors of its states.
#pragma once

#include <memory>
#include <vector>

#include "quadratic_stages.hpp"
#include "recentring.hpp"
#include "stage_functions.hpp"

namespace trisweep {

class Horizon : public StageFunctions {
public:
    Horizon(Riccati& riccati, std::vector<Block> blocks, std::vector<Recentring> recentrings,
            const std::vector<int>& inequalities, int parameters, int stage_parameters, bool quadratic)
        : StageFunctions(riccati, std::move(blocks), inequalities, parameters, stage_parameters),
          recentrings(std::move(recentrings)) {
        if (quadratic) constants = std::make_unique<QuadraticStages>(riccati, inequality_count);
        arena.build([this](Arena& a) {
            this->recentrings.lay_out(a, this->riccati);
            origin = a.vector(this->riccati.size_z);
            no_rows = a.vector(std::max({this->riccati.size_x, this->riccati.size_g, size_c}));
            known_parameters = a.vector(parameter_count);
            known_stage_parameters = a.vector(stage_parameter_count);
        });
    }

    // Whether anything is minimised.
    bool has_cost() const {
        return blocks.empty() ||
               std::any_of(blocks.begin(), blocks.end(), [](const Block& b) { return b.objective > 0; });
    }

    // For a new solve: no scales, and where all is quadratic the constants of these parameters. Whether that is convex.
    bool renew() {
        forget_scales();
        constant = constants != nullptr;
        const bool anew = constant && !blocks.empty() && !knows_constants();
        if (anew) known = constant = find_constants();
        if (!constant) return false;
        place_constants();
        if (anew) constants_changed();
        if (!judged_convex) is_convex = constants->convex();
        judged_convex = true;
        return is_convex;
    }

    // Whoever has written to the constants says so.
    void constants_changed() {
        forget_hessian();
        judged_convex = false;
    }

    // From here on parameters may change without a new solve.
    void forget_constants() { known = constant = false; }

    // Values and derivatives at z, by the functions or by the constants.
    bool evaluate(const double* z, Values& out) { return constant ? multiply(z, out) : call_values(z, out); }
    // `bare`: `damp` will be asked for.
    bool differentiate(const double* z, const Multipliers& m, bool bare = false) {
        flat = false;
        if (!constant) return call_derivatives(z, m, bare && has_graphs());
        const double* slope = constants->gradient(z);
        for (int i = 0; i < riccati.size_z; i += W) store(gradient + i, objective_scale * load(slope + i));
        for (std::size_t k = 0; placed_scale != objective_scale && k < riccati.stages.size(); ++k)
            constants->place_hessian(k, objective_scale, riccati.stages[k].H);
        placed_scale = objective_scale;
        return true;
    }

    // H there with so much of the curvature of rows, and of nodes inside the objective.
    bool damp(const double* z, double share) {
        if (constant) return true;
        if (!damped.knows_bare() && !call_bare(z)) return false;
        damped.count(share);
        return true;
    }

    // Gradient and J alone.
    bool linearize(const double* z) {
        const bool finite = differentiate(z, {no_rows, no_rows, no_rows, 0.0});
        flat = !constant;  // as nothing has a weight
        return finite;
    }

    // The Hessian of the objective alone.
    bool curve(const double* z) { return differentiate(z, {no_rows, no_rows, no_rows}); }

    // Whoever has written to a stage's H says so.
    void forget_hessian() { placed_scale = NAN, flat = false; }

    // H <- 0
    void clear_hessian() {
        for (Riccati::Stage& s : riccati.stages)
            if (!flat) fill_zero(s.n * s.n, s.H);
        forget_hessian();
        flat = true;
    }

    // Make the present place of every state on a manifold the origin of its coordinates.
    void recentre(double* z) { recentrings.apply(riccati, z, stage_parameters); }

    // The constants, where all stages are quadratic; null elsewhere.
    QuadraticStages* quadratic() { return constants.get(); }

    Recentrings recentrings;

private:
    // f and rows of quadratic stages. False where one is not finite.
    bool multiply(const double* z, Values& out) {
        out.objective = objective_scale * constants->objective(z);
        scaled(riccati.size_g, constants->g0, equality_scale, out.g);
        scaled(size_c, constants->c0, inequality_scale, out.c);
        copy(riccati.size_x, constants->b0, out.b);
        for (std::size_t k = 0; k < riccati.stages.size(); ++k) {
            const Riccati::Stage& s = riccati.stages[k];
            const double* here = z + s.at_z;
            transposed_multiply_add(s.n, s.ng, s.G, s.n, here, out.g + s.at_g);
            transposed_multiply_add(s.n, inequality_count[k], C(int(k)), s.n, here, out.c + at_c[k]);
            for (int c = s.first_child; c >= 0; c = riccati.stages[c].sibling) {
                const Riccati::Stage& child = riccati.stages[c];
                double* b = out.b + child.at_x;
                transposed_multiply_add(s.n, child.nx, child.E, s.n, here, b);
                const double *x = z + child.at_z + child.up, *scale = dynamics_scale + child.at_x;
                for (int i = 0; i < padded(child.nx); i += W)
                    store(b + i, load(scale + i) * (load(b + i) - load(x + i)));
            }
        }
        return std::fabs(out.objective) <= 1e300 && all_finite(riccati.size_x, out.b) &&
               all_finite(riccati.size_g, out.g) && all_finite(size_c, out.c);
    }

    // What the functions say at z = 0. False where that is not finite.
    bool find_constants() {
        fill_zero(padded(riccati.size_z), origin);
        Values values{0.0, constants->b0, constants->g0, constants->c0};
        if (!call_values(origin, values) || !call_derivatives(origin, {no_rows, no_rows, no_rows}, false)) return false;
        constants->f0 = values.objective;
        for (std::size_t k = 0; k < riccati.stages.size(); ++k) {
            const Riccati::Stage& s = riccati.stages[k];
            const QuadraticStages::Constants& c = constants->at(k);
            copy(s.n * s.n, s.H, c.H);
            copy(s.n, gradient + s.at_z, c.h);
            copy(s.n * s.ng, s.G, c.G);
            copy(s.n * inequality_count[k], C(int(k)), c.C);
        }
        std::copy_n(parameters, parameter_count, known_parameters);
        std::copy_n(stage_parameters, stage_parameter_count, known_stage_parameters);
        return true;
    }

    // Whether the constants are those of the present parameters: most problems of a batch differ elsewhere.
    bool knows_constants() const {
        const auto same = [](int count, const double* a, const double* b) {
            return count == 0 || std::memcmp(a, b, sizeof(double) * std::size_t(count)) == 0;
        };
        return known && same(parameter_count, parameters, known_parameters) &&
               same(stage_parameter_count, stage_parameters, known_stage_parameters);
    }

    // G and C as they are before scaling.
    void place_constants() {
        for (std::size_t k = 0; k < riccati.stages.size(); ++k) {
            const Riccati::Stage& s = riccati.stages[k];
            copy(s.n * s.ng, constants->at(k).G, s.G);
            copy(s.n * inequality_count[k], constants->at(k).C, C(int(k)));
        }
    }

    Arena arena;
    std::unique_ptr<QuadraticStages> constants;
    double placed_scale = NAN;                      // of the objective, as it is in the sweep's H
    bool constant = false;                          // the constants stand for the functions in this solve
    bool flat = false;                              // H is zero
    bool judged_convex = false, is_convex = false;  // of the constants
    double *origin, *no_rows;                       // zeros
    bool known = false;                             // the constants, for these parameters
    double *known_parameters, *known_stage_parameters;
};

}  // namespace trisweep
