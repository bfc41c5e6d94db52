// How near a robot made of spheres comes to a scene made of blocks, and to itself.
//
// A block is a box, or a cylinder along z, grown by a radius: 17 numbers, as `dynamics/shapes/block.py` says. Where the
// spheres are is told by compiled code, several configurations at a time. Each block is first looked at as the ball about
// it; most pairs end there.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/compiled.hpp"

namespace trisweep {

struct Obstacle {
    double R[9], p[3], half[3], grown;
    bool cylinder;
    double bound;  // radius of the ball about it

    explicit Obstacle(const double* numbers) {
        std::copy_n(numbers, 9, R);
        std::copy_n(numbers + 9, 3, p);
        std::copy_n(numbers + 12, 3, half);
        grown = numbers[15], cylinder = numbers[16] > 0;
        bound = std::sqrt(half[0] * half[0] + half[1] * half[1] + half[2] * half[2]) + grown;
    }

    // Of a point at d from the centre, in the world's axes.
    double distance(const double* d) const {
        double out[3];
        for (int j = 0; j < 3; ++j) out[j] = std::abs(R[j] * d[0] + R[3 + j] * d[1] + R[6 + j] * d[2]);
        if (cylinder) out[0] = std::sqrt(out[0] * out[0] + out[1] * out[1]);
        const double x = out[0] - half[0], y = cylinder ? std::min(x, 0.0) : out[1] - half[1], z = out[2] - half[2];
        const double inside = std::min(std::max({x, y, z}), 0.0);
        const double a = std::max(x, 0.0), b = std::max(y, 0.0), c = std::max(z, 0.0);
        return std::sqrt(a * a + b * b + c * c) + inside - grown;
    }
};

// What Python hands over of a robot: code from q to the centres (x, y, z of each sphere), radii, whether a sphere moves, and
// the pairs of spheres that may touch.
struct SphereRobot {
    int nq = 0, lanes = 1;
    Evaluate centres = nullptr;
    std::int64_t work = 0;
    std::vector<double> radii;
    std::vector<int> moving;
    std::vector<std::pair<int, int>> pairs;

    int spheres() const { return int(radii.size()); }
};

struct Nearest {
    double distance = std::numeric_limits<double>::infinity();
    int sphere = -1, other = -1;
    bool itself = false;  // `other` is a sphere, else an obstacle
};

class Clearance {
public:
    explicit Clearance(SphereRobot given)
        : robot(std::move(given)), places(std::size_t(robot.lanes) * robot.spheres() * 3), memory(robot.work) {}

    void set_scene(std::vector<Obstacle> obstacles) { scene = std::move(obstacles); }
    std::size_t obstacles() const { return scene.size(); }

    // The smallest distance at each of `count` configurations, row after row.
    void nearest(const double* q, int count, Nearest* found) {
        for (int first = 0; first < count; first += robot.lanes) {
            const int group = std::min(robot.lanes, count - first);
            place(q + std::ptrdiff_t(first) * robot.nq, group);
            for (int k = 0; k < group; ++k)
                found[first + k] = nearest_of(at(k), first + k ? found[first + k - 1] : Nearest{});
        }
    }

    // Of every sphere to every obstacle at each of `count` configurations: (count, spheres, obstacles). What never moves is far.
    void distances(const double* q, int count, double* to) {
        for (int first = 0; first < count; first += robot.lanes) {
            const int group = std::min(robot.lanes, count - first);
            place(q + std::ptrdiff_t(first) * robot.nq, group);
            for (int k = 0; k < group; ++k)
                for (int i = 0; i < robot.spheres(); ++i)
                    for (const Obstacle& obstacle : scene) *to++ = robot.moving[i] ? apart(at(k), i, obstacle) : FAR;
        }
    }

    // Whether all of at most `lanes` configurations keep a margin; ends at the first that does not.
    bool clear(const double* q, int count, double margin) {
        place(q, count);
        for (int k = 0; k < count; ++k)
            if (touches(at(k), margin)) return false;
        return true;
    }

    const SphereRobot robot;

private:
    void place(const double* q, int count) {
        const std::int64_t stride_in = robot.nq, stride_out = 3 * std::int64_t(robot.spheres());
        double* out = places.data();
        robot.centres(&q, &stride_in, &out, &stride_out, count, memory.data());
    }

    static constexpr double FAR = std::numeric_limits<double>::infinity();

    // Of sphere i to an obstacle.
    double apart(const double* centres, int i, const Obstacle& obstacle) const {
        const double *c = centres + 3 * i, d[3] = {c[0] - obstacle.p[0], c[1] - obstacle.p[1], c[2] - obstacle.p[2]};
        return obstacle.distance(d) - robot.radii[i];
    }

    // Of two spheres.
    double apart(const double* centres, int i, int j) const {
        return std::sqrt(gap(centres + 3 * i, centres + 3 * j)) - robot.radii[i] - robot.radii[j];
    }

    const double* at(int k) const { return places.data() + std::ptrdiff_t(k) * robot.spheres() * 3; }

    static double gap(const double* a, const double* b) {
        const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
        return x * x + y * y + z * z;
    }

    // What was the nearest in a configuration before is looked at first: where configurations follow each other, most other
    // pairs are then seen to be farther by the balls about them.
    Nearest nearest_of(const double* centres, Nearest best) const {
        if (best.sphere >= 0)
            best.distance =
                best.itself ? apart(centres, best.sphere, best.other) : apart(centres, best.sphere, scene[best.other]);
        for (int i = 0; i < robot.spheres(); ++i) {
            if (!robot.moving[i]) continue;
            for (std::size_t o = 0; o < scene.size(); ++o) {
                const double* c = centres + 3 * i;
                const double reach = best.distance + robot.radii[i] + scene[o].bound;
                if (reach > 0 && gap(c, scene[o].p) > reach * reach) continue;
                const double found = apart(centres, i, scene[o]);
                if (found < best.distance) best = {found, i, int(o), false};
            }
        }
        for (const auto& [i, j] : robot.pairs) {
            const double reach = best.distance + robot.radii[i] + robot.radii[j];
            if (reach > 0 && gap(centres + 3 * i, centres + 3 * j) > reach * reach) continue;
            const double found = apart(centres, i, j);
            if (found < best.distance) best = {found, i, j, true};
        }
        return best;
    }

    bool touches(const double* centres, double margin) const {
        for (const Obstacle& obstacle : scene) {
            for (int i = 0; i < robot.spheres(); ++i) {
                if (!robot.moving[i]) continue;
                const double* c = centres + 3 * i;
                const double keep = robot.radii[i] + margin, reach = keep + obstacle.bound;
                if (gap(c, obstacle.p) > reach * reach) continue;
                if (apart(centres, i, obstacle) < margin) return true;
            }
        }
        for (const auto& [i, j] : robot.pairs) {
            const double keep = robot.radii[i] + robot.radii[j] + margin;
            if (gap(centres + 3 * i, centres + 3 * j) < keep * keep) return true;
        }
        return false;
    }

    std::vector<Obstacle> scene;
    std::vector<double> places, memory;
};

}  // namespace trisweep
