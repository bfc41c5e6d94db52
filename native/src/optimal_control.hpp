// The optimal-control problem as a `Program`: slacks for the inequalities, linear systems by the Riccati sweep.
//
//     v = (z of all stages, slacks s),   y = (lambda of the edges, eta of the equalities, nu of the inequalities)
//     r = (F(z) - x_child, g(z), c(z) - s)
//
// Slacks and nu are eliminated stage by stage (004 eq. 35):
//     ds = C' dz + r_c,   nu = Sigma_s ds + h_s,   H += C Sigma_s C',   h_z += C (Sigma_s r_c + h_s)
//
// `Soft` systems, for restoration, have -D in place of the zero block: rows may be missed at a price. Every row then has a
// disturbance e as a further control of its stage, at the cost e'e / 2D: x_child = E' z + b + e, G' z + g + e = 0.
#pragma once

#include "horizon.hpp"
#include "program.hpp"

namespace trisweep {

class OptimalControl : public Program {
public:
    OptimalControl(Riccati& riccati, Horizon& horizon) : horizon(horizon), riccati(riccati), soft(softened(riccati, horizon)) {
        size_v = riccati.size_z + horizon.size_c;
        size_y = riccati.size_x + riccati.size_g + horizon.size_c;
        for (std::size_t k = 0; k < riccati.stages.size(); ++k) {
            const Riccati::Stage& s = riccati.stages[k];
            variables += s.nu + s.nx + horizon.inequality_count[k];
            rows += (k ? s.nx : 0) + s.ng + horizon.inequality_count[k];
        }
        arena.build([this](Arena& a) { lay_out(a); });
    }

    // Offsets of the parts of v and y.
    int at_slack() const { return riccati.size_z; }
    int at_eta() const { return riccati.size_x; }
    int at_nu() const { return riccati.size_x + riccati.size_g; }

    // Bounds of z and of the slacks, in the layout of v; infinite where there is none.
    void set_bounds(const double* low, const double* high) {
        lower.count = upper.count = 0;
        for (int i = 0; i < size_v; ++i) {
            if (low[i] > -INFINITY) lower.at[lower.count] = i, lower.bound[lower.count++] = low[i];
            if (high[i] < INFINITY) upper.at[upper.count] = i, upper.bound[upper.count++] = high[i];
        }
    }

    // Scale the objective and every equality and inequality to derivatives of at most `largest` at z (Sec. 3.8 there).
    bool scale(const double* z, double largest) {
        const auto factor = [=](double entry) { return entry > largest ? std::max(largest / entry, 1e-8) : 1.0; };
        horizon.objective_scale = 1.0;
        std::fill_n(horizon.equality_scale, riccati.size_g, 1.0);
        std::fill_n(horizon.inequality_scale, horizon.size_c, 1.0);
        std::fill_n(multipliers, size_y, 0.0);
        Values values{0.0, right, right + at_eta(), right + at_nu()};
        if (!horizon.evaluate(z, values)) return false;
        if (!horizon.differentiate(z, {multipliers, multipliers + at_eta(), multipliers + at_nu()})) return false;
        horizon.objective_scale = factor(largest_entry(riccati.size_z, horizon.gradient));
        for (std::size_t k = 0; k < riccati.stages.size(); ++k) {
            const Riccati::Stage& s = riccati.stages[k];
            for (int i = 0; i < s.ng; ++i) horizon.equality_scale[s.at_g + i] = factor(largest_entry(s.n, s.G + i * s.n));
            for (int i = 0; i < horizon.inequality_count[k]; ++i)
                horizon.inequality_scale[horizon.at_c[k] + i] = factor(largest_entry(s.n, horizon.C(int(k)) + i * s.n));
        }
        return true;
    }

    bool evaluate(const double* v, double& f, double* r) override {
        Values values{0.0, r, r + at_eta(), r + at_nu()};
        const bool finite = horizon.evaluate(v, values);
        f = values.objective;
        const double* s = v + at_slack();
        for (int i = 0; i < horizon.size_c; ++i) values.c[i] -= s[i];
        return finite;
    }

    bool differentiate(const double* v, const double* y) override {
        double* weights = multipliers;
        std::copy_n(y, size_y, weights);
        applied = 0.0, penalised = false;
        const bool finite = horizon.differentiate(v, {weights, weights + at_eta(), weights + at_nu()});
        copy(padded(riccati.size_z), horizon.gradient, gradient_v);
        return finite;
    }

    void recentre(double* v) override { horizon.recentre(v); }

    const double* gradient() const override { return gradient_v; }

    void add_transposed_product(const double* y, double* out) const override {
        const double *eta = y + at_eta(), *nu = y + at_nu();
        for (std::size_t k = 0; k < riccati.stages.size(); ++k) {
            const Riccati::Stage& s = riccati.stages[k];
            double* z = out + s.at_z;
            multiply_add(s.n, s.ng, s.G, s.n, eta + s.at_g, z);
            multiply_add(s.n, horizon.inequality_count[k], horizon.C(int(k)), s.n, nu + horizon.at_c[k], z);
            for (int c = s.first_child; c >= 0; c = riccati.stages[c].sibling) {
                const Riccati::Stage& child = riccati.stages[c];
                multiply_add(s.n, child.nx, child.E, s.n, y + child.at_x, z);
            }
            if (k > 0)
                for (int i = 0; i < s.nx; ++i) z[s.up + i] -= y[s.at_x + i];
        }
        for (int i = 0; i < horizon.size_c; ++i) out[at_slack() + i] -= nu[i];
    }

    void clear_hessian() override {
        applied = 0.0, penalised = false;
        for (Riccati::Stage& s : riccati.stages) fill_zero(s.n * s.n, s.H);
    }

    void add_barrier(const double* sigma) override {
        std::copy_n(sigma + at_slack(), horizon.size_c, sigma_s);
        for (Riccati::Stage& s : riccati.stages)
            for (int i = 0; i < s.n; ++i) s.H[i + std::ptrdiff_t(i) * s.n] += sigma[s.at_z + i];
    }

    bool factor(double delta) override {
        add_penalties();
        shift_diagonal(delta);
        return riccati.factor() < 0;
    }

    void direction(const double* h, const double* r, double* dv, double* y) override {
        const double *r_c = r + at_nu(), *h_s = h + at_slack();
        copy(padded(riccati.size_z), h, reduced_h);
        for (std::size_t k = 0; k < riccati.stages.size(); ++k) {
            const int count = horizon.inequality_count[k], at = horizon.at_c[k];
            const Riccati::Stage& s = riccati.stages[k];
            for (int i = 0; i < count; ++i) along[i] = sigma_s[at + i] * r_c[at + i] + h_s[at + i];
            multiply_add(s.n, count, horizon.C(int(k)), s.n, along, reduced_h + s.at_z);
        }
        std::copy_n(r, at_nu(), right);
        riccati.solve({reduced_h, right, right + at_eta(), nullptr}, {dv, y, y + at_eta()});
        double *ds = dv + at_slack(), *nu = y + at_nu();
        std::copy_n(r_c, horizon.size_c, ds);
        for (std::size_t k = 0; k < riccati.stages.size(); ++k) {
            const Riccati::Stage& s = riccati.stages[k];
            transposed_multiply_add(s.n, horizon.inequality_count[k], horizon.C(int(k)), s.n, dv + s.at_z, ds + horizon.at_c[k]);
        }
        for (int i = 0; i < horizon.size_c; ++i) nu[i] = sigma_s[i] * ds[i] + h_s[i];
    }

    // The same with -D (size_y, positive) in the lower right block.
    bool factor_soft(double delta, const double* D) {
        shift_diagonal(delta);
        for (std::size_t k = 0; k < riccati.stages.size(); ++k) copy_softened(int(k), D);
        return soft.factor() < 0;
    }

    void direction_soft(const double* h, const double* r, const double* D, double* dv, double* y) {
        const double *r_g = r + at_eta(), *r_c = r + at_nu(), *h_s = h + at_slack();
        std::fill_n(soft_h, soft.size_z, 0.0);
        for (std::size_t k = 0; k < riccati.stages.size(); ++k) {
            const Riccati::Stage &s = riccati.stages[k], &t = soft.stages[k];
            std::copy_n(h + s.at_z, s.nu, soft_h + t.at_z);
            std::copy_n(h + s.at_z + s.up, s.nx, soft_h + t.at_z + t.up);
            std::copy_n(r_g + s.at_g, s.ng, soft_g + t.at_g);
            for (int i = 0, at = horizon.at_c[k]; i < horizon.inequality_count[k]; ++i)
                soft_g[t.at_g + s.ng + i] = r_c[at + i] + h_s[at + i] / sigma_s[at + i];
        }
        std::copy_n(r, riccati.size_x, right);
        soft.solve({soft_h, right, soft_g, nullptr}, {soft_z, y, soft_eta});
        double *ds = dv + at_slack(), *eta = y + at_eta(), *nu = y + at_nu();
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
                ds[i] = D[at_nu() + i] * sigma_s[i] < 1.0 ? ds[i] - D[at_nu() + i] * nu[i] : (nu[i] - h_s[i]) / sigma_s[i];
        }
    }

    // out = J dv
    void row_products(const double* dv, double* out) const {
        std::fill_n(out, size_y, 0.0);
        for (std::size_t k = 0; k < riccati.stages.size(); ++k) {
            const Riccati::Stage& s = riccati.stages[k];
            const double* z = dv + s.at_z;
            transposed_multiply_add(s.n, s.ng, s.G, s.n, z, out + at_eta() + s.at_g);
            transposed_multiply_add(s.n, horizon.inequality_count[k], horizon.C(int(k)), s.n, z, out + at_nu() + horizon.at_c[k]);
            for (int c = s.first_child; c >= 0; c = riccati.stages[c].sibling) {
                const Riccati::Stage& child = riccati.stages[c];
                transposed_multiply_add(s.n, child.nx, child.E, s.n, z, out + child.at_x);
                for (int i = 0; i < child.nx; ++i) out[child.at_x + i] -= dv[child.at_z + child.up + i];
            }
        }
        for (int i = 0; i < horizon.size_c; ++i) out[at_nu() + i] -= dv[at_slack() + i];
    }

    Horizon& horizon;
    Riccati& riccati;

private:
    // The tree of the soft systems: inequalities are rows beside the equalities, every row and edge has its disturbance.
    static Riccati softened(const Riccati& from, const Horizon& horizon) {
        std::vector<int> nx, nu, ng, parent;
        for (std::size_t k = 0; k < from.stages.size(); ++k) {
            const Riccati::Stage& s = from.stages[k];
            ng.push_back(s.ng + horizon.inequality_count[k]);
            int controls = s.nu + ng.back();
            for (int c = s.first_child; c >= 0; c = from.stages[c].sibling) controls += from.stages[c].nx;
            nx.push_back(s.nx), nu.push_back(controls), parent.push_back(s.parent);
        }
        return Riccati(nx, nu, ng, parent, true);
    }

    void lay_out(Arena& a) {
        int most_n = PAD, most_rows = PAD;
        for (std::size_t k = 0; k < riccati.stages.size(); ++k) {
            most_n = std::max(most_n, riccati.stages[k].n);
            most_rows = std::max({most_rows, riccati.stages[k].ng, horizon.inequality_count[k]});
        }
        lower.lay_out(a, size_v);
        upper.lay_out(a, size_v);
        upper.sign = -1.0;
        gradient_v = a.vector(size_v);
        reduced_h = a.vector(riccati.size_z);
        right = a.vector(size_y);
        multipliers = a.vector(size_y);
        sigma_s = a.vector(horizon.size_c);
        along = a.vector(most_rows);
        weighted = a.matrix(most_n, most_rows);
        soft_h = a.vector(soft.size_z);
        soft_z = a.vector(soft.size_z);
        soft_g = a.vector(soft.size_g);
        soft_eta = a.vector(soft.size_g);
    }

    // Once after `differentiate`: H += C Sigma_s C'.
    void add_penalties() {
        if (penalised) return;
        penalised = true;
        for (std::size_t k = 0; k < riccati.stages.size(); ++k) {
            Riccati::Stage& s = riccati.stages[k];
            const int count = horizon.inequality_count[k];
            if (count == 0) continue;
            const double *C = horizon.C(int(k)), *sigma = sigma_s + horizon.at_c[k];
            for (int i = 0; i < count; ++i)
                for (int t = 0; t < s.n; ++t) weighted[t + i * s.n] = sigma[i] * C[t + i * s.n];
            product_nt<true, 1>(s.n, s.up + s.nx, count, weighted, s.n, C, s.n, s.H, s.n, s.H, s.n);
        }
    }

    // Bring the diagonal of H at u and x from the delta it has to another one.
    void shift_diagonal(double delta) {
        for (Riccati::Stage& s : riccati.stages) {
            for (int i = 0; i < s.nu; ++i) s.H[i + std::ptrdiff_t(i) * s.n] += delta - applied;
            for (int i = s.up; i < s.up + s.nx; ++i) s.H[i + std::ptrdiff_t(i) * s.n] += delta - applied;
        }
        applied = delta;
    }

    void copy_softened(int k, const double* D) {
        const Riccati::Stage& s = riccati.stages[k];
        Riccati::Stage& t = soft.stages[k];
        const auto place = [&](int i) { return i < s.nu ? i : t.up + i - s.nu; };
        const auto from = [&](int i) { return i < s.nu ? i : s.up + i - s.nu; };
        for (int j = 0; j < s.nu + s.nx; ++j)
            for (int i = j; i < s.nu + s.nx; ++i) t.H[place(i) + std::ptrdiff_t(place(j)) * t.n] = s.H[from(i) + std::ptrdiff_t(from(j)) * s.n];
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
                for (int i = 0; i < s.nu + s.nx; ++i) E[place(i) + std::ptrdiff_t(j) * t.n] = child.E[from(i) + std::ptrdiff_t(j) * s.n];
                disturb(E + std::ptrdiff_t(j) * t.n, D[child.at_x + j]);
            }
        }
        const int at = horizon.at_c[k];
        for (int j = 0; j < t.ng; ++j) {
            const double* row = j < s.ng ? s.G + std::ptrdiff_t(j) * s.n : horizon.C(k) + std::ptrdiff_t(j - s.ng) * s.n;
            for (int i = 0; i < s.nu + s.nx; ++i) t.G[place(i) + std::ptrdiff_t(j) * t.n] = row[from(i)];
            disturb(t.G + std::ptrdiff_t(j) * t.n,
                    j < s.ng ? D[at_eta() + s.at_g + j] : D[at_nu() + at + j - s.ng] + 1.0 / sigma_s[at + j - s.ng]);
        }
    }

    Riccati soft;
    Arena arena;
    double applied = 0.0;     // the delta that is on the diagonal of H now
    bool penalised = false;   // whether the penalties are in H
    double *gradient_v, *reduced_h, *right, *multipliers, *sigma_s, *along, *weighted, *soft_h, *soft_z, *soft_g, *soft_eta;
};

}  // namespace trisweep
