"""Everything that runs on hardware: candidates, external programs, this host, networks."""
