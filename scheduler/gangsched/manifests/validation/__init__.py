"""What the API server refuses in an object whose shape is right (architecture.md §7)."""
