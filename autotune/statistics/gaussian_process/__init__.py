"""Gaussian process regression: kernel terms, evidence, hyperparameters, and a posterior that takes
in observations one by one.
"""
