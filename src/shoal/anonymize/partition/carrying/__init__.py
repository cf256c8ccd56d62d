"""The engine of Split & Carry: a sorted table as small problems, each solved exactly."""
