"""Lets Prometheus scrape a worker through an outage, and waits for the alerts. Used by `scripts/dashboards`."""

import json
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The times of the rules are divided by this, so that the outage takes minutes.
FASTER = 30
SECONDS = {"s": 1, "m": 60, "h": 3600}
LONGEST = 120


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def shorter(match):
    seconds = max(2, int(match[2]) * SECONDS[match[3]] // FASTER)
    return f"{match[1]}{seconds}s{match[4]}"


def quick_rules():
    """Returns the rules with shorter times, and with a threshold of the oldest age that a short outage reaches."""
    text = (ROOT / "dashboards/prometheus/alerts.yml").read_text()
    text = re.sub(r"(for: )(\d+)([smh])()$", shorter, text, flags=re.MULTILINE)
    # Ranges need several scrapes.
    text = re.sub(r"(\[)(\d+)([smh])(\])", shorter, text)
    return text.replace("oldest_age_seconds) > 300", "oldest_age_seconds) > 10")


def get(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as response:
        return response.read().decode()


class Outage:
    def __init__(self, program, folder):
        self.started = time.monotonic()
        self.worker_port, self.port = free_port(), free_port()
        self.worker = subprocess.Popen([program, f"127.0.0.1:{self.worker_port}"], stdin=subprocess.PIPE,
                                       stdout=subprocess.DEVNULL, text=True)
        folder = Path(folder)
        (folder / "alerts.yml").write_text(quick_rules())
        (folder / "prometheus.yml").write_text(
            "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
            f"rule_files: [{folder}/alerts.yml]\n"
            "scrape_configs:\n  - job_name: ratchet\n    static_configs:\n"
            f"      - targets: ['127.0.0.1:{self.worker_port}']\n")
        self.log = (folder / "log").open("w")
        self.prometheus = subprocess.Popen(
            ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
             f"--web.listen-address=127.0.0.1:{self.port}"], stdout=self.log, stderr=self.log)

    def say(self, text):
        print(f"{time.monotonic() - self.started:6.1f} s  {text}", flush=True)

    def order(self, command):
        self.say(f"worker: {command}")
        self.worker.stdin.write(command + "\n")
        self.worker.stdin.flush()

    def firing(self):
        alerts = json.loads(get(self.port, "/api/v1/alerts"))["data"]["alerts"]
        return {alert["labels"]["alertname"] for alert in alerts if alert["state"] == "firing"}

    def until(self, what, condition):
        deadline = time.monotonic() + LONGEST
        while True:
            try:
                if condition():
                    return self.say(what)
            except OSError:
                pass
            if time.monotonic() > deadline:
                sys.exit(f"waited {LONGEST} s: {what}; firing: {sorted(self.firing())}")
            time.sleep(0.25)

    def query(self, query):
        path = "/api/v1/query?query=" + urllib.request.quote(query)
        return json.loads(get(self.port, path))["data"]["result"]

    def run(self):
        self.until("Prometheus scrapes the worker", lambda: self.query('up{job="ratchet"} == 1'))
        self.until("runs are counted", lambda: self.query("sum(rate(ratchet_job_started_total[10s])) > 1"))
        self.until("nothing fires", lambda: not self.firing())
        wanted = {"RatchetBreakerOpen", "RatchetDeadLettersGrowing", "RatchetQueueStalled"}
        self.order("fail")
        self.order("block")
        for alert in sorted(wanted):
            self.until(f"{alert} fires", lambda: alert in self.firing())
        ready = get(self.worker_port, "/health/live")
        self.say(f"the worker is live: {json.loads(ready)['ok']}")
        self.order("succeed")
        self.order("unblock")
        self.order("redrive")
        for alert in sorted(wanted):
            self.until(f"{alert} is resolved", lambda: alert not in self.firing())
        self.until("nothing fires", lambda: not self.firing())
        self.order("stop")
        self.until("RatchetWorkersGone fires", lambda: "RatchetWorkersGone" in self.firing())

    def end(self):
        for process in (self.worker, self.prometheus):
            process.terminate()
            process.wait()


def main():
    with tempfile.TemporaryDirectory() as folder:
        outage = Outage(sys.argv[1], folder)
        try:
            outage.run()
        finally:
            outage.end()


main()
