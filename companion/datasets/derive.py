"""Steps from what an address serves to the file of the registry, byte for byte; the checksum decides whether they did."""

import csv
import io
import re
import tarfile
from collections.abc import Callable
from typing import BinaryIO

# one file a ticker, in capital letters; all_s_and_p_data.csv and individual_stocks_5yr/ beside them are other collections
TICKER = re.compile(r"(?:^|/)stock_data/([A-Z]+)_data\.csv$")


def _price(text: str) -> str:
    return "" if text in ("", "null") else repr(round(float(text), 4))


def adjusted_closes(archive: BinaryIO) -> bytes:
    """One table of the Adj Close columns: a row a date, a column a ticker, prices to four decimals.

    Args:
        archive: a tar, plain or compressed, that holds stock_data/<TICKER>_data.csv in any folder.

    Raises:
        ValueError: no such file in it.
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
        raise ValueError("no stock_data/<TICKER>_data.csv in the archive")
    tickers = sorted(closes)
    rows = [["date", *tickers]]
    for date in sorted({date for column in closes.values() for date in column}):
        rows.append([date, *(closes[ticker].get(date, "") for ticker in tickers)])
    return "".join(",".join(row) + "\n" for row in rows).encode()


def final_newline(file: BinaryIO) -> bytes:
    """The content with the newline that ends its last line, which some copies lack."""
    return file.read().rstrip(b"\n") + b"\n"


STEPS: dict[str, Callable[[BinaryIO], bytes]] = {
    step.__name__: step for step in (adjusted_closes, final_newline)
}
