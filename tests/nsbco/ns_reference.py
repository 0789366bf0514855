"""Reference of Algorithms 1 and 2 in plain NumPy, written from the paper and from Wei & Luo: one trial, round by round.

The random numbers are ``streams.uniform`` at the counters that the schedule defines.
"""

import math

import numpy as np

from paperlib.core.streams import uniform


class Ascent:
    """Algorithm 2 on the unit ball."""

    def __init__(self, d, c0=0.5, L=2.0, sigma=1.0, h=0.25, N0=None, b0=2.0, clip=True, z0=None):
        self.d, self.c0, self.L, self.gamma, self.h = d, c0, L, sigma / L, h
        self.N0 = math.ceil((h / c0) ** 4 - 1e-9) if N0 is None else N0
        self.b0, self.clip, self.z = b0, clip, np.zeros(d) if z0 is None else z0
        self.s = self.j = self.k = self.t = 0
        self.up = self.um = self.r = 0.0
        self.g = np.zeros(d)

    @property
    def n(self):
        return math.ceil((1 - self.gamma) ** (-4 * self.s) * self.N0 - 1e-9)

    @property
    def delta(self):
        return self.h * self.n**-0.25

    def act(self):
        x = self.z.copy()
        x[self.j] += self.delta if self.k % 2 == 0 else -self.delta
        return x

    def hear(self, y):
        if self.k % 2 == 0:
            self.up += y
        else:
            self.um += y
        self.r, self.t, self.k = self.r + y, self.t + 1, self.k + 1
        bar = self.r / self.t + self.b0 / math.sqrt(self.t)
        if self.k == 2 * self.n:
            self.g[self.j] = (self.up - self.um) / (2 * self.delta * self.n)
            self.up = self.um = 0.0
            self.k, self.j = 0, self.j + 1
            if self.j == self.d:
                z = self.z + self.g / self.L
                self.z = z * min(1.0, (1 - self.c0) / max(np.linalg.norm(z), 1e-300))
                self.s, self.j = self.s + 1, 0
        return min(1.0, bar) if self.clip else bar


def coin(seed, start, m):
    return float(uniform(seed, 1, 64 * start + m))


def scheduled(seed, tn, n, least=0, coin=coin):
    """Return the windows of a block: (order, start, end), both ends included."""
    found = []
    for m in range(n, -1, -1):
        for z in range(2 ** (n - m)):
            begin = tn + z * 2**m
            if m == n or (m >= least and coin(seed, begin, m) < 2 ** (-(n - m) / 2)):
                found.append((m, begin, begin + 2**m - 1))
    return found


def multiscale(new, play, T, seed, A1=math.inf, A2=math.inf, least=0, warm=False, coin=coin):
    """Run Algorithm 1 and return a record of each round, and the restarts. ``new(z0)``: a new thread; ``play(t, x)``: the reward."""
    t, n, tn, rounds, restarts, last = 0, 0, 0, [], [], None
    while t < T:
        windows = scheduled(seed, tn, n, least, coin)
        threads, U, S2, ys, restarted = {}, math.inf, 0.0, [], False
        while t < tn + 2**n and t < T and not restarted:
            for m, a, _ in windows:
                if a == t:
                    threads[m, a] = new(last.z.copy() if warm and last is not None else None)
            m, a, b = min(w for w in windows if w[1] <= t <= w[2])
            thread = last = threads[m, a]
            x = thread.act()
            y = play(t, x)
            bar = thread.hear(y)
            U, S2 = min(U, bar), S2 + bar - y
            ys.append(y)
            mask = sum(1 << w[0] for w in windows if w[2] == t)
            rounds.append((m, tn, n, x, y, bar, U, mask))
            length, t = t - tn + 1, t + 1
            for m, a, b in sorted(windows):
                if b == t - 1 and sum(ys[a - tn :]) / 2**m >= U + A1 / math.sqrt(2**m):
                    restarts.append((t, 1, m))
                    restarted = True
                    break
            if not restarted and S2 / length >= A2 / math.sqrt(length):
                restarts.append((t, 2, -1))
                restarted = True
        tn, n = t, 0 if restarted else n + 1
    return rounds, restarts
