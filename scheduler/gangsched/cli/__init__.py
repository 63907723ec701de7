"""The command line: one file a verb. Verbs read options and print; what they print is computed below."""
