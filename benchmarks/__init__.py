"""What Callfold costs against the bare thing: `python -m benchmarks`. See docs/performance.md."""
