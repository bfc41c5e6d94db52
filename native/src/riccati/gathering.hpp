// What a stage of the sweep sees once its children are eliminated: H + sum of E P E', its own rows and those they passed on.
#pragma once

#include "riccati_stage.hpp"

namespace trisweep {

class Gathering {
public:
    // What a row's terms in x count beside those in u, and those in u beside those in x, where pivots are compared with them: for
    // rounding of whoever wrote the row, and in full where states and controls are of one kind.
    static constexpr double BESIDE = ROW_ROUNDING / RANK_TOLERANCE;
    double beside = BESIDE;

    void lay_out(Arena& a, int most_n, int most_x) {
        scratch = a.matrix(most_n, most_x);
        terms = a.vector(most_n);
        light_product.lay_out(a, most_x, most_n);
    }

    // Rows of stage s, and the sizes of their terms, on the bench.
    void gather_rows(std::vector<RiccatiStage>& stages, RiccatiStage& s, const Workbench& bench) {
        int rows = s.ng;
        for (int i = 0; i < s.ng; ++i) {
            copy(s.n, s.G + i * s.n, bench.G + i * s.n);
            measure_row(s, i, bench.G + i * s.n, bench);
        }
        for (int c = s.first_child; c >= 0; c = stages[c].sibling) {
            RiccatiStage& child = stages[c];
            child.at_rows = rows;
            const int passed = child.sweep.passed;
            product_nn<1>(s.n, passed, child.nx, child.E, s.n, child.sweep.Gx, padded(child.nx), nullptr, 0,
                          bench.G + rows * s.n, s.n);
            for (int i = 0; i < passed; ++i) measure_passed_row(s, child, i, rows + i, bench);
            rows += passed;
        }
    }

    // Hessian of stage s, on the bench. controls() comes when its columns of u are there, perhaps before the others are.
    template <class Controls>
    void gather_hessian(std::vector<RiccatiStage>& stages, RiccatiStage& s, const Workbench& bench,
                        const SharedProducts& shared, const Controls& controls) {
        Elimination& e = s.sweep;
        const double* hessian = s.H;
        int hessian_ld = s.n;
        const int columns = s.up + s.nx;
        FurtherFactors penalties{s.penalties, s.CS, s.n, s.C, s.n};
        if (s.penalties && !(s.first_child >= 0 && stages[s.first_child].light.pattern)) {
            add_penalties(s, bench);
            penalties.depth = 0;
            hessian = bench.H;
            hessian_ld = e.ld;
        }
        for (int i = 0; i < s.nu; ++i)
            bench.diagonal[i] = std::fabs(hessian[i + i * hessian_ld] + (s.diagonal ? s.diagonal[i] : 0.0));
        bool told = false;
        const auto tell = [&] {
            for (int i = 0; i < s.nu; ++i) {
                if (s.diagonal) bench.H[i + i * e.ld] += s.diagonal[i];
                bench.diagonal[i] = std::max(bench.diagonal[i], std::fabs(bench.H[i + i * e.ld]));
            }
            controls();
            told = true;
        };
        for (int c = s.first_child; c >= 0; c = stages[c].sibling) {
            RiccatiStage& child = stages[c];
            const int xp = padded(child.nx);
            const double* right = scratch;
            if (child.light.pattern) {
                light_product.add(child.light, s.up, s.n, columns, child.nx, child.E, child.sweep.P, penalties, hessian,
                                  hessian_ld, scratch, bench.H, e.ld, shared, [&] {
                                      if (child.sibling < 0) tell();
                                  });
                penalties.depth = 0;
                right = nullptr;
            } else if (child.sweep.rooted) {
                product_triangle(s.n, child.nx, child.E, s.n, child.sweep.P, xp, scratch, s.n);
            } else {
                shared.product_nt<false, 1>(s.n, child.nx, child.nx, child.E, s.n, child.sweep.P, xp, nullptr, 0,
                                            scratch, s.n);
                right = child.E;
            }
            if (right)
                shared.product_nt<true, 1>(s.n, columns, child.nx, scratch, s.n, right, s.n, hessian, hessian_ld,
                                           bench.H, e.ld);
            hessian = bench.H;
            hessian_ld = e.ld;
        }
        if (hessian == s.H)
            for (int j = 0; j < columns; ++j) copy(s.n, s.H + j * s.n, bench.H + j * e.ld);
        if (!told) tell();
        for (int i = s.up; s.diagonal && i < columns; ++i) bench.H[i + i * e.ld] += s.diagonal[i];
    }

    // H + C S C' on the bench.
    static void add_penalties(const RiccatiStage& s, const Workbench& bench) {
        product_nt<true, 1>(s.n, s.up + s.nx, s.penalties, s.CS, s.n, s.C, s.n, s.H, s.n, bench.H, s.sweep.ld);
    }

    double* scratch;  // room for a stage's n by the states of a child

private:
    void measure_row(const RiccatiStage& s, int i, const double* row, const Workbench& bench) const {
        const double u = largest_entry(s.up, row), x = largest_entry(s.n - s.up, row + s.up);
        bench.size_u[i] = std::max(u, beside * x), bench.size_x[i] = std::max(x, beside * u);
    }

    // The size of the terms of row i of the child's after it went through the edge, where it is row `to`: the largest entry of
    // |Gx| |E'|.
    void measure_passed_row(const RiccatiStage& s, const RiccatiStage& child, int i, int to,
                            const Workbench& bench) const {
        const double* row = child.sweep.Gx + i * padded(child.nx);
        fill_zero(s.n, terms);
        for (int j = 0; j < child.nx; ++j) {
            const double entry = std::fabs(row[j]);
            const double* along = child.E + std::ptrdiff_t(j) * s.n;
            for (int t = 0; entry != 0.0 && t < s.n; t += W)
                store(terms + t, load(terms + t) + entry * magnitude(load(along + t)));
        }
        measure_row(s, to, terms, bench);
    }

    LightProduct light_product;
    double* terms;
};

}  // namespace trisweep
