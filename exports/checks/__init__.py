"""What `verify` checks, one file per part of a bundle. Every line is read once and none is trusted."""
