// Large products, their columns shared by threads, and work on many stages. A sum is the same whoever computes it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "matrix_product.hpp"
#include "threads.hpp"

namespace trisweep {

class SharedProducts {
public:
    // D = C + SIGN A B'; see `trisweep::product_nt`.
    template <bool LOWER, int SIGN>
    void product_nt(int rows, int columns, int depth, const double* A, int lda, const double* B, int ldb,
                    const double* C, int ldc, double* D, int ldd) const {
        const auto part = [&](int first, int end) {
            product<LOWER, true, SIGN>(rows, end, depth, A, lda, B, ldb, C, ldc, D, ldd, first);
        };
        const double work = double(rows) * columns * depth * (LOWER ? 0.5 : 1.0);
        if (!several() || work < LEAST_WORK) return part(0, columns);
        const int pieces = PIECES_EACH * threads->count();
        const auto edge = [&](int i) {  // so that triangles too are cut into equal parts
            const double share = double(i) / pieces, at = LOWER ? 1.0 - std::sqrt(1.0 - share) : share;
            return i == pieces ? columns : int(at * columns) / TILE_COLUMNS * TILE_COLUMNS;
        };
        threads->run(pieces, [&](int piece, int) {
            if (edge(piece) < edge(piece + 1)) part(edge(piece), edge(piece + 1));
        });
    }

    // job(begin, end) for blocks of the n rows (a padded number) of a lower triangle, of which row i takes i + `also` times
    // some work; the blocks begin at whole vectors.
    template <class Job>
    void rows_of_triangle(int n, double also, const Job& job) const {
        if (!several()) return job(0, n);
        const int pieces = threads->count();
        const double most = 0.5 * n * n + also * n;
        const auto edge = [&](int i) {
            const double rows = std::sqrt(also * also + 2.0 * most * i / pieces) - also;
            return i == pieces ? n : int(rows) / PAD * PAD;
        };
        threads->run(pieces, [&](int piece, int) {
            if (edge(piece) < edge(piece + 1)) job(edge(piece), edge(piece + 1));
        });
    }

    // job(i) for i from first to below end, in any order.
    template <class Job>
    void each(int first, int end, const Job& job) const {
        if (!several()) {
            for (int i = first; i < end; ++i) job(i);
            return;
        }
        const int pieces = std::min(end - first, PIECES_EACH * threads->count());
        threads->run(pieces, [&](int piece, int) {
            const auto edge = [&](int i) { return first + int(std::int64_t(end - first) * i / pieces); };
            for (int i = edge(piece); i < edge(piece + 1); ++i) job(i);
        });
    }

    bool several() const { return threads && threads->count() > 1; }

    Threads* threads = nullptr;

private:
    static constexpr double LEAST_WORK = 2e5;  // multiplications that are worth calling others for
    static constexpr int PIECES_EACH = 2;
};

}  // namespace trisweep
