"""Report: what the user is told, with the definition of every figure. Values and text only; nothing here schedules."""
