// What the diagonal of a stage's H + Sigma lacks beside the other entries of its rows (Gershgorin): where a delta is of use, and up
// to where. With that much on the diagonal no direction of the stage curves down; variables that lack nothing need none of it.
//
//     lack_i = sum over j of |H_ij| sqrt(d_i / d_j) - (H_ii + Sigma_i),      d_i = max(H_ii + Sigma_i, NOT_FLAT |H_ij| u_j / u_i)
//
// The units u make that the same in any of them. The root sees each pair of variables at their own scales: where the product of their
// curvatures is more than H_ij squared, as at a contact that is open or closed, the pair lacks nothing, however flat one of the two is.
#pragma once

#include <algorithm>
#include <cmath>

#include "riccati/riccati.hpp"

namespace trisweep {

class Shortfall {
public:
    explicit Shortfall(const Riccati& riccati) : riccati(riccati) {}

    void lay_out(Arena& a) { lack = a.vector(riccati.size_z); }

    // H or Sigma have changed.
    void forget() { known = false; }

    // A delta on the diagonal, beside Sigma: all of it where that is lacking, less elsewhere. `weight`: of every variable's delta, 0
    // where there is none; `unit`: of the variables.
    void shift(const double* sigma, double delta, const double* weight, const double* unit, double* diagonal) {
        if (!known) find(sigma, unit);
        for (int i = 0; i < riccati.size_z; ++i)
            diagonal[i] = sigma[i] + std::min(weight[i] * delta, lack[i]) + LEAST * weight[i] * delta;
    }

private:
    static constexpr double LEAST =
        1e-3;  // share of a delta that all variables get: not all curvature is a stage's own
    static constexpr double NOT_FLAT = 0.03;  // share of an entry that a diagonal counts as at least

    void find(const double* sigma, const double* unit) {
        known = true;
        for (const Riccati::Stage& s : riccati.stages) {
            double* here = lack + s.at_z;
            std::fill_n(here, s.n, 0.0);
            const auto own = [&](int i) { return s.H[i + std::ptrdiff_t(i) * s.n] + sigma[s.at_z + i]; };
            for (int j = 0; j < s.n; ++j)
                for (int i = j + 1; i < s.n; ++i) {
                    const double entry = std::fabs(s.H[i + std::ptrdiff_t(j) * s.n]), least = NOT_FLAT * entry;
                    if (entry == 0.0) continue;
                    const double beside = unit[s.at_z + j] / unit[s.at_z + i];
                    const double ratio = std::sqrt(std::max(own(i), least * beside) / std::max(own(j), least / beside));
                    here[i] += entry * ratio, here[j] += entry / ratio;
                }
            for (int i = 0; i < s.n; ++i) here[i] = std::max(0.0, here[i] - own(i));
        }
    }

    const Riccati& riccati;
    double* lack;  // along z
    bool known = false;
};

}  // namespace trisweep
