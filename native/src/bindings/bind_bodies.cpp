// The recursions over bodies as Python sees them: tables of a robot, and for tests what is computed on them.
#include "bind.hpp"
#include "bodies/stage_graph.hpp"
#include "bodies/tree_code.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

namespace trisweep {
namespace {

// (dg/dy with M's lower triangle and J below it, g at y = 0, slope, curvature), a row a stage; see `TreeDynamics`.
Tuple<Array, Array, Array, Array> derivatives(const Tree& tree, Matrix arguments, Matrix unknowns, Matrix multipliers) {
    const std::size_t count = arguments.shape(0), nv = tree.dofs(), ny = tree.unknowns(), nw = 2 * nv;
    expect(arguments.shape(1) == std::size_t(tree.arguments()), "derivatives: arguments of another size");
    expect(unknowns.shape(0) == count && unknowns.shape(1) == ny, "derivatives: unknowns of another size");
    expect(multipliers.shape(0) == count && multipliers.shape(1) == ny, "derivatives: multipliers of another size");
    double *matrix, *residual, *slope, *curvature;
    Array found[] = {new_array({count, ny, nv}, matrix), new_array({count, ny}, residual),
                     new_array({count, ny, nw}, slope), new_array({count, nw + ny, nw + ny}, curvature)};
    TreeDynamics<Stages> dynamics(tree);
    Arena arena;
    double *y = nullptr, *mu = nullptr;
    arena.build([&](Arena& a) { y = a.matrix(W, ny), mu = a.matrix(W, ny); });
    for (std::size_t first = 0; first < count; first += W) {
        const int lanes = int(std::min<std::size_t>(W, count - first));
        for (std::size_t i = 0; i < ny; ++i)
            for (int l = 0; l < W; ++l) {
                const std::size_t at = (first + std::min(l, lanes - 1)) * ny + i;
                y[i * W + l] = unknowns.data()[at], mu[i * W + l] = multipliers.data()[at];
            }
        const auto to = [&](double* memory, std::size_t rows, std::size_t columns) {
            return [=](std::size_t i, std::size_t j, vec value) {
                for (int l = 0; l < lanes; ++l) memory[((first + l) * rows + i) * columns + j] = value[l];
            };
        };
        const auto all = to(curvature, nw + ny, nw + ny);
        const auto pair = [&](std::size_t i, std::size_t j, vec value) { all(i, j, value), all(j, i, value); };
        dynamics.place(arguments.data() + first * arguments.shape(1), std::ptrdiff_t(arguments.shape(1)), lanes);
        dynamics.assemble(to(matrix, ny, nv), [&](std::size_t i, vec value) { to(residual, 1, ny)(0, i, value); });
        dynamics.slopes(y, to(slope, ny, nw));
        dynamics.curvature(
            mu, pair, [&](std::size_t i, std::size_t j, vec value) { pair(i, nv + j, value); },
            [&](std::size_t i, std::size_t j, vec value) { pair(nv + i, nv + j, value); },
            [&](std::size_t i, std::size_t j, vec value) { pair(i, nw + j, value); });
    }
    return nb::make_tuple(found[0], found[1], found[2], found[3]);
}

// Inputs of a stage, a row a stage, or one for all.
struct Inputs {
    Inputs(const std::vector<Matrix>& given, std::size_t expected, int& count) {
        expect(given.size() == expected, "graph: another number of inputs");
        count = 1;
        for (const Matrix& each : given) count = std::max(count, int(each.shape(0)));
        for (const Matrix& each : given) {
            expect(each.shape(0) == 1 || each.shape(0) == std::size_t(count), "graph: inputs of different lengths");
            at.push_back(each.data()), strides.push_back(each.shape(0) == 1 ? 0 : std::int64_t(each.shape(1)));
        }
    }
    std::vector<const double*> at;
    std::vector<std::int64_t> strides;
};

Array graph_values(const StageGraph& graph, const std::vector<Matrix>& given) {
    int count;
    const Inputs rows(given, StageGraph::INPUTS, count);
    double* to;
    const std::size_t width = graph.rows();
    Array found = new_array({std::size_t(count), width}, to);
    GraphMemory memory(graph);
    graph.evaluate(rows.at.data(), rows.strides.data(), to, std::int64_t(width), count, memory);
    return found;
}

Tuple<Array, Array> graph_derivatives(const StageGraph& graph, const std::vector<Matrix>& given) {
    int count;
    const Inputs rows(given, StageGraph::INPUTS + 1, count);
    double *jacobian, *hessian;
    Array first = new_array({std::size_t(count), graph.jacobian_rows.size()}, jacobian);
    Array second = new_array({std::size_t(count), graph.hessian_rows.size()}, hessian);
    GraphMemory memory(graph);
    StageGraph::Packed packed{graph, memory, jacobian, hessian};
    graph.differentiate(rows.at.data(), rows.strides.data(), count, memory, packed);
    return nb::make_tuple(first, second);
}

Tuple<Array, Array, Array> graph_parts(const StageGraph& graph, const std::vector<Matrix>& given, int head) {
    expect(head >= 0 && head <= graph.rows(), "parts: more rows than the graph has");
    int count;
    const Inputs rows(given, StageGraph::INPUTS + 1, count);
    double *jacobian, *hessian, *bare;
    Array first = new_array({std::size_t(count), graph.jacobian_rows.size()}, jacobian);
    Array second = new_array({std::size_t(count), graph.hessian_rows.size()}, hessian);
    Array third = new_array({std::size_t(count), graph.hessian_rows.size()}, bare);
    GraphMemory memory(graph);
    StageGraph::Packed packed{graph, memory, jacobian, hessian, bare, head};
    graph.differentiate(rows.at.data(), rows.strides.data(), count, memory, packed);
    return nb::make_tuple(first, second, third);
}

Array graph_bare_hessian(const StageGraph& graph, const std::vector<Matrix>& given, int head) {
    expect(head >= 0 && head <= graph.rows(), "bare_hessian: more rows than the graph has");
    int count;
    const Inputs rows(given, StageGraph::INPUTS + 1, count);
    double* bare;
    Array found = new_array({std::size_t(count), graph.hessian_rows.size()}, bare);
    GraphMemory memory(graph);
    StageGraph::Packed packed{graph, memory, nullptr, nullptr, bare, head};
    graph.differentiate_bare(rows.at.data(), rows.strides.data(), count, memory, packed);
    return found;
}

Compiled compiled(std::uintptr_t address, std::int64_t work, int size) {
    return {reinterpret_cast<Evaluate>(address), work, size};
}

// A robot's accelerations and forces at one state by Gauss' principle, and how that went.
class GaussSolve {
public:
    explicit GaussSolve(Tree given) : tree(std::move(given)), gauss(tree) {}

    Tuple<const char*, Array> solve(Vector arguments) {
        expect(arguments.size() == std::size_t(tree.arguments()), "solve: arguments of another size");
        double* y;
        Array found = new_array({std::size_t(tree.unknowns())}, y);
        const Gauss::Status status = gauss.solve(arguments.data(), y);
        const char* name = status == Gauss::Status::solved         ? "solved"
                           : status == Gauss::Status::inconsistent ? "inconsistent"
                           : status == Gauss::Status::inaccurate   ? "inaccurate"
                                                                   : "without inertia";
        return nb::make_tuple(name, found);
    }

private:
    const Tree tree;
    Gauss gauss;
};

template <class Kind>
void bind_tree_code(nb::module_& m, const char* name, const char* sentence) {
    nb::class_<Kind, Code>(m, name, sentence)
        .def(
            "__init__",
            [](Kind* self, const Tree& tree, const Compiled& arguments, int inputs) {
                expect(arguments.size == tree.arguments() && inputs > 0, "arguments of another size than the tree's");
                new (self) Kind(tree, arguments, inputs);
            },
            nb::arg("tree"), nb::arg("arguments"), nb::arg("inputs"));
}

}  // namespace

void bind_bodies(nb::module_& m) {
    nb::class_<Held>(m, "Held", "Rows on the acceleration of a body's frame; see native/src/bodies/tree.hpp.")
        .def(nb::init<>())
        .def_rw("body", &Held::body)
        .def_rw("R", &Held::R)
        .def_rw("p", &Held::p)
        .def_rw("K", &Held::K)
        .def_rw("softness", &Held::softness)
        .def_rw("least", &Held::least)
        .def_rw("classical", &Held::classical)
        .def_rw("damping", &Held::damping)
        .def_rw("stiffness", &Held::stiffness)
        .def_rw("target_R", &Held::target_R)
        .def_rw("target_p", &Held::target_p);
    nb::class_<ClosedLoop>(m, "ClosedLoop", "Rows between bodies; see native/src/bodies/tree.hpp.")
        .def(nb::init<>())
        .def_rw("dofs", &ClosedLoop::dofs)
        .def_rw("least", &ClosedLoop::least);
    nb::class_<Tree>(m, "Tree", "A robot as tables; see native/src/bodies/tree.hpp.")
        .def(nb::init<>())
        .def_rw("parent", &Tree::parent)
        .def_rw("axes", &Tree::axes)
        .def_rw("inertia", &Tree::inertia)
        .def_rw("armature", &Tree::armature)
        .def_rw("gravity", &Tree::gravity)
        .def_rw("held", &Tree::held)
        .def_rw("loops", &Tree::loops)
        .def("derivatives", &derivatives, nb::arg("arguments"), nb::arg("unknowns"), nb::arg("multipliers"));
    nb::class_<Compiled>(m, "Compiled", "Compiled code of one output.")
        .def("__init__", [](Compiled* self, std::uintptr_t address, std::int64_t work, int size) {
            new (self) Compiled(compiled(address, work, size));
        });
    bind_tree_code<InverseSlopes>(m, "InverseSlopes", "(dID/dq, dID/dv, M) of (q, v, a); see bodies/tree_code.hpp.");
    bind_tree_code<ForwardSlopes>(m, "ForwardSlopes", "Slopes of (a, forces) by (q, v, tau).");
    bind_tree_code<GaussCode>(m, "GaussCode", "Accelerations and forces of (q, v, tau), by Gauss' principle.");
    nb::class_<GaussSolve>(m, "Gauss", "Constrained forward dynamics by Gauss' principle; see bodies/gauss.hpp.")
        .def(nb::init<Tree>())
        .def("solve", &GaussSolve::solve, nb::arg("arguments"));
    nb::class_<Beside>(m, "Beside", "Compiled terms beside a node's recursions; see native/src/bodies/graph.hpp.")
        .def(nb::init<>())
        .def_rw("matrix", &Beside::matrix)
        .def_rw("slopes", &Beside::slopes)
        .def_rw("curvature", &Beside::curvature)
        .def_rw("slope_rows", &Beside::slope_rows)
        .def_rw("slope_columns", &Beside::slope_columns)
        .def_rw("curvature_rows", &Beside::curvature_rows)
        .def_rw("curvature_columns", &Beside::curvature_columns);
    nb::class_<Graph>(m, "Graph", "Rows that rest on nodes; see native/src/bodies/stage_graph.hpp.")
        .def(nb::init<>())
        .def_rw("controls", &Graph::controls)
        .def_rw("variables", &Graph::variables)
        .def_rw("rows", &Graph::rows)
        .def_rw("trees", &Graph::trees)
        .def_rw("arguments", &Graph::arguments)
        .def_rw("beside", &Graph::beside)
        .def_rw("values", &Graph::values)
        .def_rw("slopes", &Graph::slopes)
        .def_rw("curvature", &Graph::curvature)
        .def_rw("slope_rows", &Graph::slope_rows)
        .def_rw("slope_columns", &Graph::slope_columns)
        .def_rw("curvature_rows", &Graph::curvature_rows)
        .def_rw("curvature_columns", &Graph::curvature_columns)
        .def_rw("exact", &Graph::exact);
    nb::class_<StageGraph>(m, "StageGraph", "Values and derivatives of such rows.")
        .def(nb::init<Graph>())
        .def_ro("jacobian_rows", &StageGraph::jacobian_rows)
        .def_ro("jacobian_columns", &StageGraph::jacobian_columns)
        .def_ro("hessian_rows", &StageGraph::hessian_rows)
        .def_ro("hessian_columns", &StageGraph::hessian_columns)
        .def("values", &graph_values, nb::arg("inputs"))
        .def("derivatives", &graph_derivatives, nb::arg("inputs"))
        .def("parts", &graph_parts, nb::arg("inputs"), nb::arg("head"),
             "The derivatives, and the Hessian of the first rows alone as if the nodes were not curved.")
        .def("bare_hessian", &graph_bare_hessian, nb::arg("inputs"), nb::arg("head"), "The latter.");
}

}  // namespace trisweep
