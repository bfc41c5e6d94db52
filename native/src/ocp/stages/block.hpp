// A block: one compiled function on a run of consecutive stages. Its outputs, in this order, are
//     objective (0 or 1 row), dynamics: the next state (0 or nx of the child), equalities, inequalities
// A stage may belong to several blocks; their objectives and Hessians add up, their constraint rows stand side by side.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bodies/stage_graph.hpp"
#include "kernels/compiled.hpp"

namespace trisweep {

// What Python hands over for each block. Inputs of `values`: u, x, shared parameters, parameters of the stage, and those of
// the child, about whose anchors the next state is given; output: the rows above. `derivatives` takes a weight for each row too,
// and the share of the curvature that nodes have by the objective, which is read where there are some. It gives the nonzeros of
// the Jacobian and of the lower triangle of the Hessian of the weighted sum, whose places in (rows, u and x) are given here. Where the rows rest on a robot's dynamics that is not compiled, `graph` takes the place of both.
struct Block {
    int first = 0, count = 0;
    int child = -1;  // of the first stage; those of the others follow it
    int at_shared = 0, at_stage = 0, stage_stride = 0, at_child = 0, child_stride = 0;  // places of the parameters
    int objective = 0, dynamics = 0, equalities = 0, inequalities = 0;
    int at_equality = 0, at_inequality = 0;  // first row of this block among the stage's
    int lanes = 1;                           // stages that the functions compute at a time
    Evaluate values = nullptr, derivatives = nullptr;
    std::int64_t values_work = 0, derivatives_work = 0;
    std::shared_ptr<const StageGraph> graph;
    std::vector<int> jacobian_rows, jacobian_columns, hessian_rows, hessian_columns;

    int rows() const { return objective + dynamics + equalities + inequalities; }
};

// The nonzeros of derivatives on some stages, a stage in each lane: nonzero t of the l-th at lanes t + l. Lanes without a stage
// repeat the last one's.
struct SideBySide {
    int lanes;  // a multiple of W
    const double *jacobian, *hessian;
};

// A block's functions with the memory that one caller at a time needs.
class BlockCalls {
public:
    // `beside`: `side_by_side` will be asked for.
    BlockCalls(const Block& block, bool beside)
        : lanes(!block.graph && block.lanes % W == 0 ? block.lanes : W), block(&block) {
        if (block.graph)
            memory = std::make_unique<GraphMemory>(*block.graph);
        else
            work.resize(std::size_t(std::max(block.values_work, block.derivatives_work)));
        if (beside && !keeps_lanes()) packed.resize(nonzeros() * lanes), turned.resize(nonzeros() * lanes + ALIGNMENT);
    }

    const int lanes;  // stages of which `side_by_side` gives the derivatives at most

    // Inputs as `Block` says, weights and share last, of `count` stages.
    void values(const double* const* inputs, const std::int64_t* strides, double* rows, int count) {
        const std::int64_t stride = block->rows();
        if (memory)
            block->graph->evaluate(inputs, strides, rows, stride, count, *memory);
        else
            block->values(inputs, strides, &rows, &stride, count, work.data());
    }

    // The derivatives of `count` stages, which stay until the next call.
    SideBySide side_by_side(const double* const* inputs, const std::int64_t* strides, int count) {
        const std::size_t jacobian = block->jacobian_rows.size();
        if (keeps_lanes()) {
            double* const not_written[] = {nullptr, nullptr};
            const std::int64_t nowhere[] = {0, 0};
            block->derivatives(inputs, strides, not_written, nowhere, count, work.data());
            const double* first = aligned(work.data());
            return {lanes, first, first + jacobian * lanes};
        }
        double *J = packed.data(), *H = J + jacobian * lanes, *first = aligned(turned.data());
        derivatives(inputs, strides, J, H, count);
        for (int l = 0; l < lanes; ++l) {
            const std::size_t stage = std::min(l, count - 1), hessian = nonzeros() - jacobian;
            for (std::size_t t = 0; t < jacobian; ++t) first[t * lanes + l] = J[stage * jacobian + t];
            for (std::size_t t = 0; t < hessian; ++t) first[(jacobian + t) * lanes + l] = H[stage * hessian + t];
        }
        return {lanes, first, first + jacobian * lanes};
    }

    // The same of a block with a graph, whole rows where `to` wants them; see `StageGraph`.
    template <class To>
    void place_derivatives(const double* const* inputs, const std::int64_t* strides, int count, To& to) {
        block->graph->differentiate(inputs, strides, count, *memory, to);
    }
    template <class To>
    void place_bare(const double* const* inputs, const std::int64_t* strides, int count, To& to) {
        block->graph->differentiate_bare(inputs, strides, count, *memory, to);
    }
    double* spare_row() { return memory->rows; }
    double* spare_hessian() { return memory->H; }
    double* spare_bare() { return memory->bare; }

private:
    // Whether the code leaves them in its memory as they are wanted (`native/compiler/llvm_ir/driver.py`).
    bool keeps_lanes() const { return !memory && lanes == block->lanes; }

    std::size_t nonzeros() const { return block->jacobian_rows.size() + block->hessian_rows.size(); }

    static double* aligned(double* p) {
        return reinterpret_cast<double*>((reinterpret_cast<std::uintptr_t>(p) + ALIGNMENT - 1) & -ALIGNMENT);
    }

    // The nonzeros of the derivatives, stage after stage.
    void derivatives(const double* const* inputs, const std::int64_t* strides, double* jacobian, double* hessian,
                     int count) {
        if (memory) {
            StageGraph::Packed packed{*block->graph, *memory, jacobian, hessian};
            block->graph->differentiate(inputs, strides, count, *memory, packed);
            return;
        }
        double* results[] = {jacobian, hessian};
        const std::int64_t to[] = {std::int64_t(block->jacobian_rows.size()), std::int64_t(block->hessian_rows.size())};
        block->derivatives(inputs, strides, results, to, count, work.data());
    }

    const Block* block;
    std::unique_ptr<GraphMemory> memory;
    std::vector<double> work;
    std::vector<double> packed, turned;  // where the code does not leave lanes side by side
};

}  // namespace trisweep
