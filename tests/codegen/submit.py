"""Submits a job in a transaction of psycopg, synchronously and asynchronously, and prints the ids."""

import asyncio

import psycopg

from jobs import SendEmail, enqueue_in, enqueue_in_async

JOB = SendEmail(to="ada@example.com", subject="hello", urgent=True)


async def main() -> None:
    async with await psycopg.AsyncConnection.connect() as connection:
        print(await enqueue_in_async(connection, JOB))


with psycopg.connect() as connection:
    print(enqueue_in(connection, JOB))
asyncio.run(main())
