"""Gaussian process regression: kernel terms, evidence, hyperparameters, a posterior that grows."""
