// Stages whose objective is quadratic and whose rows are affine: constants, and products with them in place of functions.
//
//     f = f0 + h'z + 1/2 z'H z,   rows = r0 + J z,      J = E of the edges, G of the equalities, C of the inequalities
//
// E, G and C at work are the sweep's and the horizon's own; G and C are kept here once more as they are before scaling.
#pragma once

#include <cstring>
#include <vector>

#include "riccati/riccati.hpp"

namespace trisweep {

class QuadraticStages {
public:
    struct Constants {
        double *H, *h, *G, *C;  // (n, n), lower triangle; (n); (n, equalities); (n, inequalities): rows as columns
    };

    QuadraticStages(const Riccati& riccati, const std::vector<int>& inequalities)
        : riccati(riccati), inequalities(inequalities), stages(riccati.stages.size()) {
        arena.build([this](Arena& a) { lay_out(a); });
    }

    Constants& at(std::size_t k) { return stages[k]; }
    const Constants& at(std::size_t k) const { return stages[k]; }

    double f0 = 0.0;
    double *b0, *g0, *c0;  // the rows at z = 0, in the layout of `Values`

    // f and its gradient, as they are before scaling; quick where either was last asked of the same z.
    double objective(const double* z) {
        look_at(z);
        return f;
    }
    const double* gradient(const double* z) {
        look_at(z);
        return slope;
    }

    // scale * H into H of stage k of the sweep.
    void place_hessian(std::size_t k, double scale, double* to) const {
        for (int i = 0; i < riccati.stages[k].n * riccati.stages[k].n; i += W)
            store(to + i, scale * load(stages[k].H + i));
    }

    // Whether every stage's H is positive semidefinite within rounding: then so is the whole. A stage like the one before it
    // is not looked at again. Comes after H has changed.
    bool convex() {
        std::memset(place, 0xff, sizeof(double) * riccati.size_z);
        for (std::size_t k = 0; k < stages.size(); ++k)
            if (!(k > 0 && alike(k, k - 1)) && !semidefinite(k)) return false;
        return true;
    }

private:
    static constexpr double ROUNDING = 1e-13;  // shift of the diagonal, relative to its largest entry

    void look_at(const double* z) {
        if (std::memcmp(place, z, sizeof(double) * riccati.size_z) == 0) return;
        double lost = 0.0;
        f = f0;
        for (std::size_t k = 0; k < stages.size(); ++k) {
            const Riccati::Stage& s = riccati.stages[k];
            const double *h = stages[k].h, *here = z + s.at_z;
            double* gradient = slope + s.at_z;
            copy(s.n, h, gradient);
            symmetric_multiply_add(s.n, stages[k].H, s.n, here, gradient);
            const double twice =
                sum_over(s.n, [=](int i) { return load(here + i) * (load(gradient + i) + load(h + i)); });
            const double term = 0.5 * twice - lost, sum = f + term;  // Kahan's sum
            lost = (sum - f) - term;
            f = sum;
        }
        std::memcpy(place, z, sizeof(double) * riccati.size_z);
    }

    bool alike(std::size_t k, std::size_t other) const {
        const int n = riccati.stages[k].n;
        return n == riccati.stages[other].n && riccati.stages[k].nu == riccati.stages[other].nu &&
               std::memcmp(stages[k].H, stages[other].H, sizeof(double) * n * n) == 0;
    }

    bool semidefinite(std::size_t k) {
        const Riccati::Stage& s = riccati.stages[k];
        copy(s.n * s.n, stages[k].H, factor);
        double largest = 0.0;
        for (int i = 0; i < s.n; ++i) largest = std::max(largest, std::fabs(factor[i + std::ptrdiff_t(i) * s.n]));
        for (int i = 0; i < s.n; ++i) {
            double& entry = factor[i + std::ptrdiff_t(i) * s.n];
            const bool gap = (i >= s.nu && i < s.up) || i >= s.up + s.nx;
            entry = gap ? 1.0 : entry + ROUNDING * largest + 1e-300;
        }
        return cholesky(s.n, s.n, factor, s.n, inverse, threshold) < 0;
    }

    void lay_out(Arena& a) {
        int most_n = PAD, size_c = 0;
        for (std::size_t k = 0; k < stages.size(); ++k) {
            const Riccati::Stage& s = riccati.stages[k];
            stages[k] = {a.matrix(s.n, s.n), a.vector(s.n), a.matrix(s.n, s.ng), a.matrix(s.n, inequalities[k])};
            most_n = std::max(most_n, s.n);
            size_c += padded(inequalities[k]);
        }
        b0 = a.vector(riccati.size_x), g0 = a.vector(riccati.size_g), c0 = a.vector(size_c);
        slope = a.vector(riccati.size_z), place = a.vector(riccati.size_z);
        factor = a.matrix(most_n, most_n), inverse = a.vector(most_n), threshold = a.vector(most_n);
    }

    const Riccati& riccati;
    const std::vector<int>& inequalities;
    std::vector<Constants> stages;
    Arena arena;
    double f = 0.0, *slope, *place;        // the objective, its gradient, and the z that they are of
    double *factor, *inverse, *threshold;  // of the test of H
};

}  // namespace trisweep
