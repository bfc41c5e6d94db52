// Which rows of a block's dynamics are light (`LightRows`): all that they know of accelerations other rows know too, as positions
// that an integrator moves by the new velocities; in compiled blocks, those with few entries, as positions moved by the old ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "block.hpp"
#include "riccati/riccati.hpp"

namespace trisweep {

class LightRowsOfBlock {
public:
    LightRowsOfBlock(const Block& block, const Riccati::Stage& s) {
        std::vector<Entry> sums;
        if (block.graph && block.dynamics)
            find_followers(block, sums);
        else if (block.dynamics)
            find_sparse_rows(block, s, sums);
        if (int(sums.size()) > MOST_ENTRIES * block.dynamics) whole.light = 0;
        write_pieces(sums);
    }

    bool exists() const { return whole.light > 0; }
    int values() const { return whole.values; }

    // Where none of them follows another: the compiled numbers that are their values, one after the other, and their pattern.
    std::vector<int> compiled() const {
        std::vector<int> found;
        for (const Sum& s : sum) found.push_back(s.from);
        return found;
    }
    const LightRows* pattern() const { return &whole; }

    // Values of the entries from the compiled slopes of a stage, and the pattern that they have there. Null where there is none.
    const LightRows* fill(const double* slopes, double* to) const {
        for (std::size_t t = 0; t < ratios.size(); ++t) {
            const double ratio = slopes[ratios[t].from] / slopes[ratios[t].from_full];
            if (!(std::fabs(ratio) <= LARGEST)) return nullptr;
            to[ratio_at[t]] = ratio;
        }
        bool cancelled = true;
        for (const Sum& s : sum) {
            double value = s.from < 0 ? 0.0 : slopes[s.from], size = std::fabs(value);
            for (int t = s.first; t < s.end; ++t) {
                const double term = to[ratio_at[by_way[t].ratio]] * slopes[by_way[t].from];
                value -= term, size += std::fabs(term);
            }
            if (s.may_cancel && std::fabs(value) <= ROUNDING * size) value = 0.0;
            cancelled &= !s.may_cancel || value == 0.0;
            to[s.at] = value;
        }
        return cancelled ? &without : &whole;
    }

private:
    static constexpr int MOST_ENTRIES = 8;    // a row, at the mean
    static constexpr std::size_t SPARSE = 3;  // entries of a row
    static constexpr int LEAST_SPARSE = 4;    // rows for which that is worth the while
    static constexpr double LARGEST = 1e3;    // of T
    static constexpr double ROUNDING = 8 * std::numeric_limits<double>::epsilon();

    struct ByWay {
        int ratio, from;
    };
    struct Own {
        int from = -1;
        std::vector<ByWay> by_way;
    };
    struct Entry {
        int row, column;
        Own own;
    };
    struct Ratio {
        int row, column, from, from_full;
    };
    struct Sum {  // a value of D: a compiled number less what goes by way of the full rows
        int at, from, first, end;
        bool may_cancel;
    };

    void find_followers(const Block& block, std::vector<Entry>& sums) {
        const auto row = [&](int r) -> const GraphPattern::Row& { return block.graph->f_rows[block.objective + r]; };
        for (int light = block.dynamics - 1; 2 * light >= block.dynamics - 1 && whole.light == 0; --light)
            if (follows(block, light)) whole.light = without.light = light;
        for (int r = 0; r < whole.light; ++r) {
            std::map<int, Own> found;
            for (const GraphPattern::Entry& e : row(r).own) found[e.column].from = e.from;
            for (const GraphPattern::Entry& e : row(r).unknown) {
                const auto& [full, from] = leader.at({e.row, e.column});
                for (const GraphPattern::Entry& o : row(full).own)
                    found[o.column].by_way.push_back({int(ratios.size()), o.from});
                ratios.push_back({r, full - whole.light, e.from, from});
            }
            for (const auto& [column, entry] : found) sums.push_back({r, column, entry});
        }
    }

    // The first rows, as long as each has few entries: none follows another.
    void find_sparse_rows(const Block& block, const Riccati::Stage& s, std::vector<Entry>& sums) {
        std::vector<std::vector<Entry>> rows(block.dynamics);
        for (std::size_t t = 0; t < block.jacobian_rows.size(); ++t) {
            const int r = block.jacobian_rows[t] - block.objective, column = block.jacobian_columns[t];
            if (r >= 0 && r < block.dynamics)
                rows[r].push_back({r, column < s.nu ? column : s.up + column - s.nu, {int(t), {}}});
        }
        int light = 0;
        while (light < block.dynamics && rows[light].size() <= SPARSE) ++light;
        if (light < LEAST_SPARSE) return;
        whole.light = without.light = light;
        for (int r = 0; r < light; ++r) sums.insert(sums.end(), rows[r].begin(), rows[r].end());
    }

    // Whether rows before `light` follow rows from there on.
    bool follows(const Block& block, int light) {
        const auto row = [&](int r) -> const GraphPattern::Row& { return block.graph->f_rows[block.objective + r]; };
        leader.clear();
        for (int r = light; r < block.dynamics; ++r)
            if (row(r).unknown.size() == 1) {
                const GraphPattern::Entry& e = row(r).unknown[0];
                leader.insert({{e.row, e.column}, {r, e.from}});
            }
        for (int r = 0; r < light; ++r)
            for (const GraphPattern::Entry& e : row(r).unknown)
                if (!leader.count({e.row, e.column})) return false;
        return true;
    }

    void write_pieces(const std::vector<Entry>& sums) {
        ratio_at.resize(ratios.size());
        std::vector<int> order(ratios.size());
        for (std::size_t t = 0; t < order.size(); ++t) order[t] = int(t);
        std::sort(order.begin(), order.end(), [&](int a, int b) {
            const auto key = [&](int t) { return std::pair(ratios[t].column - ratios[t].row, ratios[t].row); };
            return key(a) < key(b);
        });
        for (int t : order) {
            ratio_at[t] = whole.values;
            append(whole.following, ratios[t].row, ratios[t].column, whole.values++);
        }
        without.following = whole.following;
        std::vector<const Entry*> sorted;
        for (const Entry& e : sums) sorted.push_back(&e);
        std::sort(sorted.begin(), sorted.end(), [](const Entry* a, const Entry* b) {
            const auto key = [](const Entry* e) { return std::pair(e->column - e->row, e->row); };
            return key(a) < key(b);
        });
        for (const Entry* e : sorted) {
            const bool may_cancel = e->own.from >= 0 && !e->own.by_way.empty();
            const int first = int(by_way.size());
            by_way.insert(by_way.end(), e->own.by_way.begin(), e->own.by_way.end());
            sum.push_back({whole.values, e->own.from, first, int(by_way.size()), may_cancel});
            append(whole.own, e->row, e->column, whole.values);
            if (!may_cancel) append(without.own, e->row, e->column, whole.values);
            ++whole.values;
        }
        without.values = whole.values;
        whole.sort(), without.sort();
    }

    static void append(std::vector<LightRows::Piece>& to, int row, int column, int at) {
        if (!to.empty()) {
            LightRows::Piece& last = to.back();
            if (row == last.row + last.size && column == last.column + last.size && at == last.at + last.size) {
                ++last.size;
                return;
            }
        }
        to.push_back({row, column, 1, at});
    }

    LightRows whole, without;                                   // without: what has cancelled
    std::map<std::pair<int, int>, std::pair<int, int>> leader;  // of an unknown: the full row, its slope there
    std::vector<Ratio> ratios;
    std::vector<int> ratio_at;
    std::vector<ByWay> by_way;
    std::vector<Sum> sum;
};

}  // namespace trisweep
