// A path from one configuration to another among obstacles: two trees that grow towards each other (RRT-Connect: Kuffner
// and LaValle 2000, Fig. 5), then straight cuts from random points of the path to others (Geraerts and Overmars 2007,
// Sec. 3).
//
// Paths are rows of configurations; between two rows the way is straight. Distances between configurations are in units of
// `scale`, one for each joint.
#pragma once

#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "clearance.hpp"

namespace trisweep {

struct Search {
    std::vector<double> lower, upper, scale;  // of the joints
    double margin = 0.0;                      // m, kept from everything
    double resolution = 0.05;                 // between configurations that are looked at on a way
    double range = 1.0;                       // how far a tree grows at a time
    int iterations = 10000;                   // at most
    int cuts = 200;                           // tries to make the path shorter
    std::uint64_t seed = 0;
};

class PathFinder {
public:
    PathFinder(Clearance& clearance, Search given)
        : clearance(clearance),
          search(std::move(given)),
          n(clearance.robot.nq),
          random(search.seed),
          group(std::size_t(clearance.robot.lanes) * n) {}

    int iterations = 0;

    // The rows of a path; none where none was found.
    std::vector<double> find(const double* start, const double* goal) {
        std::vector<double> path;
        if (free(start, goal)) {
            path.assign(start, start + n);
            path.insert(path.end(), goal, goal + n);
            return path;
        }
        Tree trees[2];
        trees[0].add(start, n, -1), trees[1].add(goal, n, -1);
        std::vector<double> target(n);
        for (iterations = 1; iterations <= search.iterations; ++iterations) {
            // The smaller tree grows, so that both sides of a narrow passage are explored alike.
            const int grows = trees[0].size() <= trees[1].size() ? 0 : 1;
            for (int j = 0; j < n; ++j) target[j] = search.lower[j] + uniform() * (search.upper[j] - search.lower[j]);
            const int reached = extend(trees[grows], target.data());
            if (reached < 0) continue;
            const std::vector<double> meeting(trees[grows].row(reached, n), trees[grows].row(reached, n) + n);
            const int other = connect(trees[1 - grows], meeting.data());
            if (other < 0) continue;
            path = joined(trees[grows], reached, trees[1 - grows], other);
            if (grows == 1) path = reversed(path);
            return shortened(path);
        }
        iterations = search.iterations;
        return path;
    }

    // The path with corners cut off where the straight way is free.
    std::vector<double> shortened(std::vector<double> path) {
        for (int number = 0; number < search.cuts && path.size() > std::size_t(2 * n); ++number) {
            const int pieces = int(path.size()) / n - 1;
            double s = uniform() * pieces, t = uniform() * pieces;
            if (s > t) std::swap(s, t);
            const int first = std::min(int(s), pieces - 1), last = std::min(int(t), pieces - 1);
            if (first == last) continue;
            std::vector<double> a(n), b(n);
            for (int j = 0; j < n; ++j) {
                a[j] = path[first * n + j] + (s - first) * (path[(first + 1) * n + j] - path[first * n + j]);
                b[j] = path[last * n + j] + (t - last) * (path[(last + 1) * n + j] - path[last * n + j]);
            }
            if (!free(a.data(), b.data())) continue;
            std::vector<double> shorter(path.begin(), path.begin() + (first + 1) * n);
            shorter.insert(shorter.end(), a.begin(), a.end());
            shorter.insert(shorter.end(), b.begin(), b.end());
            shorter.insert(shorter.end(), path.begin() + (last + 1) * n, path.end());
            path = std::move(shorter);
        }
        return straightened(std::move(path));
    }

private:
    struct Tree {
        std::vector<double> rows;
        std::vector<int> parents;

        void add(const double* q, int n, int parent) {
            rows.insert(rows.end(), q, q + n);
            parents.push_back(parent);
        }
        int size() const { return int(parents.size()); }
        const double* row(int k, int n) const { return rows.data() + std::ptrdiff_t(k) * n; }
    };

    double uniform() { return double(random() >> 11) * 0x1p-53; }

    double square(const double* a, const double* b) const {
        double sum = 0.0;
        for (int j = 0; j < n; ++j) {
            const double d = (a[j] - b[j]) / search.scale[j];
            sum += d * d;
        }
        return sum;
    }

    int nearest(const Tree& tree, const double* q) const {
        int best = 0;
        double least = std::numeric_limits<double>::infinity();
        for (int k = 0; k < tree.size(); ++k) {
            const double found = square(tree.row(k, n), q);
            if (found < least) {
                least = found;
                best = k;
            }
        }
        return best;
    }

    // The end of a branch from the nearest node towards a target, at most `range` long; -1 where something is in the way.
    int extend(Tree& tree, const double* target) {
        const int from = nearest(tree, target);
        const double length = std::sqrt(square(tree.row(from, n), target));
        const double share = length > search.range ? search.range / length : 1.0;
        std::vector<double> end(n);
        for (int j = 0; j < n; ++j) end[j] = tree.row(from, n)[j] + share * (target[j] - tree.row(from, n)[j]);
        if (!free(tree.row(from, n), end.data())) return -1;
        tree.add(end.data(), n, from);
        return tree.size() - 1;
    }

    // Branch after branch until the target is a node; -1 where something is in the way.
    int connect(Tree& tree, const double* target) {
        for (;;) {
            const int end = extend(tree, target);
            if (end < 0 || square(tree.row(end, n), target) < 1e-20) return end;
        }
    }

    // Whether the straight way is free. Configurations far apart are looked at first, `lanes` at a time.
    bool free(const double* a, const double* b) {
        const int lanes = clearance.robot.lanes;
        const int steps = std::max(1, int(std::ceil(std::sqrt(square(a, b)) / search.resolution / lanes)));
        for (int k = 0; k < steps; ++k) {
            for (int lane = 0; lane < lanes; ++lane) {
                const double t = double(lane * steps + k + 1) / (lanes * steps);
                for (int j = 0; j < n; ++j) group[lane * n + j] = a[j] + t * (b[j] - a[j]);
            }
            if (!clearance.clear(group.data(), lanes, search.margin)) return false;
        }
        return true;
    }

    std::vector<double> joined(const Tree& first, int reached, const Tree& second, int other) const {
        std::vector<double> path;
        for (int k = reached; k >= 0; k = first.parents[k])
            path.insert(path.begin(), first.row(k, n), first.row(k, n) + n);
        for (int k = second.parents[other]; k >= 0; k = second.parents[k])
            path.insert(path.end(), second.row(k, n), second.row(k, n) + n);
        return path;
    }

    std::vector<double> reversed(const std::vector<double>& path) const {
        std::vector<double> back;
        for (int k = int(path.size()) / n - 1; k >= 0; --k)
            back.insert(back.end(), path.begin() + k * n, path.begin() + (k + 1) * n);
        return back;
    }

    // From each row on to the furthest one that can be reached in a straight line.
    std::vector<double> straightened(std::vector<double> path) {
        std::vector<double> kept(path.begin(), path.begin() + n);
        const int last = int(path.size()) / n - 1;
        for (int k = 0; k < last;) {
            int next = last;
            while (next > k + 1 && !free(path.data() + k * n, path.data() + next * n)) --next;
            kept.insert(kept.end(), path.begin() + next * n, path.begin() + (next + 1) * n);
            k = next;
        }
        return kept;
    }

    Clearance& clearance;
    Search search;
    int n;
    std::mt19937_64 random;
    std::vector<double> group;
};

}  // namespace trisweep
