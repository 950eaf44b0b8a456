"""Runs everything that is measured on hardware: candidates, external programs, this
host, networks.
"""
