// The user's functions, called on the stages of a problem: values, first and second derivatives, put where the sweeps want them.
#pragma once

#include <cstdint>
#include <vector>

#include "damped_hessian.hpp"
#include "light_rows_of_block.hpp"
#include "linearization.hpp"
#include "nonzero_places.hpp"
#include "point_values.hpp"
#include "shared_stages.hpp"

namespace trisweep {

class StageFunctions : public Linearization {
public:
    StageFunctions(Riccati& riccati, std::vector<Block> blocks, const std::vector<int>& inequalities, int parameters,
                   int stage_parameters)
        : Linearization(riccati, inequalities),
          blocks(std::move(blocks)),
          parameter_count(parameters),
          stage_parameter_count(stage_parameters),
          damped(riccati) {
        for (const Block& block : this->blocks) light_rows.emplace_back(block, riccati.stages[block.first]);
        arena.build([this](Arena& a) { lay_out(a); });
        for (std::size_t i = 0; i < this->blocks.size(); ++i) {
            const Block& block = this->blocks[i];
            places.emplace_back(block, riccati.stages[block.first],
                                block.graph ? std::vector<int>() : light_rows[i].compiled());
        }
        opened_by.assign(riccati.stages.size(), -1);
        shared.assign(riccati.stages.size(), false);
        for (std::size_t i = this->blocks.size(); i-- > 0;)
            for (int k = this->blocks[i].first; k < this->blocks[i].first + this->blocks[i].count; ++k)
                shared[k] = opened_by[k] >= 0, opened_by[k] = int(i);
        set_threads(1);
    }

    // How many threads evaluate the stages. Results do not depend on it.
    void set_threads(int count) {
        stages.threads.resize(count);
        riccati.shared.threads = &stages.threads;
        while (int(calls.size()) < count) {
            calls.emplace_back();
            for (const Block& block : blocks) calls.back().emplace_back(block, !block.graph);
        }
    }

    // Values at z. False where one of them is not a finite number; `fault` then says which.
    bool call_values(const double* z, Values& out) {
        out.objective = 0.0;
        double lost = 0.0;
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            const Block& block = blocks[i];
            const int rows = block.rows();
            const bool finite = stages.share(block, [&](int first, int last, int thread) {
                const Inputs in = inputs(block, first, z);
                calls[thread][i].values(in.at, in.strides, value_rows[i] + std::ptrdiff_t(first) * rows, last - first);
                for (int k = first; k < last; ++k)
                    if (!place_values(block, block.first + k, value_rows[i] + std::ptrdiff_t(k) * rows, z, out))
                        return k;
                return -1;
            });
            if (!finite) {
                find_row(int(i));
                return false;
            }
            for (int k = 0; block.objective && k < block.count; ++k) {
                // Kahan's sum: near a solution the search compares objectives that differ in their last digits.
                const double term = value_rows[i][std::ptrdiff_t(k) * rows] - lost, sum = out.objective + term;
                lost = (sum - out.objective) - term;
                out.objective = sum;
            }
        }
        out.objective *= objective_scale;
        return true;
    }

    // Derivatives at z into the sweeps' matrices: H (lower triangle) of the Lagrangian, E (never scaled, as the sweep wants
    // x_child itself), G; into C and `gradient` of the objective. `bare`: what `call_bare` gives too.
    // False where a number is not finite; the row of `fault` is then -1.
    bool call_derivatives(const double* z, const Multipliers& m, bool bare) {
        for (std::size_t k = 0; k < riccati.stages.size(); ++k)
            if (opened_by[k] < 0) fill_zero(riccati.stages[k].n * riccati.stages[k].n, riccati.stages[k].H);
        fill_zero(padded(riccati.size_z), gradient);
        const bool finite = on_blocks([&](int i, int first, int last, int thread) {
            const Block& block = blocks[i];
            gather_weights(block, first, last, m, weight_rows[i]);
            const Inputs in = inputs(block, first, z, weight_rows[i], &WHOLE);
            if (!block.graph) {
                const int faulty =
                    call_compiled(i, in, first, last, thread,
                                  [&](int k, int count, const SideBySide& found) { return place(i, k, count, found); });
                const int bare_faulty = bare ? find_bare(i, z, first, last, thread) : -1;
                return faulty < 0 ? bare_faulty : faulty;
            }
            WholeRows rows{*this, block, calls[thread][i], i, first, bare};
            calls[thread][i].place_derivatives(in.at, in.strides, last - first, rows);
            return rows.faulty;
        });
        damped.renew(bare);
        return finite;
    }

    // H without the curvature of rows, and of nodes inside the objective, to `damped`. As above.
    bool call_bare(const double* z) {
        const bool finite =
            on_blocks([&](int i, int first, int last, int thread) { return find_bare(i, z, first, last, thread); });
        damped.renew(true);
        return finite;
    }

    // Whether both at once take less time than one after the other.
    bool has_graphs() const {
        return std::any_of(blocks.begin(), blocks.end(), [](const Block& b) { return bool(b.graph); });
    }

    const std::vector<Block> blocks;
    const int parameter_count, stage_parameter_count;
    double *parameters, *stage_parameters;  // shared; of all stages in a row
    Fault fault;                            // the last one that was met

protected:
    DampedHessian damped;

private:
    static constexpr double WHOLE = 1.0, BARE = 0.0;  // of the curvature that nodes have by the objective

    void lay_out(Arena& a) {
        parameters = a.vector(parameter_count);
        stage_parameters = a.vector(stage_parameter_count);
        if (!blocks.empty()) damped.lay_out(a);
        const auto count = blocks.size();
        value_rows.resize(count), weight_rows.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            const Block& block = blocks[i];
            value_rows[i] = a.matrix(block.rows(), block.count);
            weight_rows[i] = a.matrix(block.rows(), block.count);
            for (int k = 0; light_rows[i].exists() && k < block.count; ++k)
                riccati.stages[block.child + k].light = {nullptr, a.vector(light_rows[i].values()),
                                                         a.vector(block.dynamics)};
        }
    }

    // job(block, first, last, thread) on runs of the stages of all blocks, as `SharedStages` has it; the first of the faults is kept.
    template <class Job>
    bool on_blocks(const Job& job) {
        bool finite = true;
        for (int i = 0; i < int(blocks.size()); ++i) {
            const bool here =
                stages.share(blocks[i], [&](int first, int last, int thread) { return job(i, first, last, thread); });
            if (finite && !here) fault = {i, blocks[i].first + stages.first_fault(), -1};
            finite &= here;
        }
        return finite;
    }

    // The row, of the first stage at fault in block i, whose value is not finite.
    void find_row(int i) {
        const double* row = value_rows[i] + std::ptrdiff_t(stages.first_fault()) * blocks[i].rows();
        fault = {i, blocks[i].first + stages.first_fault(), 0};
        while (fault.row + 1 < blocks[i].rows() && std::fabs(row[fault.row]) <= 1e300) ++fault.row;
    }

    // A stage's rows to where they belong, but for the objective. False where one is not finite.
    bool place_values(const Block& block, int stage, const double* row, const double* z, Values& out) const {
        for (int r = 0; r < block.rows(); ++r)
            if (!(std::fabs(row[r]) <= 1e300)) return false;
        row += block.objective;
        if (block.dynamics) {
            const Riccati::Stage& child = riccati.stages[block.child + stage - block.first];
            const double* x = z + child.at_z + child.up;
            for (int r = 0; r < block.dynamics; ++r)
                out.b[child.at_x + r] = dynamics_scale[child.at_x + r] * (*row++ - x[r]);
        }
        const int e = at_equality(block, stage), c = at_inequality(block, stage);
        scaled(block.equalities, row, equality_scale + e, out.g + e);
        scaled(block.inequalities, row + block.equalities, inequality_scale + c, out.c + c);
        return true;
    }

    struct Inputs {
        const double* at[7];
        std::int64_t strides[7];
    };

    // of_stage(k) of the stages in lanes, `count` from `stage` on.
    template <class OfStage>
    static auto of_lanes(int stage, int count, const OfStage& of_stage) {
        NonzeroPlaces::OfLanes<std::remove_pointer_t<decltype(of_stage(0))>> all;
        for (int l = 0; l < NonzeroPlaces::MOST_LANES; ++l) all[l] = of_stage(stage + std::min(l, count - 1));
        return all;
    }

    // Derivatives of stages first to last of block i, a compiled one: as many at a time as the code computes side by side, so that
    // they are in the cache when put(k, count, them) brings them to their places. The first stage with a fault, or -1.
    template <class Put>
    int call_compiled(int i, Inputs in, int first, int last, int thread, const Put& put) {
        BlockCalls& functions = calls[thread][i];
        int faulty = -1;
        for (int k = first; k < last; k += functions.lanes) {
            const int count = std::min(functions.lanes, last - k);
            const int bad = put(k, count, functions.side_by_side(in.at, in.strides, count));
            if (faulty < 0 && bad >= 0) faulty = k + bad;
            for (int a = 0; a < 7; ++a) in.at[a] += count * in.strides[a];
        }
        return faulty;
    }

    // `call_bare` on stages first to last of block i. The first stage with a fault, or -1.
    int find_bare(int i, const double* z, int first, int last, int thread) {
        const Block& block = blocks[i];
        double* weights = weight_rows[i] + std::ptrdiff_t(first) * block.rows();
        std::fill_n(weights, std::ptrdiff_t(last - first) * block.rows(), 0.0);
        for (int k = first; block.objective && k < last; ++k, weights += block.rows()) *weights = objective_scale;
        const Inputs in = inputs(block, first, z, weight_rows[i], &BARE);
        if (!block.graph)
            return call_compiled(i, in, first, last, thread, [&](int k, int count, const SideBySide& found) {
                NonzeroPlaces::Lanes lanes{found, count};
                place_hessian(i, block.first + k, lanes,
                              of_lanes(block.first + k, count, [&](int stage) { return damped.bare(stage); }));
                return lanes.first_fault();
            });
        WholeRows rows{*this, block, calls[thread][i], i, first, true};
        calls[thread][i].place_bare(in.at, in.strides, last - first, rows);
        return rows.faulty;
    }

    // Takes the derivatives of a block with a graph straight to the sweeps' matrices; see `StageGraph`.
    struct WholeRows {
        StageFunctions& owner;
        const Block& block;
        BlockCalls& calls;
        int index, first;  // of the block; its first stage of this run
        bool with_bare;    // H without curvature of rows and nodes is wanted
        int faulty = -1;   // the first stage with a fault, or -1

        bool parts() const { return with_bare; }
        int head() const { return block.objective; }

        double* row(int k, int r) const {
            const int stage = block.first + first + k;
            const std::ptrdiff_t n = owner.riccati.stages[stage].n;
            if (r < block.objective) return calls.spare_row();
            if ((r -= block.objective) < block.dynamics) return owner.riccati.stages[block.child + first + k].E + r * n;
            if ((r -= block.dynamics) < block.equalities)
                return owner.riccati.stages[stage].G + (block.at_equality + r) * n;
            return owner.C(stage) + (block.at_inequality + r - block.equalities) * n;
        }
        double* hessian(int k) const {
            const int stage = block.first + first + k;
            return owner.opened_by[stage] == index ? owner.riccati.stages[stage].H : calls.spare_hessian();
        }
        double* bare(int k) const {
            const int stage = block.first + first + k;
            return owner.opened_by[stage] == index ? owner.damped.bare(stage) : calls.spare_bare();
        }
        void bare_done(int k, const double* H) {
            const int stage = block.first + first + k;
            note(k, settle(owner.riccati.stages[stage].n, H, owner.damped.bare(stage)));
        }
        void done(int k, const double* H, const double* slopes) {
            const int stage = block.first + first + k;
            if (const LightRowsOfBlock& edge = owner.light_rows[index]; edge.exists()) {
                Riccati::Stage& child = owner.riccati.stages[block.child + first + k];
                child.light.pattern = edge.fill(slopes, child.light.values);
            }
            const Riccati::Stage& s = owner.riccati.stages[stage];
            bool finite = true;
            for (int r = 0; r < block.rows(); ++r) finite &= all_finite(s.n, row(k, r));
            if (block.objective) {
                double* gradient = owner.gradient + s.at_z;
                for (int i = 0; i < s.n; i += W)
                    store(gradient + i, load(gradient + i) + owner.objective_scale * load(calls.spare_row() + i));
            }
            const int equalities = block.objective + block.dynamics, inequalities = equalities + block.equalities;
            const auto scale = [&](int at, int count, const double* by) {
                for (int r = 0; r < count; ++r) {
                    double* to = row(k, at + r);
                    for (int i = 0; i < s.n; i += W) store(to + i, by[r] * load(to + i));
                }
            };
            scale(equalities, block.equalities, owner.equality_scale + owner.at_equality(block, stage));
            scale(inequalities, block.inequalities, owner.inequality_scale + owner.at_inequality(block, stage));
            finite &= settle(s.n, H, s.H);
            note(k, finite);
        }

    private:
        void note(int k, bool finite) {
            if (!finite && faulty < 0) faulty = first + k;
        }

        // H, where it is another block's stage, to what that has. False where a number of it is not finite.
        static bool settle(int n, const double* H, double* to) {
            bool finite = true;
            for (int j = 0; j < n; ++j) {
                const int below = j / W * W;
                const std::ptrdiff_t at = below + std::ptrdiff_t(j) * n;
                finite &= all_finite(n - below, H + at);
                for (int i = 0; H != to && i < n - below; i += W)
                    store(to + at + i, load(to + at + i) + load(H + at + i));
            }
            return finite;
        }
    };

    int at_equality(const Block& block, int stage) const { return riccati.stages[stage].at_g + block.at_equality; }
    int at_inequality(const Block& block, int stage) const { return at_c[stage] + block.at_inequality; }

    Inputs inputs(const Block& block, int first, const double* z, const double* weights = nullptr,
                  const double* share = nullptr) const {
        const Riccati::Stage& s = riccati.stages[block.first + first];
        return {{z + s.at_z, z + s.at_z + s.up, parameters + block.at_shared,
                 stage_parameters + block.at_stage + std::ptrdiff_t(first) * block.stage_stride,
                 stage_parameters + block.at_child + std::ptrdiff_t(first) * block.child_stride,
                 weights ? weights + std::ptrdiff_t(first) * block.rows() : nullptr, share},
                {s.n, s.n, 0, block.stage_stride, block.child_stride, block.rows(), 0}};
    }

    void gather_weights(const Block& block, int first, int last, const Multipliers& m, double* to) const {
        to += std::ptrdiff_t(first) * block.rows();
        for (int stage = block.first + first; stage < block.first + last; ++stage) {
            if (block.objective) *to++ = m.objective * objective_scale;
            if (block.dynamics) {
                const Riccati::Stage& child = riccati.stages[block.child + stage - block.first];
                scaled(block.dynamics, m.lambda + child.at_x, dynamics_scale + child.at_x, to);
                to += block.dynamics;
            }
            const int e = at_equality(block, stage), c = at_inequality(block, stage);
            scaled(block.equalities, m.eta + e, equality_scale + e, to);
            scaled(block.inequalities, m.nu + c, inequality_scale + c, to + block.equalities);
            to += block.equalities + block.inequalities;
        }
    }

    // Derivatives of `count` stages of block i from its k-th on, each part to where it belongs. The first of them with a number
    // that is not finite, or -1.
    int place(int i, int k, int count, const SideBySide& found) {
        const Block& block = blocks[i];
        const NonzeroPlaces& to = places[i];
        NonzeroPlaces::Lanes lanes{found, count};
        const auto each = [&](const auto& of_stage) { return of_lanes(block.first + k, count, of_stage); };
        const auto child = [&](int stage) -> Riccati::Stage& {
            return riccati.stages[block.child + stage - block.first];
        };
        to.add_gradient(lanes, objective_scale, each([&](int stage) { return gradient + riccati.stages[stage].at_z; }));
        if (block.dynamics) to.put_dynamics(lanes, each([&](int stage) { return child(stage).E; }));
        if (light_rows[i].exists()) {
            to.put_light_values(lanes, each([&](int stage) { return child(stage).light.values; }));
            for (int l = 0; l < count; ++l) child(block.first + k + l).light.pattern = light_rows[i].pattern();
        }
        if (block.equalities)
            to.put_equalities(
                lanes, each([&](int stage) -> const double* { return equality_scale + at_equality(block, stage); }),
                each([&](int stage) { return riccati.stages[stage].G; }));
        if (block.inequalities)
            to.put_inequalities(
                lanes, each([&](int stage) -> const double* { return inequality_scale + at_inequality(block, stage); }),
                each([&](int stage) { return C(stage); }));
        place_hessian(i, block.first + k, lanes, each([&](int stage) { return riccati.stages[stage].H; }));
        return lanes.first_fault();
    }

    // Of the stages from `stage` on. Where one of them belongs to several blocks, all are added to what the first has cleared.
    void place_hessian(int i, int stage, NonzeroPlaces::Lanes& lanes, const NonzeroPlaces::OfLanes<double>& H) const {
        const auto begin = shared.begin() + stage;
        if (std::none_of(begin, begin + lanes.count, [](char others) { return others; }))
            return places[i].put_hessian(lanes, H);
        for (int l = 0; l < lanes.count; ++l) {
            const int n = riccati.stages[stage + l].n;
            if (opened_by[stage + l] == i) fill_zero(n * n, H[l]);
        }
        places[i].add_hessian(lanes, H);
    }

    Arena arena;
    std::vector<NonzeroPlaces> places;
    std::vector<LightRowsOfBlock> light_rows;  // of each block
    std::vector<int> opened_by;  // of each stage: the first block on it; others' Hessians are added to its own
    std::vector<char> shared;    // whether there are others
    std::vector<double*> value_rows, weight_rows;
    SharedStages stages;
    std::vector<std::vector<BlockCalls>> calls;  // of each thread, of each block
};

}  // namespace trisweep
