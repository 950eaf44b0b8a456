"""``variants``, ``predict`` and ``rank``: what is known of the candidates before anything runs."""
