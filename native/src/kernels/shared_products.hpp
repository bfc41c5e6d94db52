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
        if (!is_worth(work)) return part(0, columns);
        const int pieces = PIECES_EACH * threads->count();
        const auto edge = [&](int i) {  // so that triangles too are cut into equal parts
            const double share = double(i) / pieces, at = LOWER ? 1.0 - std::sqrt(1.0 - share) : share;
            return i == pieces ? columns : int(at * columns) / TILE_COLUMNS * TILE_COLUMNS;
        };
        threads->run(pieces, [&](int piece, int) {
            if (edge(piece) < edge(piece + 1)) part(edge(piece), edge(piece + 1));
        });
    }

    // job(begin, end) for a block of the n rows (a padded number) for each thread, where rows 0 to below i take work(i) in all;
    // the blocks begin at whole vectors.
    template <class Work, class Job>
    void blocks_of_rows(int n, const Work& work, const Job& job) const {
        if (!several()) return job(0, n);
        const int pieces = threads->count();
        threads->run(pieces, [&](int piece, int) { run_block(n, work, piece, pieces, job); });
    }

    // The same for all threads but one, which does what is `beside`.
    template <class Beside, class Work, class Job>
    void blocks_beside(const Beside& beside, int n, const Work& work, const Job& job) const {
        if (!several()) return beside(), job(0, n);
        const int pieces = threads->count() - 1;
        threads->run(1 + pieces,
                     [&](int piece, int) { piece == 0 ? beside() : run_block(n, work, piece - 1, pieces, job); });
    }

    // job(i) for i from first to below end, in any order. `moved`: numbers in all.
    template <class Job>
    void each(int first, int end, const Job& job, double moved = LEAST_MOVED) const {
        if (!several() || moved < LEAST_MOVED) {
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

    // Whether so many multiplications are worth calling others for.
    bool is_worth(double work) const { return several() && work >= LEAST_WORK; }

    Threads* threads = nullptr;

private:
    template <class Work, class Job>
    static void run_block(int n, const Work& work, int piece, int pieces, const Job& job) {
        const auto edge = [&](int i) {  // the last one is the end, also where there is no work to speak of
            int row = i < pieces ? 0 : n;
            while (row < n && work(row) * pieces < work(n) * i) row += PAD;
            return row;
        };
        if (edge(piece) < edge(piece + 1)) job(edge(piece), edge(piece + 1));
    }

    static constexpr double LEAST_WORK = 2e5;
    static constexpr double LEAST_MOVED = 4e3;  // numbers likewise
    static constexpr int PIECES_EACH = 2;
};

}  // namespace trisweep
