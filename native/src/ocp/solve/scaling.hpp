// How a problem is scaled at a point (Wächter and Biegler 2006, Sec. 3.8; Sathya 2024c Sec. 3.8): objective and rows to derivatives
// that are neither large nor small, times the sizes of their variables; what has no slope there by what else is known of it.
#pragma once

#include <algorithm>
#include <cmath>

#include "ocp/program/optimal_control.hpp"

namespace trisweep {

class Scaling {
public:
    static constexpr double LEAST = 0.01, LARGEST = 100.0;  // derivatives that it leaves

    explicit Scaling(OptimalControl& program) : program(program), horizon(program.horizon), riccati(program.riccati) {
        arena.build([this](Arena& a) { rows = a.vector(this->program.size_y); });
    }

    // At z, once units and sizes are known. `low`, `high`: of all of v. False where a number is not finite.
    bool run(const double* z, const double* low, const double* high) {
        if (!look(z)) return false;
        for (const Riccati::Stage& s : riccati.stages)
            for (int i = 0; i < s.nx; ++i) horizon.dynamics_scale[s.at_x + i] = 1.0 / program.unit[s.at_z + s.up + i];
        const bool flat = largest_size(riccati.size_z, horizon.gradient) == 0.0;
        if (flat && !scale_flat_cost(z)) return false;
        horizon.leave_out_unit(program.unit);
        horizon.reduce_scales(program.size, LARGEST, 1.0);
        horizon.enlarge_scales(program.size, LEAST);
        program.take_gradient();
        if (!program.convex)
            horizon.scale_flat_rows(rows + program.at_eta(), rows + program.at_nu(), low + program.at_slack(),
                                    high + program.at_slack(), LARGEST);
        return true;
    }

    // What has larger derivatives at z, as it is scaled now, if by a factor below `matters`: whether that was anything. Leaves
    // gradient and J as `differentiate` would, and no Hessian.
    bool run_further(const double* z, double matters) {
        if (!look(z)) return false;
        const bool changed = horizon.reduce_scales(program.size, LARGEST, matters);
        program.take_gradient();
        return changed;
    }

    // f and r where `run` looked, with slacks and excess of zero; of a convex program it looked at derivatives alone.
    void copy_values(double& f, double* r) const {
        f = horizon.objective_scale * objective;
        for (int i = 0; i < program.size_y; ++i) r[i] = horizon.row_scale[i] * rows[i];
    }

private:
    static constexpr double ROUNDING = 1e-15;  // share of a value

    // Values and slopes at z, as they are scaled now. False where one is not finite.
    bool look(const double* z) {
        Values values{0.0, rows, rows + program.at_eta(), rows + program.at_nu()};
        if (!program.convex && !horizon.evaluate(z, values)) return false;
        objective = values.objective;
        return look_at_slopes(z);
    }

    bool look_at_slopes(const double* z) {
        if (!horizon.linearize(z)) return false;
        program.leave_out_fixed(horizon.gradient);
        leave_out_rounding();
        return true;
    }

    // Slopes of the objective that are less than the rounding of its value: it has none here.
    void leave_out_rounding() const {
        const double steepest = largest_over(
            riccati.size_z, [&](int i) { return magnitude(load(horizon.gradient + i)) * load(program.size + i); });
        if (steepest < ROUNDING * std::fabs(horizon.objective_scale * objective))
            std::fill_n(horizon.gradient, riccati.size_z, 0.0);
    }

    // An objective without slope at z, by its curvature times the squares of the sizes. That says less than a slope: only where it is
    // far from 1; of a convex program, whose rule starts from multipliers of about 1, where it is large. False where it is not finite.
    bool scale_flat_cost(const double* z) {
        constexpr double MOST = 1e4;
        const double least = program.convex ? 0.0 : 1e-3, largest = program.convex ? LARGEST : 1e4;
        if (!horizon.curve(z)) return false;
        double curvature = 0.0;
        for (const Riccati::Stage& s : riccati.stages)
            for (int i = 0; i < s.n; ++i) {
                const double here = program.size[s.at_z + i];
                curvature = std::max(curvature, std::fabs(s.H[i + std::ptrdiff_t(i) * s.n]) * here * here);
            }
        if (curvature > largest) horizon.objective_scale *= largest / curvature;
        if (curvature > 0.0 && curvature < least) horizon.objective_scale *= std::min(least / curvature, MOST);
        return look_at_slopes(z);
    }

    OptimalControl& program;
    Horizon& horizon;
    const Riccati& riccati;
    Arena arena;
    double objective = 0.0;  // where it was looked at
    double* rows;            // likewise
};

}  // namespace trisweep
