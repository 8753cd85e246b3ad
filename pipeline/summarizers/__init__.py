"""Summarizers: the port, what stands behind it, and the tokenizer that measures a transcript first."""
