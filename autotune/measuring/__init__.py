"""All that runs on hardware: candidates, programs, this host, networks."""
