"""The version of this package; results carry it."""

VERSION = "0.1.0"
