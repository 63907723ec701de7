"""Converters of public traces: one file a format, each streams its rows into the events of the native trace."""
