// How far a point that solves the scaled problem is from solving the problem as it was stated: every condition in the units
// of the statement, relative to the size of the terms that are summed there at this point, at least 1 (`ocp/solve/kkt.py`
// judges by the same rule, apart from this). Slopes may have changed since the problem was scaled; where a condition does
// not hold, `rescale` gives it the scale at which the scaled problem's tolerance is the statement's.
#pragma once

#include <algorithm>

#include "interior_point/iterate.hpp"
#include "optimal_control.hpp"

namespace trisweep {

class StatementError {
public:
    explicit StatementError(OptimalControl& program) : program(program), horizon(program.horizon) {
        arena.build([this](Arena& a) {
            slope_size = a.vector(this->program.size_v);
            row_size = a.vector(this->program.size_y);
            row_factor = a.vector(this->program.size_y);
        });
    }

    // Whether all conditions hold within the tolerance; derivatives and gaps are those at the point. `residual`: the gradient
    // of its Lagrangian.
    bool holds(const Iterate& point, const double* residual, double tolerance) {
        measure_terms(point);
        const double f = horizon.objective_scale;
        objective_factor = 1.0;
        bool held = true;
        // Within the tolerance where the scale is at least f or d over the size of the terms.
        const auto note = [&](double error, double scale, double size, double& factor) {
            if (error <= SLACK * tolerance * std::max(scale, size)) return;
            factor = std::max(factor, 1.0 / std::max(scale, size));
            held = false;
        };
        for (int i = 0; i < program.size_v; ++i) note(std::fabs(residual[i]), f, slope_size[i], objective_factor);
        for (int i = 0; i < program.size_y; ++i) {
            row_factor[i] = 1.0;
            note(std::fabs(point.r[i]), horizon.row_scale[i], row_size[i], row_factor[i]);
        }
        const double objective = std::max(f, std::fabs(point.f));
        for (const Bounds* b : {&program.lower, &program.upper})
            for (int i = 0; i < b->size; ++i) {
                if (b->there[i] == 0.0) continue;
                const int slack = i - program.at_slack();
                const double d = slack < 0 ? 1.0 : horizon.inequality_scale[slack];
                const double size = slack < 0 ? std::fabs(point.v[i]) : row_size[program.at_nu() + slack];
                if (b->gap[i] > SLACK * tolerance * std::max(d, size))
                    note(b->dual[i] * b->gap[i], f, objective, objective_factor);
            }
        return held;
    }

    // After `holds` was false: scale what did not hold, and take the point and its bounds with it.
    void rescale(Iterate& point) {
        const double f = objective_factor;
        horizon.objective_scale *= f;
        point.f *= f;
        point.mu *= f;
        for (int i = 0; i < program.size_y; ++i) {
            horizon.row_scale[i] *= row_factor[i];
            point.r[i] *= row_factor[i];
            point.y[i] *= f / row_factor[i];
        }
        for (Bounds* b : {&program.lower, &program.upper})
            for (int i = 0; i < b->size; ++i) {
                const int slack = i - program.at_slack();
                const double d = slack < 0 ? 1.0 : row_factor[program.at_nu() + slack];
                b->bound[i] *= d;
                b->dual[i] *= f / d;
            }
        for (int i = 0; i < horizon.size_c; ++i) point.v[program.at_slack() + i] *= row_factor[program.at_nu() + i];
    }

private:
    static constexpr double SLACK = 3.0;  // within which the two tolerances are the same; the judge's own is larger

    // The size of the terms of the scaled rows and of the scaled slopes.
    void measure_terms(const Iterate& point) {
        const Riccati& riccati = program.riccati;
        const double *gradient = program.gradient(), *lambda = point.y, *eta = point.y + program.at_eta(),
                     *nu = point.y + program.at_nu();
        for (int i = 0; i < program.size_v; ++i)
            slope_size[i] = std::fabs(gradient[i]) + program.lower.dual[i] + program.upper.dual[i];
        for (std::size_t k = 0; k < riccati.stages.size(); ++k) {
            const Riccati::Stage& s = riccati.stages[k];
            const double* z = point.v + s.at_z;
            double* size = slope_size + s.at_z;
            for (int c = s.first_child; c >= 0; c = riccati.stages[c].sibling) {
                const Riccati::Stage& child = riccati.stages[c];
                const double *d = horizon.dynamics_scale + child.at_x, *x = point.v + child.at_z + child.up;
                for (int i = 0; i < child.nx; ++i) {
                    const double value = point.r[child.at_x + i] + d[i] * x[i];
                    row_size[child.at_x + i] = d[i] * std::fabs(x[i]) + sizes(s.n, child.E + i * s.n, d[i], z, value,
                                                                              lambda[child.at_x + i], size);
                    slope_size[child.at_z + child.up + i] += d[i] * std::fabs(lambda[child.at_x + i]);
                }
            }
            for (int i = 0; i < s.ng; ++i) {
                const int row = program.at_eta() + s.at_g + i;
                row_size[row] = sizes(s.n, s.G + i * s.n, 1.0, z, point.r[row], eta[s.at_g + i], size);
            }
            for (int i = 0, at = horizon.at_c[k]; i < horizon.inequality_count[k]; ++i) {
                const int row = program.at_nu() + at + i, slack = program.at_slack() + at + i;
                row_size[row] =
                    sizes(s.n, horizon.C(int(k)) + i * s.n, 1.0, z, point.r[row] + point.v[slack], nu[at + i], size);
                slope_size[slack] += std::fabs(nu[at + i]);
            }
        }
    }

    // |row| |z| + |value - row z| of a row with this scale, and slope += |row| |multiplier|.
    static double sizes(int n, const double* row, double scale, const double* z, double value, double multiplier,
                        double* slope) {
        double along = 0.0, size = 0.0;
        for (int t = 0; t < n; ++t) {
            const double entry = scale * row[t];
            along += entry * z[t];
            size += std::fabs(entry * z[t]);
            slope[t] += std::fabs(entry * multiplier);
        }
        return size + std::fabs(value - along);
    }

    OptimalControl& program;
    Horizon& horizon;
    Arena arena;
    double *slope_size, *row_size;               // of the terms, scaled
    double objective_factor = 1.0, *row_factor;  // by which to scale anew
};

}  // namespace trisweep
