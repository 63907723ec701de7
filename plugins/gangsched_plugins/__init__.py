"""The in-tree plugins: one module (or package) each, strangers to one another; ``default_registry`` names them all."""
