"""Estimators, drift, rank correlation, Pareto fronts, residuals."""
