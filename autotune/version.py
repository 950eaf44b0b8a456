"""The version of this package, which is stored with results."""

VERSION = "0.1.0"
