"""Engines: each predicts the time of one step of a candidate, with parts and an interval."""
