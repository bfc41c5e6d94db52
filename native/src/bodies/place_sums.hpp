// Sums of products at places of a dense matrix that is mostly zero, of W stages at once:
//
//     sum_t  share_t value_t factor_t other_t
//
// The products are listed once, values and factors are vectors of lanes.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/vector.hpp"

namespace trisweep {

class PlaceSums {
public:
    void add(int to, int value, int factor, int other, double share) {
        terms.push_back({value * W, factor * W, other * W, to, share});
    }

    // When all are there.
    void sort() {
        std::stable_sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.to < b.to; });
        for (std::size_t t = 0; t < terms.size(); ++t) {
            if (places.empty() || places.back().to != terms[t].to) places.push_back({terms[t].to, 0});
            places.back().end = int(t) + 1;
        }
    }

    std::size_t size() const { return places.size(); }

    // Into size() vectors of lanes.
    void find(const double* values, const double* factors, double* sums) const {
        const Term* t = terms.data();
        for (const Place& place : places) {
            vec sum{};
            for (const Term* end = terms.data() + place.end; t < end; ++t)
                sum += t->share * load(values + t->value) * (load(factors + t->factor) * load(factors + t->other));
            store(sums, sum), sums += W;
        }
    }

    // From the matrix of one stage: `sums` begins at its lane.
    void subtract(const double* sums, double* matrix) const {
        for (const Place& place : places) matrix[place.to] -= *sums, sums += W;
    }

private:
    struct Term {
        int value, factor, other, to;
        double share;
    };
    struct Place {
        int to, end;  // the terms before `end` that no place had before
    };
    std::vector<Term> terms;
    std::vector<Place> places;
};

}  // namespace trisweep
