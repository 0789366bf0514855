"""Pages are of the checkout's own folders, whatever the environment names."""

import pytest


@pytest.fixture(autouse=True)
def here(monkeypatch):
    for name in ("ROOT", "FIGURES", "RESULTS"):
        monkeypatch.delenv(f"PAPERLIB_{name}", raising=False)
