"""Conversion of downloads to the registry's files, and of these files to NumPy arrays; without network or checksums.

``STEPS`` derive some files from the download; the registry's checksum decides whether the result is right byte for byte.
``parse`` has one parser per format. Rows keep the order of the file. Missing values are NaN in a numeric column and stay
"?" in a text column; zeros that represent missing values (pima) are left as they are.
"""

import csv
import io
import re
import tarfile
from collections.abc import Callable, Iterable
from functools import partial
from typing import BinaryIO, NamedTuple

import numpy as np


class Table(NamedTuple):
    """N examples with d features and one target."""

    features: np.ndarray  # N x d, float64; int16 for covertype; text for breast_cancer_ljubljana
    target: np.ndarray  # N, int64 classes, or float64 for abalone and california_housing
    names: tuple[str, ...]  # d names of the features


class Prices(NamedTuple):
    """Closing prices; rows are dates and columns are tickers."""

    dates: np.ndarray  # T, datetime64[D], ascending
    tickers: np.ndarray  # K, text, in the file's order
    # T x K, float64, US dollars; NaN where a stock was not listed or a day is missing.
    close: np.ndarray


# Names of the features by data set, in the order of the file.
FEATURES = {
    "covertype": (
        "Elevation Aspect Slope HorizontalDistanceToHydrology VerticalDistanceToHydrology "
        "HorizontalDistanceToRoadways Hillshade9am HillshadeNoon Hillshade3pm "
        "HorizontalDistanceToFirePoints"
    ).split()
    + [f"WildernessArea{i}" for i in range(1, 5)]
    + [f"SoilType{i}" for i in range(1, 41)],
    "australian": [f"A{i}" for i in range(1, 15)],
    "pima": (
        "Pregnancies Glucose BloodPressure SkinThickness Insulin BMI DiabetesPedigreeFunction Age"
    ).split(),
    "breast_cancer": (
        "ClumpThickness UniformityOfCellSize UniformityOfCellShape MarginalAdhesion "
        "SingleEpithelialCellSize BareNuclei BlandChromatin NormalNucleoli Mitoses"
    ).split(),
    "wdbc": [
        f"{kind}_{name}"
        for kind in ("mean", "error", "worst")
        for name in (
            "radius texture perimeter area smoothness compactness concavity concave_points "
            "symmetry fractal_dimension"
        ).split()
    ],
    "breast_cancer_ljubljana": (
        "age menopause tumor-size inv-nodes node-caps deg-malig breast breast-quad irradiat"
    ).split(),
    "abalone": (
        "Male Female Infant Length Diameter Height WholeWeight ShuckedWeight VisceraWeight ShellWeight"
    ).split(),
    "california_housing": (
        "longitude latitude housingMedianAge totalRooms totalBedrooms population households medianIncome"
    ).split(),
}


# ---- From downloads to files -------------------------------------------------------------------------------

# One file per ticker, in capital letters. The archive also contains all_s_and_p_data.csv and
# individual_stocks_5yr/, which are other collections.
TICKER = re.compile(r"(?:^|/)stock_data/([A-Z]+)_data\.csv$")


def _price(text: str) -> str:
    return "" if text in ("", "null") else repr(round(float(text), 4))


def adjusted_closes(archive: BinaryIO) -> bytes:
    """Return one table of the Adj Close columns: a row per date, a column per ticker, prices to four decimals.

    Args:
        archive: a tar, plain or compressed, that contains stock_data/<TICKER>_data.csv in any folder.

    Raises:
        ValueError: the archive contains no such file.
    """
    closes: dict[str, dict[str, str]] = {}  # ticker -> date -> cell
    with tarfile.open(fileobj=archive, mode="r:*") as tar:
        for member in tar:
            if member.isfile() and (name := TICKER.search(member.name)):
                lines = io.TextIOWrapper(tar.extractfile(member), "utf-8", newline="")
                closes[name[1]] = {
                    row["Date"]: _price(row["Adj Close"]) for row in csv.DictReader(lines)
                }
    if not closes:
        raise ValueError("the archive must contain files stock_data/<TICKER>_data.csv, got none")
    tickers = sorted(closes)
    rows = [["date", *tickers]]
    # A ticker without a price on a date has an empty cell.
    for date in sorted({date for column in closes.values() for date in column}):
        rows.append([date, *(closes[ticker].get(date, "") for ticker in tickers)])
    return "".join(",".join(row) + "\n" for row in rows).encode()


def final_newline(file: BinaryIO) -> bytes:
    """Return the content with a newline at the end of its last line, which some copies lack."""
    return file.read().rstrip(b"\n") + b"\n"


STEPS = {"adjusted_closes": adjusted_closes, "final_newline": final_newline}


# ---- From files to arrays ----------------------------------------------------------------------------------


def _check_shape(found: tuple[int, int], shape: tuple[int, int]) -> None:
    if found != shape:
        raise ValueError(
            f"table must have {shape[0]} rows and {shape[1]} columns, got {found[0]} rows and {found[1]} columns"
        )


def _cells(
    file: BinaryIO, shape: tuple[int, int], dtype: type, delimiter: str | None = ","
) -> np.ndarray:
    cells = np.loadtxt(file, dtype=dtype, delimiter=delimiter, ndmin=2)
    _check_shape(cells.shape, shape)
    return cells


def _rows(file: BinaryIO, shape: tuple[int, int]) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of a file whose cells may be empty."""
    header, *rows = csv.reader(io.TextIOWrapper(file, encoding="utf-8", newline=""))
    _check_shape((len(rows), len(header)), shape)
    return header, rows


def _float(cells: Iterable[str]) -> np.ndarray:
    return np.array(
        [[float(cell) if cell not in ("", "?") else np.nan for cell in row] for row in cells]
    )


def _numeric(
    file: BinaryIO,
    shape: tuple[int, int],
    name: str,
    dtype: type = np.float64,
    target: type = np.int64,
    delimiter: str | None = ",",
) -> Table:
    """Read numbers, with the target in the last column."""
    cells = _cells(file, shape, dtype, delimiter)
    return Table(cells[:, :-1], cells[:, -1].astype(target), tuple(FEATURES[name]))


def _two_classes(
    file: BinaryIO,
    shape: tuple[int, int],
    name: str,
    features: slice,
    column: int,
    positive: str,
    convert: Callable[[np.ndarray], np.ndarray] = _float,
) -> Table:
    """Read the columns ``features``; the target is 1 if ``column`` has the class ``positive``."""
    cells = _cells(file, shape, str)
    target = (cells[:, column] == positive).astype(np.int64)
    return Table(convert(cells[:, features]), target, tuple(FEATURES[name]))


def _abalone(file: BinaryIO, shape: tuple[int, int], name: str) -> Table:
    """Read sex one-hot in the first three columns (male, female, infant); the target is the number of rings."""
    cells = _cells(file, shape, str)
    sex = (cells[:, :1] == np.array(["M", "F", "I"])).astype(np.float64)
    features = np.hstack((sex, _float(cells[:, 1:-1])))
    return Table(features, cells[:, -1].astype(np.float64), tuple(FEATURES[name]))


def _stocks(file: BinaryIO, shape: tuple[int, int], name: str) -> Prices:
    """Read the close of every (date, ticker) from the long format date,open,high,low,close,volume,Name."""
    _, rows = _rows(file, shape)
    dates, day = np.unique([row[0] for row in rows], return_inverse=True)
    tickers = {ticker: k for k, ticker in enumerate(dict.fromkeys(row[6] for row in rows))}
    close = np.full((len(dates), len(tickers)), np.nan)
    close[day, [tickers[row[6]] for row in rows]] = [float(row[4]) for row in rows]
    return Prices(dates.astype("datetime64[D]"), np.array(list(tickers)), close)


def _stocks_adjusted(file: BinaryIO, shape: tuple[int, int], name: str) -> Prices:
    """Read adjusted closes, whose rows already are dates and whose columns are tickers."""
    header, rows = _rows(file, shape)
    dates = np.array([row[0] for row in rows], "datetime64[D]")
    return Prices(dates, np.array(header[1:]), _float(row[1:] for row in rows))


PARSERS = {
    "covertype": partial(_numeric, dtype=np.int16),
    "stocks": _stocks,
    "stocks_adjusted": _stocks_adjusted,
    "australian": partial(_numeric, delimiter=None),
    "pima": _numeric,
    # Column 0 is an identifier; class 4 is malignant, class 2 benign.
    "breast_cancer": partial(_two_classes, features=slice(1, -1), column=-1, positive="4"),
    # Column 0 is an identifier; M is malignant and becomes 1, whereas scikit-learn's copy has 0 for
    # it.
    "wdbc": partial(_two_classes, features=slice(2, None), column=1, positive="M"),
    "abalone": _abalone,
    # All features are categories, and stay text.
    "breast_cancer_ljubljana": partial(
        _two_classes,
        features=slice(1, None),
        column=0,
        positive="recurrence-events",
        convert=np.asarray,
    ),
    # Raw columns; the target is the median house value in US dollars, capped at 500,001.
    "california_housing": partial(_numeric, target=np.float64),
}


def parse(name: str, file: BinaryIO, shape: tuple[int, int]) -> Table | Prices:
    """Read one data set.

    Args:
        name: a key of the registry.
        file: binary stream of the plain content.
        shape: rows and columns that the file must have, without a header line.

    Returns:
        ``Prices`` for stocks and stocks_adjusted, otherwise ``Table``. Classes are 0 and 1, where 1 is malignant, recurrent,
        diabetic or approved; covertype's are 1..7.

    Raises:
        ValueError: other rows or columns, or a cell that is not a number in a numeric column.
    """
    return PARSERS[name](file, shape, name)
