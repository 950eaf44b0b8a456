"""Models for other tools: Hatchet, Thicket, Extra-P."""
