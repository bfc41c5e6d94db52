// What judges a sweep's answer: the residual of the KKT system of `Riccati`, from the problem's data alone.
#pragma once

#include "riccati_stage.hpp"

namespace trisweep {

// The residual of a solution by kind of row, each relative to the largest sum of absolute terms of that kind. An equality's
// terms count rounding too: the right side of a row such as x = 0 has no size of its own.
struct Residual {
    double stationarity, dynamics, equalities;
    double worst() const { return std::max(stationarity, std::max(dynamics, equalities)); }
};

class ResidualMeasure {
public:
    // A row of the equalities is violated when its residual is above the first share of its terms plus the second share, for
    // rounding, of what they would be if every variable had the size of the terms that it was itself summed from.
    static constexpr double CONSISTENCY_TOLERANCE = 1e-9, ROUNDING_TOLERANCE = 1e-13;

    void lay_out(Arena& a, int most_n, int most_x, int most_rows) {
        terms = a.vector(std::max(most_n, most_rows));
        terms_b = a.vector(most_x);
    }

    // The KKT residual of `point`, from the data alone; `residual` takes it row by row.
    Residual measure(const std::vector<RiccatiStage>& stages, bool free_root, const Vectors& rhs, const Unknowns& point,
                     const Vectors& residual) {
        double error[3] = {0, 0, 0}, size[3] = {0, 0, 0};
        const double rounding =
            ROUNDING_TOLERANCE / CONSISTENCY_TOLERANCE * largest_entry(stages.back().at_z + stages.back().n, point.z);
        const auto note = [&](int kind, int count, const double* values, const double* terms) {
            for (int i = 0; i < count; ++i) {
                error[kind] = worse(error[kind], std::fabs(values[i]));
                size[kind] = worse(size[kind], terms[i]);
            }
        };
        for (const RiccatiStage& s : stages) {
            const double* z = point.z + s.at_z;
            double* h = residual.h + s.at_z;
            start(s.n, rhs.h + s.at_z, h, terms);
            add_terms(s.n, s.nu, s.H, s.n, z, h, terms);
            add_terms(s.n, s.nx, s.H + std::ptrdiff_t(s.up) * s.n, s.n, z + s.up, h, terms);
            add_terms(s.n, s.ng, s.G, s.n, point.eta + s.at_g, h, terms);
            for (int i = 0; i < s.nx; ++i) {
                h[s.up + i] -= point.lambda[s.at_x + i];
                terms[s.up + i] += std::fabs(point.lambda[s.at_x + i]);
            }
            for (int c = s.first_child; c >= 0; c = stages[c].sibling) {
                const RiccatiStage& child = stages[c];
                const double* x = point.z + child.at_z + child.up;
                add_terms(s.n, child.nx, child.E, s.n, point.lambda + child.at_x, h, terms);
                double* b = residual.b + child.at_x;
                start(child.nx, rhs.b + child.at_x, b, terms_b);
                add_transposed_terms(s.n, child.nx, child.E, s.n, z, b, terms_b);
                for (int i = 0; i < child.nx; ++i) {
                    b[i] -= x[i];
                    terms_b[i] += std::fabs(x[i]);
                }
                note(1, child.nx, b, terms_b);
            }
            note(0, s.n, h, terms);
            double* g = residual.g + s.at_g;
            start(s.ng, rhs.g + s.at_g, g, terms);
            add_transposed_terms(s.n, s.ng, s.G, s.n, z, g, terms);
            for (int i = 0; i < s.ng; ++i) terms[i] += rounding * largest_entry(s.n, s.G + i * s.n);
            note(2, s.ng, g, terms);
        }
        for (int i = 0; i < stages[0].nx; ++i)
            residual.initial[i] = free_root ? 0.0 : rhs.initial[i] - point.z[stages[0].up + i];
        const auto relative = [](double e, double s) { return e == 0.0 ? 0.0 : e / s; };
        return {relative(error[0], size[0]), relative(error[1], size[1]), relative(error[2], size[2])};
    }

    // Whether a row of the equalities does not hold at `point`, given the residual there.
    bool violates_equalities(const std::vector<RiccatiStage>& stages, const Vectors& rhs, const Unknowns& point,
                             const Vectors& residual) {
        for (const RiccatiStage& s : stages) {
            const double* z = point.z + s.at_z;
            if (s.ng) measure_variables(stages, s, rhs, point, terms);
            for (int i = 0; i < s.ng; ++i) {
                const double* row = s.G + i * s.n;
                double limit = CONSISTENCY_TOLERANCE * std::fabs(rhs.g[s.at_g + i]);
                for (int t = 0; t < s.n; ++t)
                    limit +=
                        std::fabs(row[t]) * (CONSISTENCY_TOLERANCE * std::fabs(z[t]) + ROUNDING_TOLERANCE * terms[t]);
                if (!(std::fabs(residual.g[s.at_g + i]) <= limit)) return true;
            }
        }
        return false;
    }

private:
    // The size (n) of what a stage's variables were summed from: of the states, the terms of the dynamics that lead to them.
    static void measure_variables(const std::vector<RiccatiStage>& stages, const RiccatiStage& s, const Vectors& rhs,
                                  const Unknowns& point, double* size) {
        for (int t = 0; t < s.n; ++t) size[t] = std::fabs(point.z[s.at_z + t]);
        if (s.parent < 0) return;
        const RiccatiStage& from = stages[s.parent];
        for (int j = 0; j < s.nx; ++j) {
            size[s.up + j] += std::fabs(rhs.b[s.at_x + j]);
            for (int t = 0; t < from.n; ++t)
                size[s.up + j] += std::fabs(s.E[t + std::ptrdiff_t(j) * from.n] * point.z[from.at_z + t]);
        }
    }

    static double worse(double a, double b) { return b > a || b != b ? b : a; }

    static void start(int count, const double* from, double* values, double* terms) {
        for (int i = 0; i < count; ++i) {
            values[i] = from[i];
            terms[i] = std::fabs(from[i]);
        }
    }

    static void add_terms(int rows, int columns, const double* A, int ld, const double* x, double* y, double* terms) {
        for (int j = 0; j < columns; ++j)
            for (int i = 0; i < rows; ++i) {
                const double term = A[i + std::ptrdiff_t(j) * ld] * x[j];
                y[i] += term, terms[i] += std::fabs(term);
            }
    }

    static void add_transposed_terms(int rows, int columns, const double* A, int ld, const double* x, double* y,
                                     double* terms) {
        for (int j = 0; j < columns; ++j)
            for (int i = 0; i < rows; ++i) {
                const double term = A[i + std::ptrdiff_t(j) * ld] * x[i];
                y[j] += term, terms[j] += std::fabs(term);
            }
    }

    double *terms, *terms_b;
};

}  // namespace trisweep
