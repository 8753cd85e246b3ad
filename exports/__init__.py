"""What leaves: the frozen bundle of a job, its copy, and the offline check that a bundle is what it says."""
