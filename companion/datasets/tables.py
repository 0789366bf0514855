"""From the files of the registry to numpy arrays: one parser a format, no network, no checksum.

Rows keep the order of the file. Missing values are NaN where a column is numeric and stay "?" where it is
text; zeros that stand for missing values (pima) are left as they are.
"""

import csv
import io
from collections.abc import Iterable
from typing import BinaryIO, NamedTuple

import numpy as np


class Table(NamedTuple):
    """N examples with d features and one target."""

    features: np.ndarray  # N x d, float64; int16 for covertype; text for breast_cancer_ljubljana
    target: np.ndarray  # N, int64 classes, or float64 for abalone and california_housing
    names: tuple[str, ...]  # d names of the features


class Prices(NamedTuple):
    """Closing prices, dates down and tickers across."""

    dates: np.ndarray  # T, datetime64[D], ascending
    tickers: np.ndarray  # K, text, in the file's order
    # T x K, float64, US dollars; NaN where a stock was not listed or a day is lacking
    close: np.ndarray


PIMA = "Pregnancies Glucose BloodPressure SkinThickness Insulin BMI DiabetesPedigreeFunction Age".split()
CELLS = (
    "ClumpThickness UniformityOfCellSize UniformityOfCellShape MarginalAdhesion SingleEpithelialCellSize "
    "BareNuclei BlandChromatin NormalNucleoli Mitoses"
).split()
NUCLEI = "radius texture perimeter area smoothness compactness concavity concave_points symmetry fractal_dimension".split()
RECURRENCE = (
    "age menopause tumor-size inv-nodes node-caps deg-malig breast breast-quad irradiat".split()
)
ABALONE = "Length Diameter Height WholeWeight ShuckedWeight VisceraWeight ShellWeight".split()
HOUSING = "longitude latitude housingMedianAge totalRooms totalBedrooms population households medianIncome".split()
TERRAIN = (
    "Elevation Aspect Slope HorizontalDistanceToHydrology VerticalDistanceToHydrology "
    "HorizontalDistanceToRoadways Hillshade9am HillshadeNoon Hillshade3pm HorizontalDistanceToFirePoints"
).split()
COVER = (
    TERRAIN + [f"WildernessArea{i}" for i in range(1, 5)] + [f"SoilType{i}" for i in range(1, 41)]
)
SEXES = ("M", "F", "I")


def _shaped(array: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    if array.shape != shape:
        raise ValueError(
            f"table: {array.shape[0]} rows x {array.shape[-1]} columns; expected {shape[0]} x {shape[1]}"
        )
    return array


def _numbers(
    file: BinaryIO, shape: tuple[int, int], dtype=np.float64, delimiter: str | None = ","
) -> np.ndarray:
    return _shaped(np.loadtxt(file, dtype=dtype, delimiter=delimiter, ndmin=2), shape)


def _text(file: BinaryIO, shape: tuple[int, int]) -> np.ndarray:
    return _shaped(np.loadtxt(file, dtype=str, delimiter=",", ndmin=2), shape)


def _float(cells: Iterable[str]) -> np.ndarray:
    return np.array(
        [[float(cell) if cell not in ("", "?") else np.nan for cell in row] for row in cells]
    )


def _covertype(file: BinaryIO, shape: tuple[int, int]) -> Table:
    cells = _numbers(file, shape, np.int16)
    return Table(cells[:, :-1], cells[:, -1].astype(np.int64), tuple(COVER))


def _australian(file: BinaryIO, shape: tuple[int, int]) -> Table:
    cells = _numbers(file, shape, delimiter=None)
    return Table(cells[:, :-1], cells[:, -1].astype(np.int64), tuple(f"A{i}" for i in range(1, 15)))


def _pima(file: BinaryIO, shape: tuple[int, int]) -> Table:
    cells = _numbers(file, shape)
    return Table(cells[:, :-1], cells[:, -1].astype(np.int64), tuple(PIMA))


def _breast_cancer(file: BinaryIO, shape: tuple[int, int]) -> Table:
    """Column 0 is an identifier; class 4, malignant, becomes 1, and class 2, benign, 0."""
    cells = _text(file, shape)
    return Table(_float(cells[:, 1:-1]), (cells[:, -1] == "4").astype(np.int64), tuple(CELLS))


def _wdbc(file: BinaryIO, shape: tuple[int, int]) -> Table:
    """Column 0 is an identifier; M, malignant, becomes 1 (scikit-learn's copy codes it 0)."""
    cells = _text(file, shape)
    names = tuple(f"{kind}_{name}" for kind in ("mean", "error", "worst") for name in NUCLEI)
    return Table(_float(cells[:, 2:]), (cells[:, 1] == "M").astype(np.int64), names)


def _breast_cancer_ljubljana(file: BinaryIO, shape: tuple[int, int]) -> Table:
    """All features are categories and stay text; recurrence-events becomes 1."""
    cells = _text(file, shape)
    return Table(
        cells[:, 1:], (cells[:, 0] == "recurrence-events").astype(np.int64), tuple(RECURRENCE)
    )


def _abalone(file: BinaryIO, shape: tuple[int, int]) -> Table:
    """Sex one-hot in the first three columns (male, female, infant); the target is the number of rings."""
    cells = _text(file, shape)
    sex = (cells[:, :1] == np.array(SEXES)).astype(np.float64)
    features = np.hstack((sex, _float(cells[:, 1:-1])))
    return Table(features, cells[:, -1].astype(np.float64), ("Male", "Female", "Infant", *ABALONE))


def _california_housing(file: BinaryIO, shape: tuple[int, int]) -> Table:
    """Raw columns; the target is the median house value in US dollars, capped at 500,001."""
    cells = _numbers(file, shape)
    return Table(cells[:, :-1], cells[:, -1], tuple(HOUSING))


def _stocks(file: BinaryIO, shape: tuple[int, int]) -> Prices:
    """Close of every (date, ticker), from the long format date,open,high,low,close,volume,Name."""
    header, *rows = csv.reader(io.TextIOWrapper(file, encoding="utf-8", newline=""))
    _shaped(np.empty((len(rows), len(header))), shape)
    dates, day = np.unique([row[0] for row in rows], return_inverse=True)
    tickers = {ticker: k for k, ticker in enumerate(dict.fromkeys(row[6] for row in rows))}
    close = np.full((len(dates), len(tickers)), np.nan)
    close[day, [tickers[row[6]] for row in rows]] = [float(row[4]) for row in rows]
    return Prices(dates.astype("datetime64[D]"), np.array(list(tickers)), close)


def _stocks_adjusted(file: BinaryIO, shape: tuple[int, int]) -> Prices:
    """Adjusted close, already dates down and tickers across."""
    header, *rows = csv.reader(io.TextIOWrapper(file, encoding="utf-8", newline=""))
    _shaped(np.empty((len(rows), len(header))), shape)
    dates = np.array([row[0] for row in rows], "datetime64[D]")
    return Prices(dates, np.array(header[1:]), _float(row[1:] for row in rows))


PARSERS = {
    "covertype": _covertype,
    "stocks": _stocks,
    "stocks_adjusted": _stocks_adjusted,
    "australian": _australian,
    "pima": _pima,
    "breast_cancer": _breast_cancer,
    "wdbc": _wdbc,
    "abalone": _abalone,
    "breast_cancer_ljubljana": _breast_cancer_ljubljana,
    "california_housing": _california_housing,
}


def parse(name: str, file: BinaryIO, shape: tuple[int, int]) -> Table | Prices:
    """Read one data set.

    Args:
        name: a key of the registry.
        file: binary stream of the plain content.
        shape: rows and columns the file must have, a header line not counted.

    Returns:
        ``Prices`` for stocks and stocks_adjusted, else ``Table``. Classes are 0 and 1, 1 being malignant,
        recurrent, diabetic or approved; covertype's are 1..7.

    Raises:
        ValueError: other rows or columns, or a cell that is no number where one belongs.
    """
    return PARSERS[name](file, shape)
