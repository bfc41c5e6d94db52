// Clearances and paths of robots made of spheres.
#include "bind.hpp"
#include "paths/connect.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

namespace trisweep {
namespace {

Clearance made(int nq, int lanes, std::uintptr_t address, std::int64_t work, std::vector<double> radii,
               std::vector<int> moving, std::vector<std::pair<int, int>> pairs) {
    SphereRobot robot;
    robot.nq = nq, robot.lanes = lanes, robot.work = work;
    robot.centres = reinterpret_cast<Evaluate>(address);
    expect(moving.size() == radii.size(), "moving and radii do not fit");
    for (const auto& [i, j] : pairs)
        expect(0 <= i && i < int(radii.size()) && 0 <= j && j < int(radii.size()), "a pair names no sphere");
    robot.radii = std::move(radii), robot.moving = std::move(moving), robot.pairs = std::move(pairs);
    return Clearance(std::move(robot));
}

void set_scene(Clearance& clearance, Matrix blocks) {
    expect(blocks.shape(1) == 17, "blocks do not have 17 columns");
    std::vector<Obstacle> scene;
    for (std::size_t k = 0; k < blocks.shape(0); ++k) scene.emplace_back(blocks.data() + 17 * k);
    clearance.set_scene(std::move(scene));
}

// Of each configuration: distance, sphere, obstacle or other sphere, and 1 where it is the robot itself.
Array nearest(Clearance& clearance, Matrix q) {
    expect(int(q.shape(1)) == clearance.robot.nq, "q does not fit the robot");
    std::vector<Nearest> found(q.shape(0));
    clearance.nearest(q.data(), int(q.shape(0)), found.data());
    double* to;
    Array out = new_array({q.shape(0), 4}, to);
    for (const Nearest& each : found) {
        *to++ = each.distance, *to++ = each.sphere, *to++ = each.other, *to++ = each.itself;
    }
    return out;
}

Array distances(Clearance& clearance, Matrix q) {
    expect(int(q.shape(1)) == clearance.robot.nq, "q does not fit the robot");
    double* to;
    Array out = new_array({q.shape(0), std::size_t(clearance.robot.spheres()), clearance.obstacles()}, to);
    clearance.distances(q.data(), int(q.shape(0)), to);
    return out;
}

Tuple<Array, int> find_path(Clearance& clearance, const Search& search, Vector start, Vector goal) {
    const std::size_t n = clearance.robot.nq;
    for (std::size_t size : {start.size(), goal.size(), search.lower.size(), search.upper.size(), search.scale.size()})
        expect(size == n, "start, goal, lower, upper or scale does not fit the robot");
    PathFinder finder(clearance, search);
    std::vector<double> path;
    {
        Unlocked unlocked;
        path = finder.find(start.data(), goal.data());
    }
    double* to;
    Array out = new_array({path.size() / n, n}, to);
    std::copy(path.begin(), path.end(), to);
    return nb::make_tuple(out, finder.iterations);
}

}  // namespace

void bind_paths(nb::module_& m) {
    nb::class_<Search>(m, "Search")
        .def(nb::init<>())
        .def_rw("lower", &Search::lower)
        .def_rw("upper", &Search::upper)
        .def_rw("scale", &Search::scale)
        .def_rw("margin", &Search::margin)
        .def_rw("resolution", &Search::resolution)
        .def_rw("range", &Search::range)
        .def_rw("iterations", &Search::iterations)
        .def_rw("cuts", &Search::cuts)
        .def_rw("seed", &Search::seed);
    nb::class_<Clearance>(m, "Clearance")
        .def("__init__",
             [](Clearance* self, int nq, int lanes, std::uintptr_t address, std::int64_t work,
                std::vector<double> radii, std::vector<int> moving, std::vector<std::pair<int, int>> pairs) {
                 new (self)
                     Clearance(made(nq, lanes, address, work, std::move(radii), std::move(moving), std::move(pairs)));
             })
        .def("set_scene", &set_scene)
        .def("distances", &distances)
        .def("nearest", &nearest)
        .def("find_path", &find_path);
}

}  // namespace trisweep
