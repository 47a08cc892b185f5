"""A webhook receiver that fails, hangs and lies, and checks signatures with the standard library of Python.

Prints its port. `GET /report` returns what it has seen. `POST /down` and `POST /up` switch it off and on.
"""

import hashlib
import hmac
import json
import random
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = sys.argv[1].encode()
TIMEOUT = float(sys.argv[2])
CHANCE = random.Random(int(sys.argv[3]))

lock = threading.Lock()
state = {"down": False}
seen = {
    "requests": 0, "invalid": 0, "refused": 0, "hung": 0, "broken": 0, "lied": 0, "accepted": 0,
    "repeats": 0, "disordered": 0,
}
# Of each job: the generations whose outcome was answered with 200 or processed without an answer.
accepted: dict[str, set[int]] = {}


def is_signed(headers, body: bytes) -> bool:
    fields = [part.split("=", 1) for part in headers["ratchet-signature"].split(",")]
    at = next(value for name, value in fields if name == "t")
    message = f"{at}.{headers['ratchet-delivery']}.".encode() + body
    expected = hmac.new(SECRET, message, hashlib.sha256).hexdigest()
    signed = any(name == "v1" and hmac.compare_digest(value, expected) for name, value in fields)
    return signed and abs(time.time() - int(at)) < 300


class Receiver(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status: int, body: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        with lock:
            report = seen | {"distinct": sum(map(len, accepted.values())), "jobs": len(accepted)}
        self.answer(200, json.dumps(report).encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.path in ("/down", "/up"):
            state["down"] = self.path == "/down"
            return self.answer(200)
        with lock:
            seen["requests"] += 1
            if not is_signed(self.headers, body):
                seen["invalid"] += 1
                return self.answer(400)
            if state["down"]:
                seen["refused"] += 1
                return self.answer(503)
            trick = CHANCE.random()
        if trick < 0.15:
            with lock:
                seen["refused"] += 1
            return self.answer(503)
        if trick < 0.20:
            with lock:
                seen["hung"] += 1
            time.sleep(TIMEOUT * 2)
            return None
        if trick < 0.25:
            with lock:
                seen["broken"] += 1
            self.wfile.write(b"this is not HTTP")
            return self.connection.shutdown(socket.SHUT_RDWR)
        data = json.loads(body)["data"]
        job, generation = data["job_id"], data["generation"]
        with lock:
            known = accepted.setdefault(job, set())
            if any(earlier not in known for earlier in range(1, generation)):
                seen["disordered"] += 1
            seen["repeats"] += generation in known
            known.add(generation)
            lies = trick < 0.35
            seen["lied" if lies else "accepted"] += 1
        # A lie: the message was processed, and the answer says that it was not.
        return self.answer(500 if lies else 200)


server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
server.daemon_threads = True
print(server.server_address[1], flush=True)
server.serve_forever()
