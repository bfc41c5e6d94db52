"""The small dense kernels against NumPy, at every instruction-set level of this processor."""

import numpy as np
import pytest
from trisweep.native import levels
from trisweep.native.instruction_sets import load_core

SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 14, 16, 17, 21, 24, 31, 33, 48, 64, 72, 97, 150)


@pytest.fixture(params=levels)
def kernels(request):
    return load_core(request.param).kernels


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def close(actual, expected):
    scale = 1.0 + np.abs(expected).max(initial=0.0)
    np.testing.assert_allclose(actual, expected, atol=1e-13 * scale, rtol=0)


def test_each_level_has_its_own_vector_length():
    lengths = [load_core(level).kernels.lanes for level in levels]
    assert lengths == [2, 4, 4][: len(lengths)]  # AVX-512: wider ones in products alone, where they are as quick


@pytest.mark.parametrize("rows", SIZES)
def test_products(kernels, rng, rows):
    for columns in SIZES:
        for depth in (0, 1, 3, 14, 48):
            A, B = rng.normal(size=(rows, depth)), rng.normal(size=(columns, depth))
            C = rng.normal(size=(rows, columns))
            close(kernels.product_nt(A, B, C, False, 1), C + A @ B.T)
            close(kernels.product_nt(A, B, C, False, -1), C - A @ B.T)
            close(kernels.product_nn(A, B.T.copy()), A @ B.T)


@pytest.mark.parametrize("size", SIZES)
def test_symmetric_products(kernels, rng, size):
    for depth in (0, 1, 7, 24):
        A, C = rng.normal(size=(size, depth)), rng.normal(size=(size, size))
        for sign in (1, -1):
            close(np.tril(kernels.product_nt(A, A, C, True, sign)), np.tril(C + sign * A @ A.T))


@pytest.mark.parametrize("rows", SIZES)
def test_matrix_times_vector(kernels, rng, rows):
    for columns in SIZES:
        A, x, y = rng.normal(size=(rows, columns)), rng.normal(size=(columns, 1)), rng.normal(size=(rows, 1))
        close(kernels.multiply_add(A, x, y), y + A @ x)
        close(kernels.transposed_multiply_add(A, y, x), x + A.T @ y)


@pytest.mark.parametrize("size", SIZES)
def test_cholesky_of_the_leading_columns(kernels, rng, size):
    factor = rng.normal(size=(size, size))
    A = factor @ factor.T + size * np.eye(size)
    exact = np.linalg.cholesky(A)
    for columns in {0, 1, size // 2, size - 1, size}:
        failed, KZ = kernels.cholesky(A, columns)
        assert failed == -1
        mask = np.tri(size, columns, dtype=bool)
        close(KZ[mask], exact[:, :columns][mask])


@pytest.mark.parametrize("size", SIZES)
def test_cholesky_reports_the_column_that_fails(kernels, rng, size):
    A = np.eye(size) + 0.01 * np.ones((size, size))
    for bad in {0, size // 2, size - 1}:
        for value in (-1.0, 0.0, np.nan):
            broken = A.copy()
            broken[bad, bad] = value
            failed, _ = kernels.cholesky(broken, size)
            assert failed == bad


@pytest.mark.parametrize("size", SIZES)
def test_cholesky_of_a_difference(kernels, rng, size):
    for depth in (0, 1, 7, 24):
        factor, Z = rng.normal(size=(size, size)), rng.normal(size=(size, depth))
        P = factor @ factor.T + size * np.eye(size)
        failed, L = kernels.cholesky_after(P + Z @ Z.T, Z)
        assert failed == -1
        close(np.tril(L), np.linalg.cholesky(P))
        for block in range(0, size, 4):  # whoever multiplies by L relies on these zeros
            assert not np.triu(L[block : block + 4, block : block + 4], 1).any()
        bad = size // 2
        P[bad, bad] = -1.0
        assert kernels.cholesky_after(P + Z @ Z.T, Z)[0] == bad


@pytest.mark.parametrize("size", SIZES)
def test_a_triangle_times_its_transpose_times_a_vector(kernels, rng, size):
    L, x, y = np.tril(rng.normal(size=(size, size))), rng.normal(size=(size, 1)), rng.normal(size=(size, 1))
    close(kernels.square_multiply_add(L, x, y), y + L @ (L.T @ x))


def test_shapes_that_do_not_fit_are_refused(kernels):
    with pytest.raises(ValueError, match="A B does not fit"):
        kernels.product_nn(np.zeros((2, 3)), np.zeros((2, 3)))
    with pytest.raises(ValueError, match="A must be square"):
        kernels.cholesky(np.zeros((2, 3)), 1)
