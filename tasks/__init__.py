"""How it runs: the Celery app, its queues, lanes and the reconcile bootstep; one thin task per queue hop."""
