"""Data sets: order of folders, checksums, downloads from a local server, tables, and the sixty arms of Covertype."""

import errno
import gzip
import hashlib
import io
import math
import os
import tarfile
import threading
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from companion.datasets import covertype
from companion.datasets import registry as datasets
from companion.datasets.registry import Dataset
from companion.datasets.tables import STEPS

CONTENT = b"".join(b"%d,%d,%d\n" % (i, i * i, i % 2) for i in range(2000))
SHA = hashlib.sha256(CONTENT).hexdigest()
REAL = {
    name
    for name, entry in datasets.REGISTRY.items()
    for folder in [os.environ.get("PAPERLIB_DATA", "")]
    if folder and any(os.path.exists(os.path.join(folder, entry.file + end)) for end in ("", ".gz"))
}


def at_hand(*names):
    """Return one case for each of the named files in PAPERLIB_DATA; without any file the test is removed."""
    found = sorted(REAL.intersection(names))
    return pytest.mark.parametrize("name", found) if found else lambda test: None


class Server:
    """Serve a list of responses per path, the last one forever: (status, body, announced length)."""

    def __init__(self):
        answers, asked = {}, []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                queue = answers[self.path]
                status, body, length = queue.pop(0) if len(queue) > 1 else queue[0]
                self.send_response(status)
                self.send_header("Content-Length", str(length))
                self.end_headers()
                with suppress(ConnectionError):  # the client may close the connection early
                    self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.answers, self.asked = answers, asked
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, path, *bodies):
        self.answers[path] = [
            body if isinstance(body, tuple) else (200, body, len(body)) for body in bodies
        ]
        return f"http://127.0.0.1:{self.server.server_port}{path}"


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    served = Server()
    yield served
    served.server.shutdown()
    served.server.server_close()


@pytest.fixture
def places(monkeypatch, tmp_path):
    """Create an empty folder of the user and an empty cache."""
    own, cache = tmp_path / "own", tmp_path / "cache"
    own.mkdir()
    monkeypatch.setenv("PAPERLIB_DATA", str(own))
    monkeypatch.setattr(datasets, "cache_folder", lambda: cache)
    return own, cache


def register(monkeypatch, *urls, **more):
    entry = Dataset(
        "toy.data",
        SHA,
        len(CONTENT),
        2000,
        3,
        "ask the toy maker",
        "toys",
        "none",
        "Toy 1999",
        urls,
        **more,
    )
    monkeypatch.setitem(datasets.REGISTRY, "toy", entry)


def archive(member, content=CONTENT):
    """Return a compressed tar with one member, which is a folder if there is no content."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        info = tarfile.TarInfo(member)
        info.type = tarfile.REGTYPE if content is not None else tarfile.DIRTYPE
        info.size = len(content or b"")
        tar.addfile(info, io.BytesIO(content or b""))
    return buffer.getvalue()


# Folders and checksums.


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("place", [0, 1])
def test_plain_or_gzipped_in_either_folder(monkeypatch, places, place, compressed):
    register(monkeypatch)
    assert not datasets.available("toy")
    places[1].mkdir()
    path = places[place] / ("toy.data.gz" if compressed else "toy.data")
    path.write_bytes(gzip.compress(CONTENT) if compressed else CONTENT)
    assert datasets.available("toy") and datasets.fetch("toy") == path


def test_own_folder_comes_first(monkeypatch, places, server):
    register(monkeypatch, server.url("/toy", CONTENT))
    places[1].mkdir()
    for folder in places:
        (folder / "toy.data").write_bytes(CONTENT)
    assert datasets.fetch("toy").parent == places[0] and not server.asked


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("damaged", [CONTENT[:-1], gzip.compress(CONTENT)[:-20], b""])
def test_a_file_with_other_content_is_rejected_by_name_and_not_deleted(
    monkeypatch, places, server, place, damaged
):
    register(monkeypatch, server.url("/toy", CONTENT))
    places[1].mkdir()
    path = places[place] / "toy.data"
    path.write_bytes(damaged)
    with pytest.raises(ValueError, match="toy") as error:
        datasets.fetch("toy")
    actual = "damaged" if damaged[:2] == b"\x1f\x8b" else hashlib.sha256(damaged).hexdigest()
    assert all(part in str(error.value) for part in (str(path), SHA, actual))
    assert path.read_bytes() == damaged and not server.asked
    with pytest.raises(ValueError, match="toy"):
        datasets.available("toy")


def test_file_changed_after_its_check_is_noticed(monkeypatch, places):
    register(monkeypatch)
    path = places[0] / "toy.data"
    path.write_bytes(CONTENT)
    assert datasets.available("toy")
    path.write_bytes(CONTENT[:-2] + b"7\n")
    with pytest.raises(ValueError, match="toy.data"):
        datasets.find("toy")


def test_own_folder_must_exist(monkeypatch, places):
    monkeypatch.setenv("PAPERLIB_DATA", str(places[0] / "nowhere"))
    with pytest.raises(ValueError, match="PAPERLIB_DATA.*nowhere"):
        datasets.find("wdbc")


@pytest.mark.parametrize(
    "ask", [datasets.find, datasets.fetch, datasets.load, datasets.checksum, datasets.available]
)
def test_an_unknown_name_raises_an_error_with_all_names(ask):
    with pytest.raises(ValueError, match="^name must be one of .*covertype.*wdbc.*, got 'mnist'"):
        ask("mnist")


# Downloads.


@pytest.mark.parametrize("body", [CONTENT, gzip.compress(CONTENT)])
def test_download_lands_in_the_cache_once(monkeypatch, places, server, body):
    register(monkeypatch, server.url("/toy", body))
    assert not datasets.available("toy")
    path = datasets.fetch("toy")
    assert path == places[1] / "toy.data" and path.read_bytes() == CONTENT
    assert datasets.fetch("toy") == path and server.asked == ["/toy"]
    assert [p.name for p in places[1].iterdir()] == ["toy.data"]


def test_download_takes_the_member_of_an_archive(monkeypatch, places, server):
    register(monkeypatch, server.url("/toy.tgz", archive("Toys/toy.data")), member="Toys/toy.data")
    assert datasets.fetch("toy").read_bytes() == CONTENT


@pytest.mark.parametrize(
    "first",
    [
        (503, b"busy", 4),
        (200, CONTENT[:100], len(CONTENT)),
        (200, CONTENT[:100], 100),
        (200, gzip.compress(CONTENT)[:-30], len(gzip.compress(CONTENT)) - 30),
    ],
)
def test_failed_or_truncated_download_is_tried_again(monkeypatch, places, server, first):
    register(monkeypatch, server.url("/toy", first, CONTENT))
    assert datasets.fetch("toy").read_bytes() == CONTENT
    assert server.asked == ["/toy", "/toy"]


def test_second_address_serves_where_the_first_fails(monkeypatch, places, server):
    register(monkeypatch, server.url("/gone", (404, b"", 0)), server.url("/toy", CONTENT))
    assert datasets.fetch("toy").read_bytes() == CONTENT
    assert server.asked == ["/gone"] * 3 + ["/toy"]


@pytest.mark.parametrize(
    "body, member",
    [
        (b"<html>sign in</html>", ""),
        (archive("Toys/other"), "Toys/toy.data"),
        (b"no archive", "Toys/toy.data"),
    ],
)
def test_a_wrong_download_is_rejected_and_not_cached(monkeypatch, places, server, body, member):
    register(monkeypatch, server.url("/toy", body), member=member)
    places[1].mkdir()
    (places[1] / "other.data").write_bytes(b"kept")
    with pytest.raises(ValueError, match="toy") as error:
        datasets.fetch("toy")
    actual = "is damaged" if member else hashlib.sha256(body).hexdigest()
    assert all(part in str(error.value) for part in ("toy.data", SHA, actual, "/toy"))
    assert [p.name for p in places[1].iterdir()] == ["other.data"]


def test_offline_errors_explain_how_to_get_the_file(monkeypatch, places, server):
    port = server.server.server_port
    server.server.shutdown()
    server.server.server_close()
    register(monkeypatch, f"http://127.0.0.1:{port}/toy")
    with pytest.raises(FileNotFoundError) as error:
        datasets.fetch("toy")
    parts = (
        "toy.data",
        "ask the toy maker",
        "PAPERLIB_DATA",
        str(places[1]),
        SHA,
        f"127.0.0.1:{port}",
    )
    assert all(part in str(error.value) for part in parts)


def test_a_read_only_cache_is_not_reported_as_a_failed_download(
    monkeypatch, places, server, capsys
):
    register(monkeypatch, server.url("/toy", CONTENT))
    places[1].write_text("a file where the folder was to be")
    with pytest.raises(OSError, match=f"cannot be written.*{places[1]}") as error:
        datasets.fetch("toy")
    assert not isinstance(error.value, FileNotFoundError)
    for name in list(datasets.REGISTRY):
        if name not in ("covertype", "toy"):
            monkeypatch.delitem(datasets.REGISTRY, name)
    assert datasets.main([]) == 1  # also if no data set was requested by name
    assert (
        "not fetched: [Errno 17] the cache of data sets cannot be written"
        in capsys.readouterr().out
    )


def test_a_full_disk_is_not_reported_as_a_failed_download(monkeypatch, places, server):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    register(monkeypatch, server.url("/toy", CONTENT))
    monkeypatch.setattr(datasets, "_receive", full)
    with pytest.raises(OSError, match=f"No space left on device.*{places[1]}"):
        datasets.fetch("toy")
    assert [*places[1].iterdir()] == []


def test_without_an_address_no_host_is_contacted(monkeypatch, places):
    register(monkeypatch)
    with pytest.raises(FileNotFoundError) as error:
        datasets.fetch("toy")
    assert all(
        part in str(error.value)
        for part in ("no public address", "toy.data", "ask the toy maker", "PAPERLIB_DATA")
    )


def test_no_data_set_needs_manual_steps():
    assert all(entry.urls for entry in datasets.REGISTRY.values())


@pytest.mark.parametrize("body", [CONTENT * 50, gzip.compress(CONTENT * 50), b"0" * (1 << 22)])
def test_a_download_ends_at_the_size_of_the_registry(monkeypatch, places, server, body):
    """Neither the download nor its unpacked content may be longer; no part of it is stored."""
    register(monkeypatch, server.url("/toy", body))
    kept = []
    write = datasets._copy
    monkeypatch.setattr(datasets, "_copy", lambda *args: write(*args) or kept.append(args[-1]))
    with pytest.raises(ValueError, match="longer than its size in the registry"):
        datasets.fetch("toy")
    assert "the content" not in kept and not list(places[1].iterdir())


def test_a_member_that_is_too_long_is_refused(monkeypatch, places, server):
    register(
        monkeypatch,
        server.url("/toy.tgz", archive("Toys/toy.data", CONTENT * 2)),
        member="Toys/toy.data",
    )
    with pytest.raises(ValueError, match="Toys/toy.data is longer than its size in the registry"):
        datasets.fetch("toy")


def test_a_member_that_is_no_file_is_named(monkeypatch, places, server):
    register(
        monkeypatch, server.url("/toy.tgz", archive("Toys/toy.data/", None)), member="Toys/toy.data"
    )
    with pytest.raises(ValueError, match="the archive member Toys/toy.data must be a file"):
        datasets.fetch("toy")


# Files derived from a download.


def tickers(**files):
    """Return an archive in GitHub's layout, which also contains files that are not tickers."""
    buffer = io.BytesIO()
    others = {
        "stock_data/all_s_and_p_data.csv": "a,b\n1,2\n",
        "stock_data/individual_stocks_5yr/Z_data.csv": "x\n",
    }
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, text in (
            {f"stock_data/{k}_data.csv": v for k, v in files.items()} | others
        ).items():
            info = tarfile.TarInfo(f"kaggle-code-35f7/{name}")
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    return buffer.getvalue()


def test_adjusted_closes_are_one_table(monkeypatch, places, server):
    head = "Date,Open,Adj Close\n"
    body = tickers(
        B=head + "2013-01-03,9,1.00006\n2013-01-02,9,null\n",
        A=head + "2013-01-02,9,26.50\n2013-01-04,9,\n",
    )
    made = b"date,A,B\n2013-01-02,26.5,\n2013-01-03,,1.0001\n2013-01-04,,\n"
    entry = Dataset(
        "toy.csv", hashlib.sha256(made).hexdigest(), len(made), 3, 3, "ask", "toys", "none", "Toy",
        (server.url("/toys.tar.gz", body),), derive="adjusted_closes", download=1 << 20,
    )  # fmt: skip
    monkeypatch.setitem(datasets.REGISTRY, "toy", entry)
    assert datasets.fetch("toy").read_bytes() == made
    changed = tickers(A=head + "2013-01-02,9,26.51\n")
    server.answers["/toys.tar.gz"] = [(200, changed, len(changed))]
    (places[1] / "toy.csv").unlink()
    with pytest.raises(ValueError, match=entry.sha256):
        datasets.fetch("toy")


@pytest.mark.parametrize("files", [{}, {"A": "Date,Close\n2013-01-02,1\n"}])
def test_an_archive_with_other_content_is_rejected(monkeypatch, places, server, files):
    register(
        monkeypatch,
        server.url("/toy", tickers(**files)),
        derive="adjusted_closes",
        download=1 << 20,
    )
    with pytest.raises(ValueError, match="must contain files stock_data/.*, got none|Adj Close"):
        datasets.fetch("toy")
    assert not list(places[1].iterdir())


@pytest.mark.parametrize("body", [CONTENT, CONTENT[:-1]])
def test_a_missing_last_newline_is_added(monkeypatch, places, server, body):
    register(monkeypatch, server.url("/toy", body), derive="final_newline")
    assert datasets.fetch("toy").read_bytes() == CONTENT


def test_every_step_of_the_registry_exists():
    steps = {entry.derive for entry in datasets.REGISTRY.values() if entry.derive}
    assert steps == set(STEPS)
    assert all(not entry.derive or entry.urls for entry in datasets.REGISTRY.values())


# Command line.


def test_command_line_reports_each_name(monkeypatch, places, server, capsys):
    register(monkeypatch, server.url("/toy", CONTENT))
    assert datasets.main(["toy"]) == 0
    assert str(places[1] / "toy.data") in capsys.readouterr().out
    monkeypatch.setitem(datasets.REGISTRY, "pima", replace(datasets.REGISTRY["pima"], urls=()))
    assert datasets.main(["toy", "pima"]) == 1
    assert "missing: data set 'pima'" in capsys.readouterr().out
    (places[0] / "toy.data").write_bytes(b"other")
    assert datasets.main(["toy"]) == 1
    assert "refused" in capsys.readouterr().out


def test_command_line_without_names_contacts_a_dead_host_once(monkeypatch, places, server, capsys):
    port = server.server.server_port
    server.server.shutdown()
    server.server.server_close()
    for name in list(datasets.REGISTRY):
        if name not in ("covertype", "pima"):
            monkeypatch.delitem(datasets.REGISTRY, name)
    monkeypatch.setitem(datasets.REGISTRY, "pima", replace(datasets.REGISTRY["pima"], urls=()))
    for name in ("covertype", "toy"):
        register(monkeypatch, f"http://127.0.0.1:{port}/toy")
        monkeypatch.setitem(datasets.REGISTRY, name, datasets.REGISTRY["toy"])
    assert datasets.main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["covertype", "pima", "toy", "covertype_arms"]
    assert (
        "ask the toy maker" in lines[0]
        and "cannot be reached" in lines[2]
        and "not rebuilt" in lines[3]
    )
    assert datasets.main(["covertype_arms"]) == 1


# Contents.

# Name: shape of the features, sum of the target, a value by (row, column) of the features.
FACTS = {
    "covertype": (
        (581012, 54),
        211840 + 2 * 283301 + 3 * 35754 + 4 * 2747 + 5 * 9493 + 6 * 17367 + 7 * 20510,
        (0, 9, 6279),
    ),
    "australian": ((690, 14), 307, (0, 13, 1213)),
    "pima": ((768, 8), 268, (0, 6, 0.627)),
    "breast_cancer": ((699, 9), 241, (1, 2, 4)),
    "wdbc": ((569, 30), 212, (0, 3, 1001)),
    "breast_cancer_ljubljana": ((286, 9), 85, (0, 6, "left")),
    "abalone": ((4177, 10), 41493, (0, 3, 0.455)),
    "california_housing": ((20640, 8), 4269504061, (0, 1, 37.88)),
}


def test_registry_is_complete():
    assert set(datasets.REGISTRY) == {*FACTS, "stocks", "stocks_adjusted"}
    for name, entry in datasets.REGISTRY.items():
        assert len(entry.sha256) == 64 == len(datasets.checksum(name)) and int(entry.sha256, 16)
        assert entry.get and entry.source and entry.license and entry.cite
        assert all(url.startswith("https://") for url in entry.urls)
        assert f"| `{name}` | `{entry.file}` | " in (datasets.FOLDER / "README.md").read_text(
            encoding="utf-8"
        )


@at_hand(*datasets.REGISTRY)
def test_every_file_at_hand_verifies(name):
    path = datasets.fetch(name)
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        assert len(file.read()) == datasets.REGISTRY[name].bytes


@at_hand(*FACTS)
def test_real_tables(name):
    shape, total, (row, column, value) = FACTS[name]
    table = datasets.load(name)
    assert table.features.shape == shape == (len(table.target), len(table.names))
    assert table.target.sum() == total and table.features[row, column] == value
    missing = (
        np.isnan(table.features).any(axis=1).sum() if table.features.dtype == np.float64 else 0
    )
    assert missing == (16 if name == "breast_cancer" else 0)


@pytest.mark.slow
@at_hand("stocks", "stocks_adjusted")
def test_real_prices(name):
    prices = datasets.load(name)
    assert prices.close.shape == (len(prices.dates), len(prices.tickers))
    assert prices.close.shape == {"stocks": (1259, 505), "stocks_adjusted": (1260, 489)}[name]
    assert (np.diff(prices.dates) > np.timedelta64(0)).all() and np.nanmin(prices.close) > 0
    window = (prices.dates >= np.datetime64("2013-02-18")) & (
        prices.dates <= np.datetime64("2017-11-27")
    )
    complete = np.isfinite(prices.close[window]).all(axis=0).sum()
    assert (window.sum(), complete) == (1204, {"stocks": 470, "stocks_adjusted": 467}[name])


@pytest.mark.parametrize(
    "name, text, shape",
    [
        ("wdbc", "842302,M," + ",".join(["1.5"] * 30) + "\n", (569, 32)),
        ("stocks", "date,open,high,low,close,volume,Name\n2013-02-08,1,1,1,1,1,A\n", (619040, 7)),
    ],
)
def test_table_of_another_shape_is_refused(monkeypatch, places, name, text, shape):
    (places[0] / datasets.REGISTRY[name].file).write_text(text)
    entry = datasets.REGISTRY[name]
    changed = Dataset(
        entry.file, hashlib.sha256(text.encode()).hexdigest(), len(text), *shape, "", "", "", ""
    )
    monkeypatch.setitem(datasets.REGISTRY, name, changed)
    with pytest.raises(
        ValueError,
        match=f"^table must have {shape[0]} rows and {shape[1]} columns, got 1 rows and ",
    ):
        datasets.load(name)


def test_formats_on_small_files():
    """Test the parsers without any of the real files."""
    prices = datasets.parse(
        "stocks",
        io.BytesIO(
            b"date,open,high,low,close,volume,Name\n2013-02-09,1,1,1,2.5,1,B\n"
            b"2013-02-08,,,,3,1,A\n2013-02-09,1,1,1,4,1,A\n"
        ),
        (3, 7),
    )
    assert prices.tickers.tolist() == ["B", "A"] and prices.dates.astype(str).tolist() == [
        "2013-02-08",
        "2013-02-09",
    ]
    np.testing.assert_array_equal(prices.close, [[np.nan, 3], [2.5, 4]])
    adjusted = datasets.parse(
        "stocks_adjusted", io.BytesIO(b"date,A,B\n2012-12-06,26.5,\n"), (1, 3)
    )
    np.testing.assert_array_equal(adjusted.close, [[26.5, np.nan]])
    cancer = datasets.parse(
        "breast_cancer", io.BytesIO(b"7,1,2,3,4,5,?,7,8,9,4\n8,1,1,1,1,1,1,1,1,1,2\n"), (2, 11)
    )
    np.testing.assert_array_equal(cancer.features[0], [1, 2, 3, 4, 5, np.nan, 7, 8, 9])
    assert cancer.target.tolist() == [1, 0]
    abalone = datasets.parse("abalone", io.BytesIO(b"I,.1,.2,.3,.4,.5,.6,.7,9\n"), (1, 9))
    assert abalone.features[0, :4].tolist() == [0, 0, 1, 0.1] and abalone.target.tolist() == [9]


# The sixty arms of Covertype (A18).


def test_shipped_arms_have_the_known_values():
    table, note = covertype.read_table()
    bandit = covertype.covertype_arms()
    assert (
        bandit.arms.shape == (60, 11)
        and bandit.mean.shape == (60,)
        and bandit.arms.dtype == np.float64
    )
    assert bandit.counts.sum() == note["rows"] == 581012 and table.classes[:, 1].sum() == 283301
    assert note["sha256"] == datasets.checksum("covertype")
    assert (bandit.counts.min(), bandit.counts.max()) == (2712, 19543)
    best, second = np.argsort(bandit.mean)[[-1, -2]]
    assert (best, table.classes[best, 1], bandit.counts[best]) == (46, 6602, 7496)
    assert (second, table.classes[second, 1], bandit.counts[second]) == (17, 4503, 5221)
    values = (bandit.mean.min(), bandit.mean.max(), bandit.mean[17], bandit.mean.mean())
    np.testing.assert_allclose(values, (0.103269, 0.880736, 0.862478, 0.477023), atol=5e-7, rtol=0)
    assert abs(1000 * (bandit.mean.max() - bandit.mean).mean() - 403.7) < 0.05
    norm = np.linalg.norm(bandit.arms, axis=1)
    assert norm.argmax() == bandit.mean.argmin() == 15 and abs(norm.max() - 1) < 1e-12
    assert abs(norm[46] - 0.563) < 5e-4
    assert abs(norm.min() * bandit.scale - 1.75) < 0.005 and abs(bandit.scale - 5.81) < 0.005


def test_shipped_moments_have_the_known_values():
    table, note = covertype.read_table()
    assert note["S1"] == [
        1719426752,
        90438473,
        8194421,
        156541027,
        26969912,
        1365463383,
        123259400,
        129750854,
        82810631,
        1150572966,
    ]
    assert table.squares.tolist() == [
        5133958162274,
        21354341379,
        148151159,
        68425036479,
        3226381898,
        4621637096965,
        26565362804,
        29202854060,
        12654001389,
        3297268244304,
    ]


def test_arms_are_the_same_to_the_last_bit():
    bandit = covertype.covertype_arms()
    digest = hashlib.sha256(
        bandit.arms.astype("<f8").tobytes() + bandit.mean.astype("<f8").tobytes()
    ).hexdigest()
    assert digest == "e2f7ff4acb66cd1d61d947f0202965bf6207b68b76933d5fb16ed86452342d28"


@pytest.mark.parametrize(
    "file, old, new",
    [
        ("covtype_arms.csv", "6602", "6603"),
        ("covtype_arms.csv", "arm,n", "arm,m"),
        ("covtype_arms.json", "581012", "581011"),
        ("covtype_arms.json", "90438473", "1"),
    ],
)
def test_edited_table_is_refused(tmp_path, file, old, new):
    for path in (covertype.TABLE, covertype.NOTE):
        text = path.read_text()
        (tmp_path / path.name).write_text(text.replace(old, new, 1) if path.name == file else text)
    with pytest.raises(ValueError, match="covtype_arms.csv"):
        covertype.read_table(tmp_path)


def blobs(seed=0, groups=5, size=40):
    """Return rows in Covertype's format, in well separated groups with one cover type each, and the groups."""
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.repeat(np.arange(groups), size))
    centers = 100 * rng.permuted(np.tile(np.arange(groups), (54, 1)), axis=1).T
    rows = rng.integers(-3, 4, (len(group), 54)) + centers[group]
    return rows.astype(np.int16), group + 1, group


def test_builder_on_rows_in_the_same_format(tmp_path):
    rows, cover, group = blobs()
    table = covertype.build_table(rows, cover, clusters=5, seed=7)
    order = table.classes[:, :5].argmax(axis=1)
    assert sorted(order) == list(range(5)) and (table.counts == 40).all()
    for k, g in enumerate(order):
        members = rows[group == g, :10].astype(np.int64)
        assert (table.sums[k] == members.sum(axis=0)).all() and table.classes[
            k, g
        ] == 40 == table.classes[k].sum()
    assert (table.squares == (rows[:, :10].astype(np.int64) ** 2).sum(axis=0)).all()
    # The arms are the means of the standardized rows, computed here from the rows themselves.
    bandit, standard = covertype.derive_arms(table), covertype.standardize(rows)
    centers = np.stack([standard[group == g].mean(axis=0) for g in order])
    np.testing.assert_allclose(
        bandit.arms, centers / np.linalg.norm(centers, axis=1).max(), atol=1e-13
    )
    assert bandit.mean.tolist() == [float(g == 1) for g in order] and math.isclose(
        bandit.arms[0, -1] * bandit.scale, 1
    )
    covertype.write_table(table, {"made_by": "this test"}, tmp_path)
    again, note = covertype.read_table(tmp_path)
    assert covertype.differences(table, again) == [] and note["rows"] == 200
    assert covertype.differences(table, again._replace(counts=again.counts + 1)) == ["counts"]


def test_builder_raises_clear_errors():
    rows, cover, _ = blobs()
    with pytest.raises(
        ValueError, match="^cover must contain cover types .*, got values from 0 to 4"
    ):
        covertype.build_table(rows, cover - 1, clusters=5)
    with pytest.raises(ValueError, match="shapes"):
        covertype.build_table(rows[:, :9], cover, clusters=5)
    with pytest.raises(
        ValueError,
        match="^features must have columns that are not constant, got the constant column 3",
    ):
        covertype.standardize(np.where(np.arange(54) == 3, 1, rows))


def test_command_line_compares_the_derived_table(monkeypatch, places, capsys):
    """Rows that give another table are reported, as a failure if the version of scikit-learn is that of the shipped table."""
    rows, cover, _ = blobs(groups=5)
    monkeypatch.setattr(datasets, "load_covertype", lambda: (rows, cover))
    table = covertype.build_table(rows, cover, clusters=5)
    monkeypatch.setattr(
        datasets, "build_table", lambda *data: covertype.build_table(*data, clusters=5)
    )
    import sklearn

    note = {"rows": 200, "scikit-learn": sklearn.__version__}
    monkeypatch.setattr(datasets, "read_table", lambda: (table, note))
    assert (
        datasets.main(["covertype_arms"]) == 0
        and "equal, rebuilt from all 200" in capsys.readouterr().out
    )
    monkeypatch.setattr(datasets, "read_table", lambda: (table._replace(sums=table.sums + 1), note))
    assert datasets.main(["covertype_arms"]) == 1 and "differs in sums" in capsys.readouterr().out
    monkeypatch.setattr(
        datasets,
        "read_table",
        lambda: (table._replace(sums=table.sums + 1), note | {"scikit-learn": "0.1"}),
    )
    assert (
        datasets.main(["covertype_arms"]) == 0
        and "made with scikit-learn 0.1" in capsys.readouterr().out
    )


@at_hand("covertype")
@pytest.mark.slow
def test_shipped_table_is_rebuilt_from_the_real_rows(name):
    """All rows take 12 to 40 s on one core; the same builder runs on synthetic rows in the test above."""
    import sklearn

    shipped, note = covertype.read_table()
    unequal = covertype.differences(covertype.build_table(*datasets.load_covertype()), shipped)
    if unequal and note["scikit-learn"] != sklearn.__version__:
        pytest.skip(
            f"scikit-learn {sklearn.__version__} clusters unlike {note['scikit-learn']}, which made the table"
        )
    assert unequal == []
