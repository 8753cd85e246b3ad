"""Readers: a file's bytes -> a Transcript, or one named reason why not."""
