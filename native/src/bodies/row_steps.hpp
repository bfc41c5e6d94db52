// Steps that combine few rows of a matrix with each other,
//
//     x_target <- (own x_target + sign sum_t value_t y_source_t) scale
//
// as a list that is written once. The values, of W stages each, change from call to call. A row is a vector of lanes, one number
// of each stage, or, of one stage, a column of n numbers in memory.
#pragma once

#include <vector>

#include "kernels/vector.hpp"

namespace trisweep {

class RowSteps {
public:
    static constexpr int NONE = -1;

    // The next step; its terms follow. `scale`: a value, or NONE.
    void begin(int target, double own, double sign, int scale = NONE) {
        steps.push_back({target, int(terms.size()), int(terms.size()), scale, own, sign});
    }
    void add(int value, int source) {
        terms.push_back({value * W, source});
        steps.back().end = int(terms.size());
    }

    // On vectors of lanes, one after another in x and y; y may be x.
    void on_lanes(const double* values, const double* y, double* x) const {
        for (const Step& s : steps) {
            vec sum{};
            for (int t = s.first; t < s.end; ++t) sum += load(values + terms[t].value) * load(y + terms[t].source * W);
            vec found = s.own * load(x + s.target * W) + s.sign * sum;
            if (s.scale != NONE) found *= load(values + s.scale * W);
            store(x + s.target * W, found);
        }
    }

    // On columns of n numbers, a padded number, with the values of one stage: `values` begins at its lane. Y may be X.
    void on_columns(const double* values, int n, const double* Y, double* X) const {
        int i = 0;  // in strips that stay in the nearest cache
        for (; i + STRIP * W <= n; i += STRIP * W) strip<STRIP>(values, n, Y + i, X + i);
        if (i + STRIP / 2 * W <= n) strip<STRIP / 2>(values, n, Y + i, X + i), i += STRIP / 2 * W;
        for (; i + 2 * W <= n; i += 2 * W) strip<2>(values, n, Y + i, X + i);
        if (i < n) strip<1>(values, n, Y + i, X + i);
    }

private:
    static constexpr int STRIP = 12;

    struct Step {
        int target, first, end, scale;
        double own, sign;
    };
    struct Term {
        int value, source;
    };

    template <int MV>
    void strip(const double* values, int n, const double* Y, double* X) const {
        for (const Step& s : steps) {
            vec sum[MV] = {};
            for (int t = s.first; t < s.end; ++t) {
                const vec value = broadcast(values[terms[t].value]);
                const double* y = Y + std::ptrdiff_t(terms[t].source) * n;
#pragma GCC unroll 16
                for (int v = 0; v < MV; ++v) sum[v] += value * load(y + v * W);
            }
            const double scale = s.scale == NONE ? 1.0 : values[s.scale * W];
            const vec own = broadcast(s.own * scale), sign = broadcast(s.sign * scale);
            double* x = X + std::ptrdiff_t(s.target) * n;
#pragma GCC unroll 16
            for (int v = 0; v < MV; ++v) store(x + v * W, own * load(x + v * W) + sign * sum[v]);
        }
    }

    std::vector<Step> steps;
    std::vector<Term> terms;
};

}  // namespace trisweep
