// The linear system of `OptimalControl` with rows that may be missed at a price: -D in place of the zero block.
//
// Every row has a disturbance e as a further control of its stage, at the cost e'e / 2D:
//     x_child = E' z + b + e,   G' z + g + e = 0,   C' z - s + r_c + e = 0
// A soft inequality keeps its row beside the equalities; its slack is eliminated into the price, D + 1 / S.
#pragma once

#include "ocp/stages/horizon.hpp"

namespace trisweep {

class SoftSystem {
public:
    SoftSystem(const Riccati& riccati, const Horizon& horizon, const std::vector<int>& root_fixed)
        : riccati(riccati),
          horizon(horizon),
          at_slack(riccati.size_z),
          at_eta(riccati.size_x),
          at_nu(riccati.size_x + riccati.size_g),
          soft(softened(riccati, horizon)) {
        soft.fixed = root_fixed;
    }

    void lay_out(Arena& a) {
        soft_h = a.vector(soft.size_z), soft_z = a.vector(soft.size_z);
        soft_g = a.vector(soft.size_g), soft_eta = a.vector(soft.size_g);
        right = a.vector(riccati.size_x);
    }

    // S (inequalities) as `OptimalControl` has it, D (rows) positive.
    bool factor(const double* S, const double* D) {
        for (std::size_t k = 0; k < riccati.stages.size(); ++k) copy_softened(int(k), S, D);
        return soft.factor() < 0;
    }

    // h_s: the slacks' part of h.
    void direction(const double* S, const double* h, const double* h_s, const double* r, const double* D, double* dv,
                   double* y) {
        const double *r_g = r + at_eta, *r_c = r + at_nu;
        std::fill_n(soft_h, soft.size_z, 0.0);
        for (std::size_t k = 0; k < riccati.stages.size(); ++k) {
            const Riccati::Stage &s = riccati.stages[k], &t = soft.stages[k];
            std::copy_n(h + s.at_z, s.nu, soft_h + t.at_z);
            std::copy_n(h + s.at_z + s.up, s.nx, soft_h + t.at_z + t.up);
            std::copy_n(r_g + s.at_g, s.ng, soft_g + t.at_g);
            for (int i = 0, at = horizon.at_c[k]; i < horizon.inequality_count[k]; ++i)
                soft_g[t.at_g + s.ng + i] = r_c[at + i] + h_s[at + i] / S[at + i];
        }
        for (int i = 0; i < riccati.size_x; ++i) right[i] = r[i] / horizon.dynamics_scale[i];
        soft.solve({soft_h, right, soft_g, nullptr}, {soft_z, y, soft_eta});
        for (int i = 0; i < riccati.size_x; ++i) y[i] /= horizon.dynamics_scale[i];
        double *ds = dv + at_slack, *eta = y + at_eta, *nu = y + at_nu;
        for (std::size_t k = 0; k < riccati.stages.size(); ++k) {
            const Riccati::Stage &s = riccati.stages[k], &t = soft.stages[k];
            fill_zero(s.n, dv + s.at_z);
            std::copy_n(soft_z + t.at_z, s.nu, dv + s.at_z);
            std::copy_n(soft_z + t.at_z + t.up, s.nx, dv + s.at_z + s.up);
            std::copy_n(soft_eta + t.at_g, s.ng, eta + s.at_g);
            const int count = horizon.inequality_count[k], at = horizon.at_c[k];
            std::copy_n(soft_eta + t.at_g + s.ng, count, nu + at);
            std::copy_n(r_c + at, count, ds + at);
            transposed_multiply_add(s.n, count, horizon.C(int(k)), s.n, dv + s.at_z, ds + at);
            // Of the two equations for ds the one that divides by the larger number.
            for (int i = at; i < at + count; ++i)
                ds[i] = D[at_nu + i] * S[i] < 1.0 ? ds[i] - D[at_nu + i] * nu[i] : (nu[i] - h_s[i]) / S[i];
        }
    }

private:
    // The tree of the soft systems: inequalities are rows beside the equalities, every row and edge has its disturbance.
    static Riccati softened(const Riccati& from, const Horizon& horizon) {
        std::vector<int> nx, nu, ng, parent;
        for (std::size_t k = 0; k < from.stages.size(); ++k) {
            const Riccati::Stage& s = from.stages[k];
            ng.push_back(s.ng + horizon.inequality_count[k]);
            int controls = s.nu + ng.back();
            for (int c = s.first_child; c >= 0; c = from.stages[c].sibling) controls += from.stages[c].nx;
            nx.push_back(s.nx);
            nu.push_back(controls);
            parent.push_back(s.parent);
        }
        return Riccati(nx, nu, ng, parent, true);
    }

    void copy_softened(int k, const double* S, const double* D) {
        const Riccati::Stage& s = riccati.stages[k];
        Riccati::Stage& t = soft.stages[k];
        const auto place = [&](int i) { return i < s.nu ? i : t.up + i - s.nu; };
        const auto from = [&](int i) { return i < s.nu ? i : s.up + i - s.nu; };
        for (int j = 0; j < s.nu + s.nx; ++j)
            for (int i = j; i < s.nu + s.nx; ++i)
                t.H[place(i) + std::ptrdiff_t(place(j)) * t.n] =
                    s.H[from(i) + std::ptrdiff_t(from(j)) * s.n] + (i == j ? s.diagonal[from(i)] : 0.0);
        int control = s.nu;
        const auto disturb = [&](double* row, double price) {
            row[control] = 1.0;
            t.H[control + std::ptrdiff_t(control) * t.n] = 1.0 / price;
            ++control;
        };
        for (int c = s.first_child; c >= 0; c = riccati.stages[c].sibling) {
            const Riccati::Stage& child = riccati.stages[c];
            double* E = soft.stages[c].E;
            for (int j = 0; j < child.nx; ++j) {
                for (int i = 0; i < s.nu + s.nx; ++i)
                    E[place(i) + std::ptrdiff_t(j) * t.n] = child.E[from(i) + std::ptrdiff_t(j) * s.n];
                const double d = horizon.dynamics_scale[child.at_x + j];
                disturb(E + std::ptrdiff_t(j) * t.n, D[child.at_x + j] / (d * d));
            }
        }
        const int at = horizon.at_c[k];
        for (int j = 0; j < t.ng; ++j) {
            const double* row =
                j < s.ng ? s.G + std::ptrdiff_t(j) * s.n : horizon.C(k) + std::ptrdiff_t(j - s.ng) * s.n;
            for (int i = 0; i < s.nu + s.nx; ++i) t.G[place(i) + std::ptrdiff_t(j) * t.n] = row[from(i)];
            disturb(t.G + std::ptrdiff_t(j) * t.n,
                    j < s.ng ? D[at_eta + s.at_g + j] : D[at_nu + at + j - s.ng] + 1.0 / S[at + j - s.ng]);
        }
    }

    const Riccati& riccati;
    const Horizon& horizon;
    const int at_slack, at_eta, at_nu;  // parts of v and y
    Riccati soft;
    double *soft_h, *soft_z, *soft_g, *soft_eta, *right;
};

}  // namespace trisweep
