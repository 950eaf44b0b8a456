"""Models of candidate programs: in-core time, data traffic, kerncraft's ECM model, and the engines
built on them.
"""
