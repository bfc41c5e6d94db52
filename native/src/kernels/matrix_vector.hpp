// Products of a matrix and a vector; // matrices as `matrix_product.hpp` has them.
#pragma once

#include "vector.hpp"

namespace trisweep {

// MV vectors of y += SIGN A x. Even and odd columns have sums of their own, which halves the chain of dependent additions. A
// function of its own, as are its like: what small matrices cost is registers saved on the way in.
template <int MV, int SIGN>
[[gnu::noinline]] inline void multiply_add_rows(int columns, const double* A, std::ptrdiff_t ld, const double* x,
                                                double* y) {
    vec even[MV], odd[MV];
#pragma GCC unroll 8
    for (int t = 0; t < MV; ++t) even[t] = load(y + t * W), odd[t] = vec{};
    for (; columns >= 2; columns -= 2, A += 2 * ld, x += 2) {
        const vec s0 = broadcast(SIGN > 0 ? x[0] : -x[0]), s1 = broadcast(SIGN > 0 ? x[1] : -x[1]);
#pragma GCC unroll 8
        for (int t = 0; t < MV; ++t) {
            even[t] += load(A + t * W) * s0;
            odd[t] += load(A + ld + t * W) * s1;
        }
    }
    if (columns > 0) {
        const vec s0 = broadcast(SIGN > 0 ? x[0] : -x[0]);
#pragma GCC unroll 8
        for (int t = 0; t < MV; ++t) even[t] += load(A + t * W) * s0;
    }
#pragma GCC unroll 8
    for (int t = 0; t < MV; ++t) store(y + t * W, even[t] + odd[t]);
}

// y += SIGN A x
template <int SIGN = 1>
inline void multiply_add(int rows, int columns, const double* A, int ld, const double* x, double* y) {
    if (columns == 0) return;
    for (; rows > 6 * W; rows -= 6 * W, A += 6 * W, y += 6 * W) multiply_add_rows<6, SIGN>(columns, A, ld, x, y);
    if (rows > 0) with_count<6>(rows / W, [&]<int MV>() { multiply_add_rows<MV, SIGN>(columns, A, ld, x, y); });
}

// NC entries of y += SIGN A' x
template <int NC, int SIGN>
[[gnu::noinline]] inline void transposed_multiply_add_columns(int rows, const double* A, std::ptrdiff_t ld,
                                                              const double* x, double* y) {
    vec acc[4] = {};
    for (; rows > 0; rows -= W, A += W, x += W) {
        const vec v = load(x);
#pragma GCC unroll 8
        for (int t = 0; t < NC; ++t) acc[t] += load(A + t * ld) * v;
    }
    const quad sum = sums(acc[0], acc[1], acc[2], acc[3]), total = SIGN > 0 ? sum : -sum;
    if constexpr (NC == 4) {
        loose_quad* to = reinterpret_cast<loose_quad*>(y);
        *to = *to + total;
    } else {
#pragma GCC unroll 8
        for (int t = 0; t < NC; ++t) y[t] += total[t];
    }
}

// y += SIGN A' x
template <int SIGN = 1>
inline void transposed_multiply_add(int rows, int columns, const double* A, int ld, const double* x, double* y) {
    for (; columns > 4; columns -= 4, A += 4 * std::ptrdiff_t(ld), y += 4)
        transposed_multiply_add_columns<4, SIGN>(rows, A, ld, x, y);
    if (columns > 0)
        with_count<4>(columns, [&]<int NC>() { transposed_multiply_add_columns<NC, SIGN>(rows, A, ld, x, y); });
}

// y += A x for a symmetric A of which the lower triangle is given, with zeros above it: every block of columns is read once.
inline void symmetric_multiply_add(int size, const double* A, std::ptrdiff_t ld, const double* x, double* y) {
    for (int j = 0; j < size; j += PAD) {
        const double* block = A + j + j * ld;
        vec acc[PAD] = {}, along[PAD];
#pragma GCC unroll 8
        for (int c = 0; c < PAD; ++c) along[c] = broadcast(x[j + c]);
        for (int i = 0; i < size - j; i += W) {
            const vec here = load(x + j + i);
            vec to = load(y + j + i);
#pragma GCC unroll 8
            for (int c = 0; c < PAD; ++c) {
                const vec entries = load(block + c * ld + i);
                to += entries * along[c];
                acc[c] += entries * here;
            }
            store(y + j + i, to);
        }
        const quad sum = sums(acc[0], acc[1], acc[2], acc[3]);
        for (int c = 0; c < PAD; ++c) y[j + c] += sum[c] - block[c + c * ld] * x[j + c];
    }
}

// y += L L' x for a lower triangle L of padded(size) rows, whose diagonal blocks of PAD have zeros above the diagonal: every block
// of columns is read once.
inline void square_multiply_add(int size, const double* L, std::ptrdiff_t ld, const double* x, double* y) {
    for (int j = 0; j < size; j += PAD) {
        const int rows = padded(size) - j;
        const double* block = L + j + j * ld;
        with_count<PAD>(size - j < PAD ? size - j : PAD, [&]<int NC>() {
            vec acc[PAD] = {}, along[NC];
            for (int i = 0; i < rows; i += W)
#pragma GCC unroll 8
                for (int c = 0; c < NC; ++c) acc[c] += load(block + c * ld + i) * load(x + j + i);
            const quad sum = sums(acc[0], acc[1], acc[2], acc[3]);
#pragma GCC unroll 8
            for (int c = 0; c < NC; ++c) along[c] = broadcast(sum[c]);
            for (int i = 0; i < rows; i += W) {
                vec to = load(y + j + i);
#pragma GCC unroll 8
                for (int c = 0; c < NC; ++c) to += load(block + c * ld + i) * along[c];
                store(y + j + i, to);
            }
        });
    }
}

}  // namespace trisweep
