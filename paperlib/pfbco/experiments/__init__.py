"""Public names of this room."""

from .settings import FIGURE, Found, RESAMPLES, RIVALS, Row, TITLES, after, agreed, average, averaged, beats, between, decline, doubling_slope, final, hindsight, last_epochs, learners, line_residual, noise_ratio, price_tables, ratio, recorded, relative_difference, table, thin, watch
