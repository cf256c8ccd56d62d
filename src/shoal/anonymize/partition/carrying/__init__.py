"""Split & Carry's engine: a sorted table in small problems, each solved exactly."""
