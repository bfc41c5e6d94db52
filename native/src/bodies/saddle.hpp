// The matrix of a robot's unknowns y = (a, f), factored along its tree, W stages at a time:
//
//     [M -J'; -J -R] y = b        M = L' L,  Z = J L^-1,  Z Z' + R = D D'
//
// Row k of L has entries at the dofs on the path from k to the root alone, a row of Z at those below its frame (Featherstone 2008,
// Sec. 6.3), or at both sides of its loop; D is dense. All values stand in one array: the rows of L from the diagonal to the root,
// the inverses of its diagonal, the rows of Z from the frame to the root, D by rows, the inverses of its diagonal.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "row_steps.hpp"
#include "tree.hpp"

namespace trisweep {

class Saddle {
public:
    explicit Saddle(const Tree& tree)
        : nv(tree.dofs()), m(tree.rows() + tree.loop_rows()), before(nv), depth(nv), row(nv) {
        find_paths(tree);
        write_steps();
    }

    int size() const { return nv + m; }
    int values() const { return count; }  // vectors of lanes

    // The place of entry (i, j) of M, j on the path from i, or for i >= nv of J.
    int entry(int i, int j) const {
        return i < nv ? row[i] + depth[i] - depth[j] : held[i - nv].row + held[i - nv].place[j];
    }

    // M and J become the factors. Lanes where M or J M^-1 J' is not positive become NaN; but with loops a row that depends on those
    // before it is one of which no force is asked.
    void factor(double* values) const {
        for (int k = 0; k < nv; ++k) store(at(values, inverse(k)), load(at(values, row[k])));
        for (int k = nv - 1; k >= 0; --k) {
            const vec scale = inverse_root(load(at(values, row[k])), SMALLEST_PIVOT * load(at(values, inverse(k))));
            store(at(values, inverse(k)), scale);
            double* own = at(values, row[k] + 1);
            for (int p = 0; p < depth[k]; ++p) store(own + p * W, scale * load(own + p * W));
            for (int i = before[k]; i >= 0; i = before[i], own += W)
                reduce(load(own), own, at(values, row[i]), depth[i] + 1);
        }
        for (const HeldPath& h : held)
            for (int j : h.dofs) {
                double *here = at(values, h.row + h.place[j]), *L = at(values, row[j] + 1);
                const vec Z = load(here) * load(at(values, inverse(j)));
                store(here, Z);
                if (h.straight)
                    reduce(Z, L, here + W, depth[j]);
                else
                    for (int i = before[j]; i >= 0; i = before[i], L += W)
                        reduce(Z, L, at(values, h.row + h.place[i]), 1);
            }
        const Shared* next = shared.data();
        for (int r = 0; r < m; ++r) {
            for (int s = 0; s <= r; ++s) {
                vec sum = broadcast(r == s ? held[r].softness : 0.0);  // Z_r Z_s' + R
                for (const Shared* end = shared.data() + shared_end[D(r, s) - dense]; next < end; ++next)
                    sum += load(at(values, next->left)) * load(at(values, next->right));
                store(at(values, D(r, s)), sum);
            }
            store(at(values, inverse_D(r)), load(at(values, D(r, r))));
        }
        for (int s = 0; s < m; ++s) {
            const vec scale = inverse_root(load(at(values, D(s, s))), DEPENDENT * load(at(values, inverse_D(s))),
                                           held[s].least, loops);
            store(at(values, inverse_D(s)), scale);
            for (int r = s + 1; r < m; ++r) store(at(values, D(r, s)), scale * load(at(values, D(r, s))));
            for (int r = s + 1; r < m; ++r) {
                const vec factor = load(at(values, D(r, s)));
                for (int c = s + 1; c <= r; ++c)
                    store(at(values, D(r, c)), load(at(values, D(r, c))) - factor * load(at(values, D(c, s))));
            }
        }
    }

    // b becomes y with [M -J'; -J -R] y = b, after `factor`; of W stages, or of one for n columns (see `RowSteps`).
    void solve(const double* values, double* b) const { solution.on_lanes(values, b, b); }
    void solve(const double* values, int n, double* b) const { solution.on_columns(values, n, b, b); }

    const int nv, m;

private:
    // Of its diagonal entry: dofs, or rows, that depend on each other.
    static constexpr double SMALLEST_PIVOT = 1e-13, DEPENDENT = 1e-11;

    struct HeldPath {
        std::vector<int> dofs;   // that move it, the furthest from the root first
        std::vector<int> place;  // of each dof, in the row of Z
        int row;                 // where that stands
        bool straight;           // whether it holds one path to the root
        double softness, least;  // least: of its pivot
    };

    // Entries of two rows of Z at one dof.
    struct Shared {
        int left, right;
    };

    static double* at(double* values, int i) { return values + std::ptrdiff_t(i) * W; }
    int inverse(int k) const { return inverses + k; }
    int D(int r, int s) const { return dense + r * (r + 1) / 2 + s; }
    int inverse_D(int r) const { return dense + m * (m + 1) / 2 + r; }

    void find_paths(const Tree& tree) {
        std::vector<int> last(tree.bodies());
        int at = 0;
        for (int i = 0; i < tree.bodies(); ++i) {
            last[i] = tree.parent[i] < 0 ? -1 : last[tree.parent[i]];
            for (std::size_t n = 0; n < tree.axes[i].size(); ++n) before[at] = last[i], last[i] = at++;
        }
        for (int k = 0; k < nv; ++k) {
            depth[k] = before[k] < 0 ? 0 : depth[before[k]] + 1;
            row[k] = count;
            count += depth[k] + 1;
        }
        inverses = count;
        count += nv;
        const auto hold = [&](const std::vector<int>& dofs, double softness, double least, bool straight) {
            held.push_back({dofs, std::vector<int>(nv, -1), count, straight, softness, least});
            for (int j : dofs) held.back().place[j] = count++ - held.back().row;
        };
        for (const Held& each : tree.held) {
            std::vector<int> path;
            for (int j = last[each.body]; j >= 0; j = before[j]) path.push_back(j);
            for (int r = 0; r < each.rows(); ++r) hold(path, each.softness[r], each.least[r], true);
        }
        for (const ClosedLoop& each : tree.loops)
            for (double least : each.least) hold(each.dofs, 0.0, least, false);
        loops = !tree.loops.empty();
        dense = count;
        count += m * (m + 1) / 2 + m;
        for (int r = 0; r < m; ++r)
            for (int s = 0; s <= r; ++s) {
                for (int i : held[r].dofs)
                    if (held[s].place[i] >= 0) shared.push_back({entry(nv + r, i), entry(nv + s, i)});
                shared_end.push_back(int(shared.size()));
            }
    }

    // target_q -= factor source_q, for vectors of lanes
    static void reduce(vec factor, const double* source, double* target, int length) {
        for (const double* end = source + length * W; source < end; source += W, target += W)
            store(target, load(target) - factor * load(source));
    }

    // Of a pivot that is too small: zero where that is allowed, so that its row has no force, NaN elsewhere.
    static vec inverse_root(vec pivot, vec smallest, double least = 0.0, bool dependent = false) {
        const vec bound = larger(smallest, broadcast(least)),
                  none = broadcast(std::numeric_limits<double>::quiet_NaN());
        vec root;
        for (int l = 0; l < W; ++l) root[l] = std::sqrt(pivot[l]);
        const vec small = dependent ? (pivot <= bound ? vec{} : none) : none;
        return pivot > bound ? 1.0 / root : small;
    }

    void write_steps() {
        std::vector<std::vector<int>> carried(nv);  // dofs further from the root, the furthest first
        for (int k = nv - 1; k >= 0; --k)
            for (int j = before[k]; j >= 0; j = before[j]) carried[j].push_back(k);
        for (int j = nv - 1; j >= 0; --j) {
            solution.begin(j, 1.0, -1.0, inverse(j));
            for (int k : carried[j]) solution.add(entry(k, j), k);
        }
        for (int r = 0; r < m; ++r) {
            solution.begin(nv + r, -1.0, -1.0);
            for (int j : held[r].dofs) solution.add(entry(nv + r, j), j);
        }
        for (int r = 0; r < m; ++r) {
            solution.begin(nv + r, 1.0, -1.0, inverse_D(r));
            for (int s = 0; s < r; ++s) solution.add(D(r, s), nv + s);
        }
        for (int r = m - 1; r >= 0; --r) {
            solution.begin(nv + r, 1.0, -1.0, inverse_D(r));
            for (int s = r + 1; s < m; ++s) solution.add(D(s, r), nv + s);
        }
        std::vector<std::vector<int>> holding(nv);
        for (int r = 0; r < m; ++r)
            for (int j : held[r].dofs) holding[j].push_back(r);
        for (int j = 0; j < nv; ++j) {
            if (holding[j].empty()) continue;
            solution.begin(j, 1.0, 1.0);
            for (int r : holding[j]) solution.add(entry(nv + r, j), nv + r);
        }
        for (int k = 0; k < nv; ++k) {
            solution.begin(k, 1.0, -1.0, inverse(k));
            for (int j = before[k]; j >= 0; j = before[j]) solution.add(entry(k, j), j);
        }
    }

    std::vector<int> before, depth, row;  // of each dof: the next one to the root, the number of those, its row of L
    std::vector<HeldPath> held;
    std::vector<Shared> shared;   // of each entry of D, one after another
    std::vector<int> shared_end;  // where those of each end
    int inverses = 0, dense = 0, count = 0;
    bool loops = false;
    RowSteps solution;
};

}  // namespace trisweep
