"""Sixty arms from Covertype: the derived table that ships with the project, and its derivation.

Zhang, Xu, Zhao & Sugiyama (2025), Figure 4, turn UCI's Covertype into a bandit. The rows are clustered, a cluster's
center is an arm, and its mean reward is the fraction of lodgepole pine (class 2) in it. Only integers are stored, counts
and sums over the members of each cluster. Therefore the arms agree to the last bit on all machines. The 75 MB of rows are
needed only by ``build_table``.

Letters: N rows, K clusters, n_k members of cluster k, j one of the 10 quantitative columns.
"""

import hashlib
import io
import json
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from paperlib.core.files import CHECKOUT, write_atomically

FOLDER = CHECKOUT / "data"
TABLE, NOTE = FOLDER / "covtype_arms.csv", FOLDER / "covtype_arms.json"
QUANTITATIVE, CLASSES, REWARDED = 10, 7, 2
HEADER = (
    "arm",
    "n",
    *(f"class{c}" for c in range(1, CLASSES + 1)),
    *(f"sum{j}" for j in range(1, QUANTITATIVE + 1)),
)


class ClusterTable(NamedTuple):
    """Integer statistics of K clusters of N rows, int64 throughout."""

    counts: np.ndarray  # K, members n_k of each cluster; their sum is N
    classes: np.ndarray  # K x 7, members by cover type 1..7
    sums: np.ndarray  # K x 10, sums of the unscaled quantitative columns over the members
    squares: np.ndarray  # 10, sums of squares S2_j over all rows; S1_j is the column sum of `sums`


class CovertypeArms(NamedTuple):
    """Arms and mean rewards of the Covertype bandit."""

    arms: np.ndarray  # K x 11, float64, standardized centers and the constant, largest norm 1
    mean: np.ndarray  # K, float64, fraction of class 2, the mean reward of a pull
    counts: np.ndarray  # K, int64, rows in each cluster
    scale: float  # largest norm before scaling; arms * scale are the standardized centers


def standardize(features: np.ndarray) -> np.ndarray:
    """Standardize the quantitative columns to mean 0 and population deviation 1, and append the constant 1.

    Args:
        features: N x at least 10, any number type; columns after the tenth are ignored.

    Returns:
        N x 11, float64: in single precision the clusters would depend on the number of threads.

    Raises:
        ValueError: a column is constant.
    """
    columns = np.asarray(features)[:, :QUANTITATIVE].astype(np.float64)
    deviation = columns.std(axis=0)
    if not (deviation > 0).all():
        raise ValueError(
            f"features must have columns that are not constant, got the constant column {int(deviation.argmin())}"
        )
    return np.column_stack(((columns - columns.mean(axis=0)) / deviation, np.ones(len(columns))))


def build_table(
    features: np.ndarray, cover: np.ndarray, clusters: int = 60, seed: int = 7
) -> ClusterTable:
    """Cluster the rows and count; only this step needs the data set and scikit-learn.

    Departure: the paper names neither the seed nor the number of restarts. Of seeds 0 to 25 only 7 gives the range of mean
    rewards that it reports, 0.103 to 0.881. This is a match, but does not prove that the authors used this seed.
    Departure: an arm is the mean of the cluster's members. It differs by at most 2.6e-3 from the center where K-means
    stops, and is a ratio of integers.

    Args:
        features: N x at least 10 integers, quantitative columns first (``datasets.load_covertype``).
        cover: N integers, cover type 1..7.
        clusters: K, number of arms.
        seed: of the K-means start.

    Returns:
        The table, with the clusters in the order of their numbers from K-means. All rows take 12 to 40 s on one core, and 360 MB.

    Raises:
        ValueError: shapes disagree, or a class is not in 1..7.
    """
    from sklearn.cluster import KMeans

    features, cover = np.asarray(features), np.asarray(cover)
    if features.ndim != 2 or features.shape[1] < QUANTITATIVE or cover.shape != features.shape[:1]:
        raise ValueError(
            f"features and cover must have the shapes N x d with d at least {QUANTITATIVE}, and N, got {features.shape} and {cover.shape}"
        )
    if not np.isin(cover, range(1, CLASSES + 1)).all():
        raise ValueError(
            f"cover must contain cover types from 1 to {CLASSES}, got values from {cover.min()} to {cover.max()}"
        )
    # One start of K-means, so that the clusters depend only on the seed and the version of
    # scikit-learn.
    labels = KMeans(clusters, n_init=1, random_state=seed).fit(standardize(features)).labels_
    columns = features[:, :QUANTITATIVE].astype(np.int64)
    # The float64 sums of bincount are exact here, because they are integers far below 2^53.
    sums = [np.bincount(labels, column, clusters) for column in columns.T]
    classes = [np.bincount(labels, cover == c, clusters) for c in range(1, CLASSES + 1)]
    return ClusterTable(
        np.bincount(labels, minlength=clusters),
        np.stack(classes, 1).astype(np.int64),
        np.stack(sums, 1).astype(np.int64),
        (columns**2).sum(axis=0),
    )


def write_table(table: ClusterTable, about: dict, folder: Path = FOLDER) -> None:
    """Write covtype_arms.csv, and covtype_arms.json next to it with `about`, N, S1 and S2."""
    rows = np.column_stack((np.arange(len(table.counts)), table.counts, table.classes, table.sums))
    text = io.StringIO()
    np.savetxt(text, rows, "%d", ",", header=",".join(HEADER), comments="")
    sums = {"S1": table.sums.sum(axis=0).tolist(), "S2": table.squares.tolist()}
    note = json.dumps(about | {"rows": int(table.counts.sum())} | sums, indent=1) + "\n"
    for path, content in ((TABLE, text.getvalue()), (NOTE, note)):
        write_atomically(folder / path.name, lambda file: file.write(content.encode()))


def read_table(folder: Path = FOLDER) -> tuple[ClusterTable, dict]:
    """Return the shipped table and its note.

    Raises:
        ValueError: the two files do not match, because one was edited or only half written.
    """
    path = folder / TABLE.name
    header, *rows = path.read_text(encoding="utf-8").splitlines()
    if header != ",".join(HEADER):
        raise ValueError(f"{path.name} must have the header {','.join(HEADER)}, got {header}")
    note = json.loads((folder / NOTE.name).read_text(encoding="utf-8"))
    values = np.loadtxt(rows, np.int64, delimiter=",")
    parts = np.split(values[:, 1:], [1, 1 + CLASSES], axis=1)
    table = ClusterTable(parts[0][:, 0], *parts[1:], np.array(note["S2"]))
    for name, found, expected in (
        ("arm", values[:, 0].tolist(), list(range(len(values)))),
        ("sum of n", int(table.counts.sum()), note["rows"]),
        ("classes of an arm", table.classes.sum(axis=1).tolist(), table.counts.tolist()),
        ("sums of a column", table.sums.sum(axis=0).tolist(), note["S1"]),
    ):
        if found != expected:
            raise ValueError(f"{path.name}: {name} must be {expected}, got {found}")
    return table, note


def differences(table: ClusterTable, other: ClusterTable) -> list[str]:
    """Return the names of the fields that differ between two tables; an empty list if they are equal."""
    return [
        name
        for name in table._fields
        if not np.array_equal(getattr(table, name), getattr(other, name))
    ]


def derive_arms(table: ClusterTable) -> CovertypeArms:
    """Return arms and mean rewards, with the same bits on every machine.

    Only correctly rounded operations are used: arm_kj = (sum_kj / n_k - mean_j) / sd_j with mean_j = S1_j / N and
    sd_j^2 = S2_j / N - mean_j^2. Both fractions are first brought to the denominator N, so that numerators are exact integers.
    """
    N = int(table.counts.sum())
    S1 = [int(s) for s in table.sums.sum(axis=0)]
    deviation = [math.sqrt(N * int(s2) - s1 * s1) for s1, s2 in zip(S1, table.squares)]  # N sd_j
    centers = [
        [(N * int(s) - int(n) * s1) / int(n) / d for s, s1, d in zip(row, S1, deviation)] + [1.0]
        for n, row in zip(table.counts, table.sums)
    ]
    # Departure: the paper does not state how its centers satisfy Assumption 1, ||x|| <= 1; here one
    # common factor scales them.
    scale = max(math.sqrt(math.fsum(x * x for x in center)) for center in centers)
    mean = table.classes[:, REWARDED - 1] / table.counts
    return CovertypeArms(np.array(centers) / scale, mean, table.counts, scale)


def table_checksum() -> str:
    """Return the SHA-256 of the shipped table."""
    return hashlib.sha256(TABLE.read_bytes()).hexdigest()


def covertype_arms() -> CovertypeArms:
    """Return the sixty arms of Zhang, Xu, Zhao & Sugiyama (2025), Figure 4, from the shipped table, without a download.

    Returns:
        K = 60 arms in d = 11 dimensions with ||x|| <= 1; see ``CovertypeArms``.

    Examples:
        >>> from companion.datasets import covertype_arms
        >>> found = covertype_arms()
        >>> found.arms.shape
        (60, 11)
        >>> round(float(found.mean.min()), 3), round(float(found.mean.max()), 3)
        (0.103, 0.881)
    """
    return derive_arms(read_table()[0])
