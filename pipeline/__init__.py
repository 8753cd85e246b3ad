"""Callfold: what is true without Celery and without any CRM."""
