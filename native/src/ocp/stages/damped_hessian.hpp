// The Hessian by how much of its curvature counts that rows have, and nodes inside the objective. It is linear in that share: H of
// the sweep's stages is kept at one share, a second set of matrices at another, and any other share comes from the two.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "riccati/riccati.hpp"

namespace trisweep {

class DampedHessian {
public:
    explicit DampedHessian(Riccati& riccati) : riccati(riccati) {}

    void lay_out(Arena& a) {
        others.clear();
        for (const Riccati::Stage& s : riccati.stages) others.push_back(a.matrix(s.n, s.n));
    }

    // H of the stages is whole. `bare`: so is the one at share 0, in its own place.
    void renew(bool bare) { share = 1.0, other_share = bare ? 0.0 : NAN; }
    bool knows_bare() const { return !std::isnan(other_share); }

    // Where the one at share 0 of a stage is to be written, before `renew`: lower triangles, as those of H.
    double* bare(int stage) const { return others[stage]; }

    // Once both are known: H of the stages at this share.
    void count(double wanted) {
        if (wanted == share) return;
        if (wanted == other_share) {
            for (std::size_t k = 0; k < others.size(); ++k) std::swap(riccati.stages[k].H, others[k]);
            std::swap(share, other_share);
            return;
        }
        const double way = (wanted - other_share) / (share - other_share);
        riccati.shared.each(0, int(others.size()), [&](int k) {
            const int n = riccati.stages[k].n;
            for (int j = 0; j < n; ++j) {
                double* H = riccati.stages[k].H + std::ptrdiff_t(j) * n;
                const double* other = others[k] + std::ptrdiff_t(j) * n;
                for (int i = j / W * W; i < n; i += W)
                    store(H + i, load(other + i) + way * (load(H + i) - load(other + i)));
            }
        });
        share = wanted;
    }

private:
    Riccati& riccati;
    std::vector<double*> others;
    double share = 1.0, other_share = NAN;  // NaN: not known
};

}  // namespace trisweep
