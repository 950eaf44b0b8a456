"""What things are: frozen, checked values that know neither YAML nor SQL nor a terminal."""
