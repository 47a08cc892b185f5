"""Submits the job over HTTP, synchronously and asynchronously, and prints the ids.

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
    print(Client(http).enqueue(JOB))
    asyncio.run(main())
    try:
        Client(http).enqueue(WRONG)
        print("accepted")
    except RatchetError as error:
        print(error.status, error.path, error)
