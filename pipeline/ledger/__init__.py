"""The only room that speaks SQL and commits."""
