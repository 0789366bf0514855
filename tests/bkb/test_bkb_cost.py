"""One large run in a separate process."""

import pytest

from companion.bkb.experiments.cost import large_run
from companion.bkb.experiments.settings import dense_1d
from paperlib.bkb.learners.lazy import LazyBKB
from paperlib.bkb.model.confidence import Confidence
from paperlib.play import play


@pytest.fixture(autouse=True)
def own_locks(tmp_path, monkeypatch):
    monkeypatch.setenv("PAPERLIB_LOCKS", str(tmp_path))


@pytest.mark.slow
def test_a_run_in_a_separate_process():
    found = large_run(300, 30)
    assert 0 < found["seconds"] < found["cpu"] < 60 and 5e7 < found["bytes"] < 2**30
    again = play(
        LazyBKB(dense_1d(300).kernel, Confidence(1.0, 3.0)), dense_1d(300), 30, 1, record=1
    )
    assert (
        found["regret"] == pytest.approx(again["regret"][0, -1])
        and found["dictionary"] == again["report.dictionary"][0]
    )
    with pytest.raises(
        RuntimeError, match=r"(?s)with 0 arms and 30 rounds failed: .*arms must .*, got 0"
    ):
        large_run(0, 30)
