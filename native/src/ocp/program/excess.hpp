// What is beyond soft limits: excess p over and n under the limits of an inequality, each at its price.
//
// In the linear system slack and excess are springs in a row, with one S and one h for all three,
//     1/S = 1/S_s + 1/S_p + 1/S_n,   h = S (h_s/S_s + h_p/S_p - h_n/S_n),   and ds stands for ds + dp - dn.
//
// Vectors of excess are (over, under), each along all inequalities; `there` is 1 where a soft limit makes room for it.
#pragma once

#include "ocp/stages/horizon.hpp"

namespace trisweep {

class Excess {
public:
    Excess(const Horizon& horizon, bool softness) : size(softness ? horizon.size_c : 0), horizon(horizon) {}

    void lay_out(Arena& a) {
        for (double** vector : {&stated_price, &stated_growth, &S_s, &along_s}) *vector = a.vector(size);
        for (double** vector : {&sigma_e, &bent, &S_e, &give_e}) *vector = a.vector(2 * size);
    }

    const int size;  // over limits, and under: all inequalities, or none where no limit is soft

    // Of inequality i, as the statement has it.
    void set_price(int i, double linear, double quadratic) { stated_price[i] = linear, stated_growth[i] = quadratic; }
    bool has_price(int i) const { return stated_price[i] < INFINITY; }

    // As the problem is scaled, for so much excess.
    double price(int i, double excess) const {
        return horizon.objective_scale / horizon.inequality_scale[i] *
               (stated_price[i] + stated_growth[i] / horizon.inequality_scale[i] * excess);
    }

    // f, and rows c of the inequalities, with excess e.
    void add_values(const double* there, const double* e, double& f, double* c) const {
        const double *over = e, *under = e + size;
        for (int i = 0; i < size; ++i) {
            if (there[i] != 0.0) f += over[i] * 0.5 * (price(i, 0.0) + price(i, over[i]));
            if (there[size + i] != 0.0) f += under[i] * 0.5 * (price(i, 0.0) + price(i, under[i]));
            c[i] -= over[i] - under[i];
        }
    }

    // The part of f' that excess has; f'' is kept.
    void differentiate(const double* there, const double* e, double* gradient) {
        for (int i = 0; i < 2 * size; ++i) {
            gradient[i] = there[i] != 0.0 ? price(i % size, e[i]) : 0.0;
            bent[i] = there[i] != 0.0 ? price(i % size, 1.0) - price(i % size, 0.0) : 0.0;
        }
    }
    void clear_hessian() { fill_zero(2 * size, bent); }

    void add_barrier(const double* sigma) {
        for (int i = 0; i < 2 * size; ++i) sigma_e[i] = sigma[i] + bent[i];
    }

    // S of the slacks becomes that of slacks with their excess.
    void soften(const double* there, double delta, double* S) {
        for (int i = 0; i < 2 * size; ++i) {
            S_e[i] = there[i] * (sigma_e[i] + delta);
            give_e[i] = S_e[i] > 0.0 ? 1.0 / S_e[i] : 0.0;
        }
        for (int i = 0; i < size; ++i) {
            S_s[i] = S[i];
            if (is_soft(i)) S[i] = 1.0 / (1.0 / S_s[i] + give_e[i] + give_e[size + i]);
        }
    }

    // h of the slacks with their excess, from h_s and h_e: as they were the last time, and now.
    const double* slopes(const double* h_s) const { return size ? along_s : h_s; }
    const double* slopes(const double* S, const double* h_s, const double* h_e) const {
        for (int i = 0; i < size; ++i) {
            along_s[i] = h_s[i];
            if (is_soft(i))
                along_s[i] = S[i] * (h_s[i] / S_s[i] + give_e[i] * h_e[i] - give_e[size + i] * h_e[size + i]);
        }
        return slopes(h_s);
    }

    // What ds has is the step of a slack with its excess: each takes its share.
    void divide(const double* h_e, const double* nu, double* ds, double* de) const {
        for (int i = 0; i < size; ++i) {
            double &over = de[i], &under = de[size + i];
            over = give_e[i] * (nu[i] - h_e[i]);
            under = -give_e[size + i] * (nu[i] + h_e[size + i]);
            ds[i] -= over - under;
        }
    }

    // S of the slacks alone, where S is that of slacks with their excess.
    const double* slack_S(const double* S) const { return size ? S_s : S; }

    void add_hessian_product(const double* de, double* out) const {
        for (int i = 0; i < 2 * size; ++i) out[i] += S_e[i] * de[i];
    }

private:
    bool is_soft(int i) const { return give_e[i] + give_e[size + i] > 0.0; }

    const Horizon& horizon;
    double *stated_price, *stated_growth;
    double *S_s, *along_s;                  // S of the slacks alone; h of slacks with their excess
    double *sigma_e, *bent, *S_e, *give_e;  // Sigma with the price's growth, that, S, 1 / S
};

}  // namespace trisweep
