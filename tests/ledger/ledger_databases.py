"""Throw-away databases on a server that may create them."""

import uuid
from contextlib import contextmanager

import psycopg
from sqlalchemy import make_url


@contextmanager
def new_database(server, origin=""):
    name = f"callfold_test_{uuid.uuid4().hex[:12]}"
    execute(server, f"CREATE DATABASE {name} {origin}")
    try:
        execute(server, f"ALTER DATABASE {name} SET synchronous_commit = off")
        yield name
    finally:
        execute(server, f"DROP DATABASE {name} WITH (FORCE)")


def execute(url, statement):
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(statement)


def url_of(server, name):
    return make_url(server).set(database=name).render_as_string(hide_password=False)
