// The matrix of a robot's unknowns y = (a, f), its factors and its inverse, numbers of one stage:
//
//     [M -J'; -J -R] y = b        M = L L',  Z = J L'^-1,  Z Z' + R = D D'
//     inverse = [U U' - Q Q'  .; -V Q'  -V V']        U = L'^-1,  V = D'^-1,  Q = U Z' V
//
// a stands in the first nv places, f from padded(nv) on.
#pragma once

#include <algorithm>
#include <limits>

#include "kernels/arena.hpp"
#include "kernels/kernels.hpp"

namespace trisweep {

class Saddle {
public:
    Saddle(int nv, int m) : nv(nv), m(m), nvp(padded(nv)), mp(padded(m)), size(nvp + mp), ld(2 * nvp + mp) {}

    int place(int i) const { return i < nv ? i : nvp + i - nv; }  // of unknown i
    int entry(int i, int j) const {
        return (i < nv ? i : nvp + i - nv) + j * ld;
    }  // of M, or for i >= nv of J, in `factor`

    void lay_out(Arena& a) {
        schur = a.matrix(2 * mp, std::max(m, 1)), Q = a.matrix(nvp, std::max(mp, 1));
        diagonal = a.vector(nvp), schur_diagonal = a.vector(std::max(m, 1)), threshold = a.vector(std::max(nv, m));
        t = a.vector(nvp), rest = a.vector(std::max(m, 1));
    }

    // F (ld, nv) holds M (lower triangle) and J below it, and becomes [L; Z; U]; U only where the inverse is wanted, which takes
    // an identity below J. Returns false where M, or with independent rows J M^-1 J', is not positive.
    bool factor(double* F, const double* softness, bool inverse) {
        for (int j = 0; j < nv; ++j) threshold[j] = SMALLEST_PIVOT * F[j + std::ptrdiff_t(j) * ld];
        for (int j = 0; inverse && j < nv; ++j) F[nvp + mp + j + std::ptrdiff_t(j) * ld] = 1.0;
        if (cholesky(inverse ? ld : nvp + mp, nv, F, ld, diagonal, threshold) >= 0) return false;
        if (m == 0) return true;
        const double* Z = F + nvp;
        for (int j = 0; j < m; ++j) std::fill_n(schur + std::ptrdiff_t(j) * 2 * mp, 2 * mp, 0.0);
        product_nt<false, 1>(mp, m, nv, Z, ld, Z, ld, nullptr, 0, schur, 2 * mp);
        for (int j = 0; j < m; ++j) {
            double* column = schur + std::ptrdiff_t(j) * 2 * mp;
            column[j] += softness[j];
            threshold[j] = SMALLEST_PIVOT * column[j];
            column[mp + j] = 1.0;
        }
        return cholesky(2 * mp, m, schur, 2 * mp, schur_diagonal, threshold) < 0;
    }

    // y with [M -J'; -J -R] y = b, after `factor`.
    void solve(const double* F, const double* b, double* y) {
        std::copy_n(b, nvp, t);
        forward(F, ld, diagonal, nv, t);
        if (m > 0) {
            std::copy_n(b + nvp, mp, rest);
            multiply_add(mp, nv, F + nvp, ld, t, rest);
            forward(schur, 2 * mp, schur_diagonal, m, rest);
            backward(schur, 2 * mp, schur_diagonal, m, rest);
            for (int i = 0; i < m; ++i) y[nvp + i] = rest[i] = -rest[i];
            transposed_multiply_add(mp, nv, F + nvp, ld, rest, t);
        }
        backward(F, ld, diagonal, nv, t);
        std::copy_n(t, nv, y);
    }

    // The inverse (size, size), after `factor` with its identity.
    void invert(const double* F, double* inverse) {
        const double *U = F + nvp + mp, *Z = F + nvp, *V = schur + mp;
        product_nt<false, 1>(nvp, nv, nv, U, ld, U, ld, nullptr, 0, inverse, size);
        if (m == 0) return;
        // Q = U (Z' V) = U (V' Z)', by way of the lower part of `inverse`, which is filled last
        double* VZ = inverse + std::ptrdiff_t(nvp) * size;
        for (int j = 0; j < m; ++j)
            for (int i = 0; i < nv; ++i) {
                double sum = 0.0;
                for (int n = 0; n <= j; ++n) sum += V[n + std::ptrdiff_t(j) * 2 * mp] * Z[n + std::ptrdiff_t(i) * ld];
                VZ[i + std::ptrdiff_t(j) * size] = sum;
            }
        product_nn<1>(nvp, m, nv, U, ld, VZ, size, nullptr, 0, Q, nvp);
        product_nt<false, -1>(nvp, nv, m, Q, nvp, Q, nvp, inverse, size, inverse, size);
        for (int j = 0; j < m; ++j) std::fill_n(inverse + std::ptrdiff_t(nvp + j) * size, size, 0.0);
        product_nt<false, -1>(nvp, m, m, Q, nvp, V, 2 * mp, nullptr, 0, VZ, size);
        product_nt<false, -1>(mp, m, m, V, 2 * mp, V, 2 * mp, nullptr, 0, VZ + nvp, size);
        for (int j = 0; j < m; ++j)
            for (int i = 0; i < nv; ++i) inverse[nvp + j + std::ptrdiff_t(i) * size] = VZ[i + std::ptrdiff_t(j) * size];
    }

    const int nv, m, nvp, mp, size, ld;

private:
    static constexpr double SMALLEST_PIVOT = 1e-13;  // of its diagonal entry: rows, or dofs, that depend on each other

    static void forward(const double* L, int ld, const double* inverse, int n, double* x) {
        for (int j = 0; j < n; ++j) {
            x[j] *= inverse[j];
            for (int i = j + 1; i < n; ++i) x[i] -= L[i + std::ptrdiff_t(j) * ld] * x[j];
        }
    }
    static void backward(const double* L, int ld, const double* inverse, int n, double* x) {
        for (int j = n - 1; j >= 0; --j) {
            double sum = x[j];
            for (int i = j + 1; i < n; ++i) sum -= L[i + std::ptrdiff_t(j) * ld] * x[i];
            x[j] = sum * inverse[j];
        }
    }

    double *schur = nullptr, *Q = nullptr, *diagonal = nullptr, *schur_diagonal = nullptr, *threshold = nullptr;
    double *t = nullptr, *rest = nullptr;
};

}  // namespace trisweep
