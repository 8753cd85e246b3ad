"""What befalls servers: killed and started again, connections dropped, messages lost."""

import os
import signal
import subprocess
from urllib.parse import urlsplit

import redis
from crew import wait_for
from kombu import Connection

from tasks import queues


def broker_of(servers, url):
    """What can befall the broker of the fixture `broker`."""
    return RedisBroker(servers) if url is None else RabbitBroker(url)


def kill_server(servers, name):
    """kill -9 of an embedded server, until the stack has started it again."""

    def server():
        return next(part for part in servers.status() if part.name == name)

    restarts = server().restarts
    os.kill(server().pid, signal.SIGKILL)
    wait_for(lambda: server().restarts > restarts and server().running)


def drop_database_connections(desk):
    """All but those of the tests."""
    desk.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND application_name <> 'tests'"
    )


class RedisBroker:
    """The embedded Redis, which is the result backend as well and keeps nothing on disk."""

    name = "Redis"

    def __init__(self, servers):
        self._servers = servers
        self._client = redis.Redis.from_url(servers.urls.broker)

    def waiting(self):
        """How many documents' messages nobody has taken yet."""
        return self._client.llen(queues.PROCESS.name)

    def lose_messages(self):
        self._client.flushall()

    def drop_connections(self):
        self._client.client_kill_filter(_type="normal", skipme=True)

    def restart(self):
        kill_server(self._servers, "redis")


class RabbitBroker:
    """A RabbitMQ's vhost, on this machine."""

    name = "RabbitMQ"

    def __init__(self, url):
        self._url = url

    def waiting(self):
        """How many documents' messages nobody has taken yet."""
        with Connection(self._url) as connection:
            return queues.PROCESS(connection).queue_declare(passive=True).message_count

    def lose_messages(self):
        with Connection(self._url) as connection:
            for queue in queues.ALL:
                queue(connection).purge()

    def drop_connections(self):
        vhost = urlsplit(self._url).path.removeprefix("/")
        command = ("rabbitmqctl", "--quiet", "close_all_connections", "--vhost", vhost, "closed by a test")
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def restart(self):
        """By the shell command that the tests were given."""
        subprocess.run(os.environ["AMQP_RESTART"], shell=True, check=True, stdout=subprocess.DEVNULL)  # noqa: S602 - a shell command is what the variable is
