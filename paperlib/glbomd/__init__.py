"""Generalized linear bandits with a one-pass update.

Source: Zhang, Xu, Zhao & Sugiyama, "Generalized Linear Bandits: Almost Optimal Regret with One-Pass
Update" (2025).
"""
