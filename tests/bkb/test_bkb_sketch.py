"""The sketched posterior compared with values computed by hand, a dense reference in function space, and transformed inputs."""

import math

import numpy as np
import pytest
import torch
from device_form import shortcuts
from hypothesis import given, settings
from hypothesis import strategies as st

from paperlib.bkb.learners import posterior
from paperlib.bkb.learners.bkb import inclusion_probability
from paperlib.bkb.learners.posterior import (
    fit_sketch,
    inverse_square_root,
    inverse_square_root_of_one,
    needs_eigenvalues,
    nystrom_posterior,
)
from paperlib.bkb.model.confidence import Confidence
from paperlib.bkb.model.slots import Slots, list_members
from paperlib.maths.gp import RBF, FunctionKernel, Linear, Matern, exact_posterior

ROOTS = {"eigh": 1e-9, "cholesky": 1e-7}
KERNELS = [RBF(20.0), Matern(0.5, 0.5), Linear()]
each_root = pytest.mark.parametrize("root", ROOTS)
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)
PAIR = torch.tensor([[1.0, 0.0], [0.5, math.sqrt(0.75)]], dtype=torch.float64)  # k = 1 and 0.5


@pytest.fixture(autouse=True, params=[True, False], ids=["one by one", "at once"])
def way(request):
    """Run every test of this file with the posterior by trial, and for all trials at once, as on a GPU."""
    with shortcuts(request.param):
        yield


def vector(*values, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype)


def members(*index, of):
    return torch.zeros(of, dtype=torch.bool).index_fill(
        0, torch.tensor(index, dtype=torch.int64), True
    )


def close(found, expected, tolerance):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


def instance(arms=14, dim=2, trials=3, seed=0, keep=0.6):
    """Return arms, pull counts, and a dictionary of some pulled arms, with a different size in each trial."""
    rng = np.random.default_rng(seed)
    X, n = torch.tensor(rng.random((1, arms, dim))), torch.tensor(rng.poisson(1.5, (trials, arms)))
    ysum = torch.tensor(rng.normal(size=(trials, arms))) * n
    mask = torch.tensor(
        rng.random((trials, arms)) < keep * np.linspace(1, 0.4, trials)[:, None]
    ) & (n > 0)
    return X, mask, n.double(), ysum


def factor(X, kernel, mask, n, ysum, ridge):
    """Return the Cholesky factor of V, computed from the eigenvalues of K_SS."""
    kappa2, options = kernel.diag(X).amax(1), dict(eigh=True, slots=None, rounds=n.shape[1])
    return fit_sketch(kernel, X, mask > 0, n, ysum, ridge, kappa2, keep=True, **options).factor


def dense(K, mask, n, ysum, ridge):
    """Return mu, s2 and sor of one trial, from a Gaussian process with the kernel K_XS K_SS^+ K_SX in NumPy."""
    S, P = np.flatnonzero(mask), np.flatnonzero(n)
    Q = K[:, S] @ np.linalg.pinv(K[np.ix_(S, S)], rcond=1e-13, hermitian=True) @ K[S]
    G = np.linalg.inv(Q[np.ix_(P, P)] + ridge * np.diag(1 / n[P]))
    sor = (np.diag(Q) - np.einsum("ip,pq,iq->i", Q[:, P], G, Q[:, P])) / ridge
    return Q[:, P] @ G @ (ysum[P] / n[P]), np.maximum(np.diag(K) - np.diag(Q), 0) / ridge + sor, sor


def same(a, b, tolerance=1e-10, fields=("mu", "s2", "sor", "resid", "log_det", "size")):
    for field in fields:
        torch.testing.assert_close(
            getattr(a, field),
            getattr(b, field),
            rtol=tolerance,
            atol=tolerance,
            msg=lambda text, field=field: f"{field}: {text}",
        )


# ---- by hand -----------------------------------------------------------------------------------------------


@each_root
@pytest.mark.parametrize(
    "ridge, n, ysum, mu, s2, sor",
    [
        (1.0, (2, 0), (4, 0), (4 / 3, 2 / 3), (1 / 3, 5 / 6), (1 / 3, 1 / 12)),
        (0.5, (2, 0), (4, 0), (1.6, 0.8), (0.4, 1.6), (0.4, 0.1)),
        (1.0, (1, 1), (1, 2), (8 / 9, 4 / 9), (4 / 9, 31 / 36), (4 / 9, 1 / 9)),
    ],
)
def test_two_arms(root, ridge, n, ysum, mu, s2, sor):
    """Kernel values 1 and 0.5, S = {x1}. With one pull of x1 alone s2(x1) is exact; with one of x2, too, it is below the exact 0.4667."""
    found = nystrom_posterior(
        PAIR, Linear(), members(0, of=2), vector(*n), vector(*ysum), ridge, root=root
    )
    close(found.mu, [mu], ROOTS[root])
    close(found.s2, [s2], ROOTS[root])
    close(found.sor, [sor], ROOTS[root])
    close(found.resid, [(0, 0.75)], ROOTS[root])
    assert found.size.tolist() == [1]


def test_the_sketch_is_no_bound_on_the_exact_variance():
    found = exact_posterior(
        Linear(), PAIR[None], vector(1, 1)[None], vector(1, 2)[None], 1.0, PAIR[None]
    )
    close(found.mean[0, 0], 0.7333333333, 1e-9)
    close(found.variance, [(0.4666666667, 0.4666666667)], 1e-9)
    ours = nystrom_posterior(PAIR, Linear(), members(0, of=2), vector(1, 1), vector(1, 2), 1.0)
    assert ours.s2[0, 0] < found.variance[0, 0] and ours.s2[0, 1] > found.variance[0, 1]


@each_root
def test_orthonormal_arms(root):
    X, n = torch.eye(3, dtype=torch.float64), vector(3, 1, 0)
    found = nystrom_posterior(X, Linear(), n > 0, n, vector(0, 0, 0), 0.5, root=root)
    close(found.s2, [(0.2857142857, 0.6666666667, 2)], ROOTS[root])
    close((n * found.s2).sum(), 1.5238095238, ROOTS[root])
    close(found.log_det, [3.0445224377], ROOTS[root])


@pytest.mark.parametrize(
    "n, p, value",
    [
        (7, 0.2, 0.7902848),
        (1, 1.0, 1.0),
        (3, 1.0, 1.0),
        (3, 7.0, 1.0),
        (0, 1.0, 0.0),
        (0, 0.3, 0.0),
        (10, 1e-18, 1e-17),
        (5, 0.0, 0.0),
        (1, 0.3, 0.3),
    ],
)
def test_inclusion(n, p, value):
    """Inclusion probability p = min(1, qbar s2), here with qbar = 1 and with qbar = 4."""
    for qbar in (1.0, 4.0):
        np.testing.assert_allclose(
            inclusion_probability(vector(n), vector(p / qbar), qbar), [value], rtol=1e-9
        )


@pytest.mark.parametrize(
    "n, s2, value", [(7, 0.02, 0.7), (7, 0.2, 1.0), (0, 5.0, 0.0), (10, 1e-18, 5e-17)]
)
def test_inclusion_with_sampling_per_arm(n, s2, value):
    np.testing.assert_allclose(
        inclusion_probability(vector(n), vector(s2), 5.0, "arms"), [value], rtol=1e-12
    )


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.integers(1, 200), st.floats(1e-6, 1.0), st.floats(0.1, 10.0))
def test_sampling_per_arm_keeps_more(n, s2, qbar):
    pulls, arms = (
        inclusion_probability(vector(n), vector(s2), qbar),
        inclusion_probability(vector(n), vector(s2), qbar, "arms"),
    )
    assert 0 <= pulls <= arms + 1e-12 and arms <= 1
    assert math.isclose(float(pulls), 1 - (1 - min(1.0, qbar * s2)) ** n, rel_tol=1e-6)


TRACE = [10, 20, 0, 16, 6, 14, 18, 4, 18, 7, 17, 18, 16, 4, 20, 17, 18, 7, 17, 5]


@each_root
def test_deterministic_trace(root):
    """Known values for the pull counts of a deterministic trace with the dictionary {0, 10, 20}."""
    x = (np.arange(21) / 20) ** 1.3
    n = np.bincount(TRACE, minlength=21)
    X, n, ysum = (
        torch.tensor(x)[:, None],
        torch.tensor(n),
        torch.tensor(n * (np.sin(3 * np.pi * x) + x / 2)),
    )
    found = nystrom_posterior(X, RBF(25.0), members(0, 10, 20, of=21), n, ysum, 0.1, root=root)
    at = torch.tensor([0, 7, 20])
    close(found.mu[0, at], (0.914340169, 0.4135706024, 1.5147147543), 1e-6)
    close(found.s2[0, at], (0.4394370528, 6.5943350788, 0.2254696201), 1e-6)
    close(found.sor[0, at], (0.4394370528, 0.1554814353, 0.2254696201), 1e-6)
    close(found.log_det, [9.9359036491], 1e-6)
    ratio = (
        found.s2
        * 0.1
        / exact_posterior(RBF(25.0), X[None], n[None], ysum[None], 0.1, X[None]).variance
    )
    np.testing.assert_allclose((ratio.min(), ratio.max()), (0.50538143, 52.91902020), rtol=1e-6)
    all_pulled = nystrom_posterior(X, RBF(25.0), n > 0, n, ysum, 0.1, root=root)
    close(all_pulled.mu[0, at], (0.083515549, 0.7801183171, 0.522687419), 1e-6)
    close(all_pulled.s2[0, at], (0.8165434335, 0.3410032098, 0.4461375264), 1e-6)
    close(all_pulled.log_det, [20.6630230551], 1e-6)
    close((n * all_pulled.s2).sum(), 6.9347222302, 1e-6)


# ---- invariants --------------------------------------------------------------------------------------------


@each_root
@each_kernel
@pytest.mark.parametrize("ridge", [0.05, 2.0])
def test_the_sketch_is_a_gaussian_process_with_the_projected_kernel(kernel, root, ridge):
    X, mask, n, ysum = instance(seed=1)
    assert len(set(mask.sum(1).tolist())) > 1
    found = nystrom_posterior(X, kernel, mask, n, ysum, ridge, root=root)
    for trial in range(3):
        mu, s2, sor = dense(
            kernel(X, X)[0].numpy(),
            mask[trial].numpy(),
            n[trial].numpy(),
            ysum[trial].numpy(),
            ridge,
        )
        np.testing.assert_allclose(found.mu[trial], mu, atol=1e-6)
        np.testing.assert_allclose(found.s2[trial], s2, atol=1e-6)
        np.testing.assert_allclose(found.sor[trial], sor, atol=1e-6)


@each_root
@each_kernel
@settings(max_examples=15, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 2**32 - 1),
    arms=st.integers(1, 30),
    dim=st.integers(1, 10),
    ridge=st.floats(0.01, 3.0),
)
def test_all_pulled_arms_give_the_exact_posterior(kernel, root, seed, arms, dim, ridge):
    X, _, n, ysum = instance(arms, dim, seed=seed)
    found = nystrom_posterior(X, kernel, n > 0, n, ysum, ridge, root=root)
    exact = exact_posterior(kernel, X, n, ysum, ridge, X)
    scale = max(1.0, float(ysum.abs().max()))
    # Smooth kernels have a nearly singular K_SS. This is the error of mu due to a jitter of 1e-12, or to a dropped eigenvalue,
    # at a ridge of 0.01.
    torch.testing.assert_close(found.mu, exact.mean, rtol=1e-6, atol=2e-5 * scale)
    torch.testing.assert_close(found.s2, exact.variance / ridge, rtol=1e-6, atol=1e-6)


@each_root
@each_kernel
def test_order_of_the_variances(kernel, root):
    """SoR <= DTC <= prior; the variance of a dictionary arm is at most the exact one; ln det V <= ln det(I + K / lambda)."""
    X, mask, n, ysum = instance(seed=2)
    found = nystrom_posterior(X, kernel, mask, n, ysum, 0.3, root=root)
    exact = exact_posterior(kernel, X, n, ysum, 0.3, X)
    prior = kernel.diag(X) / 0.3
    assert bool(
        (found.sor <= found.s2).all() & (found.s2 <= prior + 1e-9).all() & (found.s2 >= 0).all()
    )
    assert bool(((found.s2 <= exact.variance / 0.3 + 1e-9) | ~mask).all())
    if kernel != Linear():  # the linear kernel's dictionary spans everything
        assert bool((found.s2 > exact.variance / 0.3 + 1e-3).any())
    root_n = n.sqrt()
    whole = torch.linalg.slogdet(
        torch.eye(14, dtype=torch.float64)
        + root_n.unsqueeze(2) * kernel(X, X) * root_n.unsqueeze(1) / 0.3
    ).logabsdet
    assert bool((found.log_det <= whole + 1e-9).all())


@each_kernel
def test_both_roots_agree(kernel):
    X, mask, n, ysum = instance(seed=3)
    a, b = (nystrom_posterior(X, kernel, mask, n, ysum, 0.1, root=root) for root in ROOTS)
    same(a, b, 1e-7)


@each_root
@each_kernel
def test_permuted_arms_give_permuted_results(kernel, root):
    X, mask, n, ysum = instance(seed=4)
    order = torch.tensor(np.random.default_rng(0).permutation(14))
    a = nystrom_posterior(X, kernel, mask, n, ysum, 0.1, root=root)
    b = nystrom_posterior(
        X[:, order], kernel, mask[:, order], n[:, order], ysum[:, order], 0.1, root=root
    )
    for field in ("mu", "s2", "sor", "resid"):
        torch.testing.assert_close(
            getattr(a, field)[:, order], getattr(b, field), rtol=1e-6, atol=1e-6
        )
    torch.testing.assert_close(a.log_det, b.log_det, rtol=1e-8, atol=1e-8)


@each_root
@each_kernel
def test_trials_of_unequal_dictionaries_are_as_alone(kernel, root):
    X, mask, n, ysum = instance(trials=5, seed=5)
    mask[2] = False  # one of them is empty
    batch = nystrom_posterior(X, kernel, mask, n, ysum, 0.1, root=root)
    assert len(set(batch.size.tolist())) > 2
    for trial in range(5):
        one = slice(trial, trial + 1)
        alone = nystrom_posterior(X, kernel, mask[one], n[one], ysum[one], 0.1, root=root)
        same(alone, type(batch)(*(x[one] if x is not None else None for x in batch)), 1e-9)


@pytest.mark.parametrize("shared", [True, False])
def test_trials_may_have_different_arms(shared):
    X, mask, n, ysum = instance(seed=6)
    X = X.expand(3, -1, -1) if shared else torch.stack([X[0] * c for c in (1.0, 0.5, 2.0)])
    batch = nystrom_posterior(X, Matern(1.5), mask, n, ysum, 0.1)
    for trial in range(3):
        alone = nystrom_posterior(X[trial], Matern(1.5), mask[trial], n[trial], ysum[trial], 0.1)
        same(
            alone,
            type(batch)(*(x[trial : trial + 1] if x is not None else None for x in batch)),
            1e-9,
        )


@each_root
@each_kernel
@pytest.mark.parametrize("chunk", [5, 14])
@pytest.mark.parametrize("given", [True, False], ids=["K_XX given", "not given"])
def test_one_by_one_and_at_once_are_the_same(kernel, root, chunk, given):
    """All returned values agree, also for unequal and empty dictionaries."""
    X, mask, n, ysum = instance(seed=17)
    mask[1] = False
    options = dict(eigh=root == "eigh", slots=14, rounds=14, keep=True, chunk=chunk)
    gram, found = kernel(X, X) if given else None, []
    for look in (True, False):
        with shortcuts(look):
            kappa2 = kernel.diag(X).amax(1)
            found.append(fit_sketch(kernel, X, mask, n, ysum, 0.1, kappa2, gram=gram, **options))
    one, batch = found
    same(one, batch, ROOTS[root])
    assert one.Z.shape == batch.Z.shape and one.factor.shape == batch.factor.shape
    # These products do not depend on the signs of a root.
    spread = lambda fit: fit.Z.mT @ torch.cholesky_inverse(fit.factor) @ fit.Z
    same_as = lambda f: torch.testing.assert_close(f(one), f(batch), rtol=0, atol=ROOTS[root])
    same_as(spread), same_as(lambda fit: fit.Z.mT @ fit.Z)
    assert one.failed.tolist() == batch.failed.tolist() == [False] * 3
    assert one.overflow.tolist() == batch.overflow.tolist()


@each_root
@each_kernel
def test_unused_slots_change_nothing(kernel, root):
    X, mask, n, ysum = instance(seed=7)
    kappa2 = kernel.diag(X).amax(1)
    few, many = (
        fit_sketch(
            kernel,
            X,
            mask,
            n,
            ysum,
            0.1,
            kappa2,
            eigh=root == "eigh",
            slots=slots,
            rounds=14,
            keep=True,
        )
        for slots in (int(mask.sum(1).max()), 14)
    )
    assert few.factor.shape[1] < many.factor.shape[1] or (kernel == Linear() and root == "eigh")
    same(few, many, 1e-9)
    assert not few.overflow.any()


@each_root
@pytest.mark.parametrize("chunk", [1, 5])
def test_chunks_change_nothing(chunk, root):
    X, mask, n, ysum = instance(seed=8)
    kappa2 = torch.ones(1, dtype=torch.float64)
    options = dict(eigh=root == "eigh", slots=14, rounds=14, keep=True)
    whole, parts = (
        fit_sketch(Matern(0.5), X, mask, n, ysum, 0.1, kappa2, chunk=c, **options)
        for c in (14, chunk)
    )
    same(whole, parts, 1e-12)
    torch.testing.assert_close(whole.Z, parts.Z, rtol=1e-12, atol=1e-12)


@each_root
@pytest.mark.parametrize("c", [1e-6, 1e6])
def test_scaling_kernel_and_ridge(c, root):
    """k -> c k and lambda -> c lambda give the same posterior; with F -> F / sqrt(c) they give the same radius."""
    X, mask, n, ysum = instance(seed=9)
    scaled = FunctionKernel(lambda X, Y: c * RBF(20.0)(X, Y))
    a = nystrom_posterior(X, RBF(20.0), mask, n, ysum, 0.1, root=root)
    b = nystrom_posterior(X, scaled, mask, n, ysum, 0.1 * c, root=root)
    same(a, b, 1e-8, ("mu", "s2", "sor", "log_det"))
    torch.testing.assert_close(c * a.resid, b.resid, rtol=1e-8, atol=1e-8 * c)
    for rule in ("corrected", "online", "practical", "reference"):
        radii = []
        for factor, found in ((1.0, a), (c, b)):
            confidence = Confidence(0.3, 2.0 / math.sqrt(factor), 0.1 * factor, rule=rule)
            start = confidence.start(torch.tensor([factor], dtype=torch.float64), 3)
            radii.append(
                confidence.radius(confidence.add(start, found.s2[:, 0], (n * found.s2).sum(1)))
            )
        torch.testing.assert_close(*radii, rtol=1e-8, atol=0)


@each_root
@each_kernel
def test_equal_arms_have_equal_posteriors(kernel, root):
    X, mask, n, ysum = instance(arms=9, seed=10)
    X, mask, n, ysum = X.repeat(1, 2, 1), mask.repeat(1, 2), n.repeat(1, 2), ysum.repeat(1, 2)
    mask[:, 9:] = False
    found = nystrom_posterior(X, kernel, mask, n, ysum, 0.1, root=root)
    for field in ("mu", "s2"):
        torch.testing.assert_close(
            getattr(found, field)[:, :9], getattr(found, field)[:, 9:], rtol=1e-12, atol=1e-12
        )
    merged = nystrom_posterior(
        X[:, :9], kernel, mask[:, :9], 2 * n[:, :9], 2 * ysum[:, :9], 0.1, root=root
    )
    torch.testing.assert_close(found.mu[:, :9], merged.mu, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(found.s2[:, :9], merged.s2, rtol=1e-9, atol=1e-9)


@each_root
def test_repeated_pulls_are_one_weighted_entry(root):
    """Three copies of an arm, each pulled once, equal one arm pulled three times, also if all copies are in the dictionary."""
    X = torch.tensor([[0.1], [0.1], [0.1], [0.7]], dtype=torch.float64)
    many = nystrom_posterior(
        X,
        RBF(5.0),
        vector(1, 1, 1, 1) > 0,
        vector(1, 1, 1, 2),
        vector(0.3, 1.0, 0.2, -2.0),
        0.1,
        root=root,
    )
    once = nystrom_posterior(
        X[2:], RBF(5.0), vector(1, 1) > 0, vector(3, 2), vector(1.5, -2.0), 0.1, root=root
    )
    for field in ("mu", "s2"):
        close(getattr(many, field)[:, 2:], getattr(once, field), 1e-7)
    close(many.log_det, once.log_det, 1e-7)


@each_root
@each_kernel
def test_unseen_points(kernel, root):
    X, mask, n, ysum = instance(seed=11)
    own = nystrom_posterior(X, kernel, mask, n, ysum, 0.1, root=root)
    at = nystrom_posterior(X, kernel, mask, n, ysum, 0.1, root=root, at=X)
    same(own, at, 1e-10)
    new = torch.tensor(np.random.default_rng(1).random((5, 2)))
    none = torch.zeros(3, 5, dtype=torch.float64)
    larger = nystrom_posterior(
        torch.cat([X, new[None]], 1),
        kernel,
        torch.cat([mask, none > 0], 1),
        torch.cat([n, none], 1),
        torch.cat([ysum, none], 1),
        0.1,
        root=root,
    )
    there = nystrom_posterior(X, kernel, mask, n, ysum, 0.1, root=root, at=new)
    close(there.mu, larger.mu[:, 14:], 1e-8)
    close(there.s2, larger.s2[:, 14:], 1e-8)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(st.lists(st.booleans(), min_size=7, max_size=7), min_size=1, max_size=4),
    st.integers(1, 7),
)
def test_members_are_listed_by_index(rows, slots):
    mask = torch.tensor(rows)
    found = list_members(mask, slots)
    for trial, row in enumerate(rows):
        expected = [i for i, member in enumerate(row) if member]
        assert found.index[trial][found.valid[trial]].tolist() == expected[:slots]
        assert not found.index[trial][~found.valid[trial]].any()
        assert found.overflow[trial] == (len(expected) > slots)
    largest, every = max(map(sum, rows), default=0), list_members(mask)
    assert every.index.shape == (len(rows), max(largest, 1)) and not every.overflow.any()
    assert [x[y].tolist() for x, y in zip(every.index, every.valid)] == [
        [i for i, member in enumerate(row) if member] for row in rows
    ]


def test_members_that_do_not_fit_are_ignored():
    X, mask, n, ysum = instance(seed=12, keep=1.0)
    kappa2 = torch.ones(1, dtype=torch.float64)
    found = fit_sketch(RBF(20.0), X, mask, n, ysum, 0.1, kappa2, eigh=False, slots=4, rounds=14)
    first = mask & (mask.cumsum(1) <= 4)
    assert (
        found.overflow.tolist() == (mask.sum(1) > 4).tolist()
        and bool(found.overflow.any())
        and not bool(found.overflow.all())
    )
    same(found, nystrom_posterior(X, RBF(20.0), first, n, ysum, 0.1, root="cholesky"), 1e-9)


# ---- degenerate --------------------------------------------------------------------------------------------


@each_root
@each_kernel
def test_an_empty_dictionary_is_the_prior(kernel, root):
    X, mask, n, ysum = instance(seed=13)
    found = nystrom_posterior(X, kernel, torch.zeros_like(mask), n, ysum, 0.1, root=root)
    assert not found.mu.any() and not found.sor.any() and found.size.tolist() == [0, 0, 0]
    close(found.s2, (kernel.diag(X) / 0.1).expand(3, -1), 1e-12)
    close(found.log_det, torch.zeros(3), 1e-12)


@each_root
def test_more_arms_than_dimensions(root):
    """With rank 2 and 14 arms in the dictionary, the posterior is ridge regression in two dimensions."""
    X, _, n, ysum = instance(seed=14)
    found = nystrom_posterior(X, Linear(), torch.ones_like(n) > 0, n, ysum, 0.1, root=root)
    V = (X[0] * n.unsqueeze(2)).mT @ X[0] + 0.1 * torch.eye(2, dtype=torch.float64)
    theta = torch.linalg.solve(V, ysum @ X[0])
    close(found.mu, theta @ X[0].mT, 1e-7)
    close(found.s2, (X[0] @ torch.linalg.inv(V) * X[0]).sum(-1), 1e-7)
    close(found.log_det, torch.logdet(V) - 2 * math.log(0.1), 1e-7)
    if root == "eigh":
        assert factor(X, Linear(), n + 1, n, ysum, 0.1).shape[1] == 2


@each_root
def test_one_arm(root):
    found = nystrom_posterior(
        vector(0.3)[None], RBF(1.0), members(0, of=1), vector(4), vector(2.0), 0.5, root=root
    )
    close(found.mu, [[2 / 4.5]], ROOTS[root])
    close(found.s2, [[1 / 4.5]], ROOTS[root])


@each_root
def test_an_arm_of_norm_zero(root):
    """An arm with k(x, x) = 0 does not change the posterior, in the dictionary or not."""
    X = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 0.5]], dtype=torch.float64)
    for mask in (members(0, 1, of=3), members(1, of=3)):
        found = nystrom_posterior(
            X, Linear(), mask, vector(2, 1, 0), vector(5, 1, 0), 0.1, root=root
        )
        close(found.mu, [(0, 1 / 1.1, 0)], 1e-9)
        close(found.s2, [(0, 1 / 1.1, 2.5)], 1e-9)
        assert inclusion_probability(vector(2), found.s2[0, :1], 5.0) == 0
    nothing = nystrom_posterior(X[:1], Linear(), members(0, of=1), vector(2), vector(5), 0.1)
    assert nothing.mu.item() == nothing.s2.item() == 0


def test_a_tiny_ridge():
    """With lambda = 1e-8 the root is computed by eigenvalues, and the variance of dictionary arms is as small as the ridge."""
    X, _, n, ysum = instance(arms=10, seed=15)
    found = nystrom_posterior(X, Matern(0.5), n > 0, n, ysum, 1e-8)
    exact = exact_posterior(Matern(0.5), X, n, ysum, 1e-8, X)
    mean = torch.where(n > 0, ysum / n, found.mu)
    torch.testing.assert_close(found.mu, mean, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(found.s2[n > 0], 1 / n[n > 0], rtol=1e-4, atol=0)
    unseen = n == 0
    torch.testing.assert_close(found.s2[unseen], exact.variance[unseen] / 1e-8, rtol=1e-6, atol=0)


@each_root
def test_identical_arms_are_one(root):
    X, n, y = (
        torch.full((6, 2), 0.4, dtype=torch.float64),
        vector(1, 2, 0, 1, 0, 3),
        vector(1, 1, 0, 2, 0, 3),
    )
    found = nystrom_posterior(X, RBF(3.0), n > 0, n, y, 0.5, root=root)
    close(found.mu, [[7 / 7.5] * 6], 1e-7)
    close(found.s2, [[1 / 7.5] * 6], 1e-7)
    close(found.log_det, [math.log(15)], 1e-7)
    if root == "eigh":
        # The embedding has rank 1.
        C = factor(X[None], RBF(3.0), n[None], n[None], y[None], 0.5)
        assert bool((C.diagonal(dim1=1, dim2=2)[:, :-1] == math.sqrt(0.5)).all())


# ---- accuracy of the root ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "jitter, mean, variance",
    [
        (1e-12, 8e-7, 5e-8),
        (1e-10, 6e-6, 3e-7),
        (1e-8, 2e-4, 8e-6),
        (None, 4e-6, 4e-8),
        (0.0, None, None),
    ],
    ids=lambda x: f"{x}",
)
def test_accuracy_of_the_roots(monkeypatch, jitter, mean, variance):
    """With gamma = 100, lambda = 0.01 and 215 evaluations, the errors have the expected orders of magnitude.

    A processor without AVX-512 sums in another order. It has sixty times the error of the mean at 1e-12, and otherwise the
    same errors.
    """
    rng = np.random.default_rng(0)
    grid, index = np.linspace(0, 1, 1001), rng.integers(501, size=215)
    n = np.bincount(index, minlength=1001)
    X, n = torch.tensor(grid)[None, :, None], torch.tensor(n)[None].double()
    f = torch.tensor(np.sin(14 * grid) + np.cos(31 * grid))
    ysum = n * f + 0.1 * n.sqrt() * torch.tensor(rng.normal(size=1001))
    if jitter is not None:
        monkeypatch.setattr(posterior, "JITTERS", (jitter,))
    evaluate = lambda: nystrom_posterior(
        X, RBF(100.0), n > 0, n, ysum, 0.01, root="eigh" if jitter is None else "cholesky"
    )
    if mean is None:
        with pytest.raises(
            RuntimeError, match="K_SS of trial 0 has no Cholesky factor with a jitter of up to 0"
        ):
            evaluate()
        return
    found, exact = evaluate(), exact_posterior(RBF(100.0), X, n, ysum, 0.01, X)
    error = (
        float((found.mu - exact.mean).abs().max()),
        float((found.s2 * 0.01 / exact.variance - 1).abs().max()),
    )
    assert mean / 30 < error[0] < 100 * mean and variance / 30 < error[1] < 30 * variance


@pytest.mark.parametrize("first, used", [(0.0, 1e-8), (1e-12, 1e-12)])
def test_the_first_jitter_that_factors_is_used_by_trial(monkeypatch, first, used):
    """Duplicated arms do not factor without jitter; the other trial, which does, keeps the factor of its first jitter."""
    X = torch.tensor([[0.1], [0.1], [0.8]], dtype=torch.float64)
    mask = torch.tensor([[True, True, True], [True, False, True]])
    monkeypatch.setattr(posterior, "JITTERS", (first, 1e-8))
    one = torch.ones(1, dtype=torch.float64)
    slots = Slots(torch.arange(3).expand(2, -1), mask, torch.zeros(2, dtype=torch.bool))
    K = RBF(1.0)(X, X).expand(2, -1, -1)
    B, failed = inverse_square_root(K, slots, one, False, None)
    assert not failed.any() and not B[1, 1].any()
    inverse = B[:, [0, 2]][:, :, [0, 2]]  # of the two arms that both trials hold
    added = 1 / inverse[:, 0, 0].square() - 1
    close(added, (used, first), 1e-15)
    alone = [inverse_square_root_of_one(K[0, x][:, x].numpy(), 1.0, False, None) for x in mask]
    assert not any(failed for _, failed in alone)
    close([1 / inverse[0, 0] ** 2 - 1 for inverse, _ in alone], (used, first), 1e-15)


@pytest.mark.parametrize(
    "kernel, ridge, eigh",
    [
        (RBF(1.0), 1e-2, False),
        (RBF(1.0), 1e-8, True),
        (Linear(), 1.0, True),
        (Matern(0.5), 1.1e-6, False),
    ],
)
def test_which_root_is_taken(kernel, ridge, eigh):
    one = torch.ones(1, dtype=torch.float64)
    assert needs_eigenvalues("auto", kernel, 2, one, ridge) == eigh
    assert needs_eigenvalues("eigh", kernel, 2, one, ridge) and not needs_eigenvalues(
        "cholesky", kernel, 2, one, ridge
    )


# ---- invalid input -----------------------------------------------------------------------------------------

X, MASK, N, Y = PAIR, members(0, of=2), vector(1, 0), vector(2.0, 0)
NAN = vector(math.nan, 0)


def not_symmetric(X, Y):
    return Linear()(X, Y) + (X[..., :1] - Y[..., :1].mT).clamp(min=0)


@pytest.mark.parametrize(
    "name, change",
    [
        ("ridge", {"ridge": 0.0}),
        ("ridge", {"ridge": -1.0}),
        ("ridge", {"ridge": math.nan}),
        ("root", {"root": "svd"}),
        ("arms", {"arms": X * math.nan}),
        ("arms", {"arms": X[0]}),
        ("arms", {"arms": X[:0]}),
        ("at", {"at": X * math.inf}),
        ("mask", {"mask": members(0, of=3)}),
        ("mask", {"mask": vector(1, 0)}),
        ("n", {"n": N[:1]}),
        ("n", {"n": N.repeat(3, 1)}),
        ("n", {"n": NAN}),
        ("n", {"n": -N}),
        ("ysum", {"ysum": NAN}),
        ("ysum", {"ysum": Y.repeat(2, 1)}),
        ("kernel", {"kernel": FunctionKernel(not_symmetric)}),
        ("kernel", {"kernel": FunctionKernel(lambda X, Y: -Linear()(X, Y))}),
        ("mask", {"arms": X.repeat(3, 1, 1)}),
        (
            "mask",
            {
                "arms": X.repeat(3, 1, 1),
                "mask": MASK.repeat(2, 1),
                "n": N.repeat(2, 1),
                "ysum": Y.repeat(2, 1),
            },
        ),
        ("at", {"at": X.repeat(3, 1, 1)}),
        ("at", {"at": X[:, :1]}),
    ],
)
def test_invalid_input_is_rejected_by_name(name, change):
    given = {"arms": X, "kernel": Linear(), "mask": MASK, "n": N, "ysum": Y, "ridge": 1.0, **change}
    with pytest.raises(ValueError, match=name):
        nystrom_posterior(**given)


def test_float32_is_computed_in_float64():
    found = nystrom_posterior(X.float(), RBF(1.0), MASK, N, Y, 1.0)
    assert found.mu.dtype == found.s2.dtype == torch.float64


def repelling(X, Y):
    """Evaluate a symmetric function with ones on the diagonal and -0.9 elsewhere, which is no covariance of three points."""
    return torch.where((X.unsqueeze(-2) == Y.unsqueeze(-3)).all(-1), 1.0, -0.9).double()


def test_a_gram_matrix_that_does_not_factor(monkeypatch):
    monkeypatch.setattr(posterior, "check_kernel", lambda *_: None)  # it looks at 64 arms only
    arms, one = torch.arange(3.0, dtype=torch.float64)[:, None], vector(1, 1, 1)
    with pytest.raises(
        RuntimeError,
        match=r"K_SS of trial 1 has .* jitter of up to 1e-08 .* 3 arms and condition number \d",
    ):
        nystrom_posterior(
            arms,
            FunctionKernel(repelling),
            torch.stack([members(0, of=3), one > 0]),
            torch.stack([one, one]),
            torch.stack([one, one]),
            0.1,
            root="cholesky",
        )
