"""Enqueues jobs of Ratchet over HTTP (httpx) and in a transaction (psycopg)."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Literal,
    NotRequired,
    TypeAlias,
    TypedDict,
    TypeVar,
    cast,
)

if TYPE_CHECKING:
    import httpx
    import psycopg

Output = TypeVar("Output", covariant=True)


class JobType(ABC, Generic[Output]):
    """A job that can be enqueued."""

    name: ClassVar[str]
    version: ClassVar[int]
    queue: ClassVar[str]

    @abstractmethod
    def payload(self) -> dict[str, object]:
        """Returns the stored arguments."""

    def idempotency_key(self) -> str | None:
        """Fills in the template of the key. Without one, the key must be passed."""
        return None

    def business_key(self) -> str | None:
        return None


class RatchetError(Exception):
    """The answer of the API to a request that it refuses."""

    def __init__(self, status: int, code: str, detail: str, path: str | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.path = path
        """Where the mistake in the arguments is, such as `$.order.lines[2].price`."""


class Client:
    """Enqueues and reads jobs over HTTP. The `httpx` client has the address and the token."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http

    def enqueue(
        self,
        job: JobType[Any],
        *,
        idempotency_key: str | None = None,
        queue: str | None = None,
        delay: str | None = None,
        reason: str | None = None,
    ) -> str:
        """Enqueues a job and returns its id."""
        body = _request(job, idempotency_key, queue, delay, reason)
        answer = self._http.post("api/v1/jobs/enqueue", content=body, headers=_HEADERS)
        return str(_answer(answer)["job"])

    def job(self, id: str) -> dict[str, Any]:
        """Reads a job."""
        return _answer(self._http.get(f"api/v1/jobs/{id}", headers=_HEADERS))


class AsyncClient:
    """Enqueues and reads jobs over HTTP, asynchronously."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def enqueue(
        self,
        job: JobType[Any],
        *,
        idempotency_key: str | None = None,
        queue: str | None = None,
        delay: str | None = None,
        reason: str | None = None,
    ) -> str:
        """Enqueues a job and returns its id."""
        body = _request(job, idempotency_key, queue, delay, reason)
        answer = await self._http.post("api/v1/jobs/enqueue", content=body, headers=_HEADERS)
        return str(_answer(answer)["job"])

    async def job(self, id: str) -> dict[str, Any]:
        """Reads a job."""
        return _answer(await self._http.get(f"api/v1/jobs/{id}", headers=_HEADERS))


def enqueue_in(
    connection: psycopg.Connection[Any],
    job: JobType[Any],
    *,
    idempotency_key: str | None = None,
    queue: str | None = None,
) -> str:
    """Enqueues a job in the transaction of the connection: the job exists when the transaction commits."""
    row = connection.execute(_ENQUEUE, _values(job, idempotency_key, queue)).fetchone()
    return str(row[0] if row else "")


async def enqueue_in_async(
    connection: psycopg.AsyncConnection[Any],
    job: JobType[Any],
    *,
    idempotency_key: str | None = None,
    queue: str | None = None,
) -> str:
    """Enqueues a job in the transaction of the connection, asynchronously."""
    cursor = await connection.execute(_ENQUEUE, _values(job, idempotency_key, queue))
    row = await cursor.fetchone()
    return str(row[0] if row else "")


_HEADERS = {"accept": "application/json", "content-type": "application/json"}

_ENQUEUE = (
    "SELECT ratchet.enqueue(name => %s, payload => %s::jsonb, queue => %s, version => %s,"
    " idempotency_key => %s, business_key => %s)"
)


def _values(job: JobType[Any], key: str | None, queue: str | None) -> tuple[object, ...]:
    return (
        job.name,
        json.dumps(job.payload()),
        queue or job.queue,
        job.version,
        key or job.idempotency_key(),
        job.business_key(),
    )


def _request(
    job: JobType[Any],
    key: str | None,
    queue: str | None,
    delay: str | None,
    reason: str | None,
) -> str:
    fields = {"key": key, "in_queue": queue, "delay": delay, "reason": reason}
    given = {name: value for name, value in fields.items() if value is not None}
    return json.dumps({"name": job.name, "arguments": job.payload(), **given})


def _answer(response: httpx.Response) -> dict[str, Any]:
    if response.is_success:
        return cast("dict[str, Any]", response.json())
    try:
        problem = response.json()
    except ValueError:
        problem = {}
    detail = problem.get("detail") or problem.get("title") or response.text
    code, path = str(problem.get("type", "error")), problem.get("path")
    raise RatchetError(response.status_code, code, str(detail), path)
