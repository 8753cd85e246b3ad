"""The embedded summarizer: central sentences and English rules; deterministic, no network, no model."""
