/* FATROP through its C interface, on a reach: stage functions by address, all steps of the horizon in one call.

   Steps 0 ... N-1 have (u, x), stage N has x. Dynamics x_next = F(u, x), x = start at stage 0, the first `goals`
   entries of x at stage N, bounds on all variables. The functions have the calling convention of trisweep.native and
   take u and x apart; nz = nu + nx:

     cost -> 1     gradient -> nz     next -> nx     jacobian -> dF/d(u, x)' (nz, nx), column after column
     hessian (u, x, weight of the cost, weights of F) -> (nz, nz)

   `end_...` are those of the last stage, of x alone. Equalities and bounds are identities, written here. */
#include <stdint.h>
#include <string.h>

#include <blasfeo.h>
#include <fatrop/ocp/OCPCInterface.h>

/* Bytes from one matrix of an array to the next: of BLASFEO's own structs, or of what FATROP wraps them in. */
#ifndef MATRIX_BYTES
#define MATRIX_BYTES sizeof(struct blasfeo_dmat)
#endif

static struct blasfeo_dmat *at(struct blasfeo_dmat *matrices, int k) {
    return (struct blasfeo_dmat *)((char *)matrices + k * MATRIX_BYTES);
}

typedef void (*evaluate_t)(const double *const *, const int64_t *, double *const *, const int64_t *, int64_t, double *);

struct function {
    evaluate_t evaluate;
    double *work;
};

struct reach {
    int steps, nu, nx, goals;
    const double *start, *goal, *lower, *upper, *guess; /* bounds (nz,), guess along all stages */
    struct function cost, gradient, next, jacobian, hessian, end_cost, end_gradient, end_hessian;
    double *buffer; /* steps * nz * nz */
};

static int nz_of(const struct reach *r) { return r->nu + r->nx; }

static void steps_of(const struct function *f, const struct reach *r, const double *primal, const double *scale,
                     const double *lam, double *out, int64_t stride) {
    const double *inputs[4] = {primal, primal + r->nu, scale, lam};
    const int64_t strides[4] = {nz_of(r), nz_of(r), 0, r->nx};
    f->evaluate(inputs, strides, &out, &stride, r->steps, f->work);
}

static void end_of(const struct function *f, const double *x, const double *scale, double *out) {
    const double *inputs[2] = {x, scale};
    const int64_t strides[2] = {0, 0}, stride = 0;
    f->evaluate(inputs, strides, &out, &stride, 1, f->work);
}

static const double *last(const struct reach *r, const double *primal) { return primal + r->steps * nz_of(r); }

static fatrop_int full_obj(double scale, const double *primal, const double *a, const double *b, double *result,
                           const struct FatropOcpCDims *dims, void *data) {
    const struct reach *r = data;
    double end;
    steps_of(&r->cost, r, primal, NULL, NULL, r->buffer, 1);
    end_of(&r->end_cost, last(r, primal), NULL, &end);
    for (int k = 0; k < r->steps; ++k) end += r->buffer[k];
    *result = scale * end;
    return 1;
}

static fatrop_int full_grad(double scale, const double *primal, const double *a, const double *b, double *result,
                            const struct FatropOcpCDims *dims, void *data) {
    const struct reach *r = data;
    const int size = r->steps * nz_of(r) + r->nx;
    steps_of(&r->gradient, r, primal, NULL, NULL, result, nz_of(r));
    end_of(&r->end_gradient, last(r, primal), NULL, result + r->steps * nz_of(r));
    for (int i = 0; i < size; ++i) result[i] *= scale;
    return 1;
}

static fatrop_int full_violation(const double *primal, const double *a, const double *b, double *result,
                                 const struct FatropOcpCDims *dims, void *data) {
    const struct reach *r = data;
    const int nz = nz_of(r), nx = r->nx;
    double *missing = result + dims->dyn_eq_offs[0];
    steps_of(&r->next, r, primal, NULL, NULL, missing, nx);
    for (int k = 0; k < r->steps; ++k) {
        const double *following = primal + dims->ux_offs[k + 1] + (k + 1 < r->steps ? r->nu : 0);
        for (int i = 0; i < nx; ++i) missing[k * nx + i] -= following[i];
    }
    for (int i = 0; i < nx; ++i) result[dims->g_offs[0] + i] = primal[r->nu + i] - r->start[i];
    for (int i = 0; i < r->goals; ++i) result[dims->g_offs[r->steps] + i] = last(r, primal)[i] - r->goal[i];
    memcpy(result + dims->g_ineq_offs[0], primal, sizeof(double) * (r->steps * nz + nx));
    return 1;
}

static void identity(int rows, int columns, int first, struct blasfeo_dmat *M) {
    blasfeo_dgese(rows, columns, 0.0, M, 0, 0);
    for (int i = 0; i < columns; ++i) BLASFEO_DMATEL(M, first + i, i) = 1.0;
}

static fatrop_int full_jac(const double *primal, const double *a, const double *b, struct blasfeo_dmat *BAbt,
                           struct blasfeo_dmat *Ggt, struct blasfeo_dmat *Ggt_ineq, const struct FatropOcpCDims *dims,
                           void *data) {
    const struct reach *r = data;
    const int nz = nz_of(r), nx = r->nx;
    steps_of(&r->jacobian, r, primal, NULL, NULL, r->buffer, nz * nx);
    for (int k = 0; k < r->steps; ++k) {
        blasfeo_pack_dmat(nz, nx, r->buffer + k * nz * nx, nz, at(BAbt, k), 0, 0);
        identity(nz, nz, 0, at(Ggt_ineq, k));
    }
    identity(nx, nx, 0, at(Ggt_ineq, r->steps));
    identity(nz, nx, r->nu, Ggt);
    identity(nx, r->goals, 0, at(Ggt, r->steps));
    return 1;
}

static fatrop_int full_hess(double scale, const double *primal, const double *lam, const double *a, const double *b,
                            struct blasfeo_dmat *RSQrqt, const struct FatropOcpCDims *dims, void *data) {
    const struct reach *r = data;
    const int nz = nz_of(r), nx = r->nx;
    steps_of(&r->hessian, r, primal, &scale, lam + dims->dyn_eq_offs[0], r->buffer, nz * nz);
    for (int k = 0; k < r->steps; ++k) blasfeo_pack_dmat(nz, nz, r->buffer + k * nz * nz, nz, at(RSQrqt, k), 0, 0);
    end_of(&r->end_hessian, last(r, primal), &scale, r->buffer);
    blasfeo_pack_dmat(nx, nx, r->buffer, nx, at(RSQrqt, r->steps), 0, 0);
    return 1;
}

static fatrop_int number_of_states(fatrop_int k, void *data) { return ((struct reach *)data)->nx; }

static fatrop_int number_of_controls(fatrop_int k, void *data) {
    const struct reach *r = data;
    return k < r->steps ? r->nu : 0;
}

static fatrop_int number_of_equalities(fatrop_int k, void *data) {
    const struct reach *r = data;
    return k == 0 ? r->nx : k == r->steps ? r->goals : 0;
}

static fatrop_int number_of_bounds(fatrop_int k, void *data) {
    return number_of_controls(k, data) + number_of_states(k, data);
}

static fatrop_int stages(void *data) { return ((struct reach *)data)->steps + 1; }

static fatrop_int none(void *data) { return 0; }

static fatrop_int none_of_stage(fatrop_int k, void *data) { return 0; }

static fatrop_int bounds(double *lower, double *upper, fatrop_int k, void *data) {
    const struct reach *r = data;
    const int skip = k < r->steps ? 0 : r->nu;
    memcpy(lower, r->lower + skip, sizeof(double) * (nz_of(r) - skip));
    memcpy(upper, r->upper + skip, sizeof(double) * (nz_of(r) - skip));
    return 0;
}

static fatrop_int first_state(double *x, fatrop_int k, void *data) {
    const struct reach *r = data;
    memcpy(x, r->guess + k * nz_of(r) + number_of_controls(k, data), sizeof(double) * r->nx);
    return 0;
}

static fatrop_int first_control(double *u, fatrop_int k, void *data) {
    const struct reach *r = data;
    memcpy(u, r->guess + k * nz_of(r), sizeof(double) * number_of_controls(k, data));
    return 0;
}

static void silence(const char *text, int size) {}

static void flush(void) {}

/* One solve from the guess: `solution` along all stages, FATROP's own clocks; returns FATROP's flag, 0 for success. */
int solve_reach(struct reach *r, double tolerance, int iterations, double *solution, struct FatropOcpCStats *stats) {
    struct FatropOcpCInterface interface;
    memset(&interface, 0, sizeof interface);
    interface.get_nx = number_of_states;
    interface.get_nu = number_of_controls;
    interface.get_ng = number_of_equalities;
    interface.get_ng_ineq = number_of_bounds;
    interface.get_n_stage_params = none_of_stage;
    interface.get_n_global_params = none;
    interface.get_horizon_length = stages;
    interface.get_bounds = bounds;
    interface.get_initial_xk = first_state;
    interface.get_initial_uk = first_control;
    interface.full_eval_lag_hess = full_hess;
    interface.full_eval_constr_jac = full_jac;
    interface.full_eval_contr_viol = full_violation;
    interface.full_eval_obj_grad = full_grad;
    interface.full_eval_obj = full_obj;
    interface.user_data = r;
    struct FatropOcpCSolver *solver = fatrop_ocp_c_create(&interface, silence, flush);
    fatrop_ocp_c_set_option_double(solver, "tolerance", tolerance);
    fatrop_ocp_c_set_option_int(solver, "max_iter", iterations);
    fatrop_ocp_c_set_option_int(solver, "print_level", 0);
    const int flag = fatrop_ocp_c_solve(solver);
    const struct blasfeo_dvec *primal = fatrop_ocp_c_get_primal(solver);
    memcpy(solution, primal->pa, sizeof(double) * (r->steps * nz_of(r) + r->nx));
    *stats = *fatrop_ocp_c_get_stats(solver);
    fatrop_ocp_c_destroy(solver);
    return flag;
}
