"""Submits the job over HTTP, synchronously and asynchronously, prints the ids, and reads the job.

Then submits a wrong argument past the type checker, which the API must refuse.
"""

import asyncio
import os

import httpx

from jobs import AsyncClient, Client, RatchetError, SendEmail

JOB = SendEmail(to="ada@example.com", subject="hello", urgent=True)
WRONG = SendEmail(to=7, subject="wrong", urgent=True)  # type: ignore[arg-type]
URL = os.environ["RATCHET_URL"]
HEADERS = {"authorization": f"Bearer {os.environ['RATCHET_TOKEN']}"}


async def main() -> None:
    async with httpx.AsyncClient(base_url=URL, headers=HEADERS) as http:
        print(await AsyncClient(http).enqueue(JOB))


with httpx.Client(base_url=URL, headers=HEADERS) as http:
    client = Client(http)
    id = client.enqueue(JOB)
    print(id)
    asyncio.run(main())
    job = client.job(id)
    print(job["spec"]["name"], job["state"])
    try:
        client.enqueue(WRONG)
        print("accepted")
    except RatchetError as error:
        print(error.status, error.path, error)
