#!/usr/bin/env python3
"""Draws the figures of the site.

`draw.py` writes the SVG files beside this script. `draw.py --check` compares them with what it would write and exits
with 1 if a file differs. Only the standard library is used, and the output depends on nothing but this script.

The colors are those of the dashboard (`ratchet-web/assets/style.css`). Each file has both color schemes and no
background, so that it can be shown on a light page and on a dark page.
"""

import sys
from html import escape
from pathlib import Path

STYLE = """
svg { color-scheme: light dark;
  --text: #191e29; --text-2: #4a5364; --text-3: #5f6878; --line: #c9ced7; --edge: #5f6878;
  --ok: #17693f; --ok-bg: #e3f4ea; --run: #1a56bd; --run-bg: #e5edfb; --wait: #654d00; --wait-bg: #fbf0cf;
  --bad: #a9221b; --bad-bg: #fcebea; --mute: #4a5364; --mute-bg: #eceef2; --held: #6f37a3; --held-bg: #f2e9fa; }
@media (prefers-color-scheme: dark) { svg {
  --text: #e8ebf1; --text-2: #b3bbc9; --text-3: #98a1b2; --line: #3d4657; --edge: #98a1b2;
  --ok: #67d7a0; --ok-bg: #10301f; --run: #86b4ff; --run-bg: #14263f; --wait: #e8c662; --wait-bg: #32280a;
  --bad: #ff938a; --bad-bg: #3a1714; --mute: #b3bbc9; --mute-bg: #252c38; --held: #d3aaf7; --held-bg: #2c1c3c; } }
text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
  font-size: 13px; fill: var(--text); }
.name { font-weight: 600; font-size: 14px; }
.note { font-size: 12px; fill: var(--text-2); }
.faint { font-size: 12px; fill: var(--text-3); }
.small { font-size: 11px; }
.box { stroke-width: 2; }
.plain { fill: none; stroke: var(--line); }
.ok { fill: var(--ok-bg); stroke: var(--ok); } .run { fill: var(--run-bg); stroke: var(--run); }
.wait { fill: var(--wait-bg); stroke: var(--wait); } .bad { fill: var(--bad-bg); stroke: var(--bad); }
.mute { fill: var(--mute-bg); stroke: var(--mute); } .held { fill: var(--held-bg); stroke: var(--held); }
.ok-text { fill: var(--ok); } .run-text { fill: var(--run); } .wait-text { fill: var(--wait); }
.bad-text { fill: var(--bad); } .mute-text { fill: var(--mute); } .held-text { fill: var(--held); }
.edge { fill: none; stroke: var(--edge); stroke-width: 2; }
.edge-ok { stroke: var(--ok); } .edge-bad { stroke: var(--bad); } .dashed { stroke-dasharray: 6 4; }
.guide { stroke: var(--line); stroke-width: 2; stroke-dasharray: 2 5; }
.head { fill: var(--edge); } .head-ok { fill: var(--ok); } .head-bad { fill: var(--bad); }
.dot { fill: var(--edge); }
"""


class Picture:
    """An SVG document with a title and a description."""

    def __init__(self, width, height, title, description):
        self.width, self.height = width, height
        self.title, self.description = title, description
        self.parts = []

    def add(self, part):
        self.parts.append(part)

    def text(self, x, y, words, style="", anchor="middle"):
        shape = f' class="{style}"' if style else ""
        self.add(f'<text x="{x}" y="{y}" text-anchor="{anchor}"{shape}>{escape(words)}</text>')

    def lines(self, x, y, lines, style="note", anchor="middle", step=16):
        for index, words in enumerate(lines):
            self.text(x, y + index * step, words, style, anchor)

    def box(self, x, y, width, height, style, radius=8):
        """A box, given by its upper left corner."""
        self.add(
            f'<rect class="box {style}" x="{x}" y="{y}" width="{width}" height="{height}" rx="{radius}"/>'
        )

    def state(self, cx, cy, name, style, width=150, height=50, note=None):
        """A box with a name, given by its center."""
        self.box(cx - width / 2, cy - height / 2, width, height, style)
        tone = f"name {style}-text" if style != "plain" else "name"
        if note:
            self.text(cx, cy - 3, name, tone)
            self.text(cx, cy + 15, note, f"note {style}-text" if style != "plain" else "note")
        else:
            self.text(cx, cy + 5, name, tone)

    def edge(self, path, tone="", dashed=False):
        """An arrow along a path."""
        style = "edge" + (f" edge-{tone}" if tone else "") + (" dashed" if dashed else "")
        self.add(f'<path class="{style}" d="{path}" marker-end="url(#head{"-" + tone if tone else ""})"/>')

    def guide(self, x1, y1, x2, y2):
        self.add(f'<line class="guide" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>')

    def dot(self, x, y, radius=6):
        self.add(f'<circle class="dot" cx="{x}" cy="{y}" r="{radius}"/>')

    def svg(self):
        heads = "".join(
            f'<marker id="head{suffix}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="10" markerHeight="10" '
            f'markerUnits="userSpaceOnUse" orient="auto"><path class="head{suffix}" d="M0 0L10 5L0 10z"/></marker>'
            for suffix in ("", "-ok", "-bad")
        )
        body = "\n".join(self.parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
            f'height="{self.height}" role="img" aria-labelledby="title desc">\n'
            f'<title id="title">{escape(self.title)}</title>\n<desc id="desc">{escape(self.description)}</desc>\n'
            f"<style>{STYLE}</style>\n<defs>{heads}</defs>\n{body}\n</svg>\n"
        )


def elbow(points, radius=12):
    """A path of horizontal and vertical lines with round corners."""
    path = f"M{points[0][0]} {points[0][1]}"
    for (px, py), (x, y), (nx, ny) in zip(points, points[1:], points[2:]):
        ax = x - radius * ((x > px) - (x < px))
        ay = y - radius * ((y > py) - (y < py))
        bx = x + radius * ((nx > x) - (nx < x))
        by = y + radius * ((ny > y) - (ny < y))
        path += f"L{ax} {ay}Q{x} {y} {bx} {by}"
    return path + f"L{points[-1][0]} {points[-1][1]}"


def life():
    picture = Picture(
        800, 420, "The life of a job",
        "A job is submitted as PENDING. A claim makes it RUNNING. It returns to PENDING by retry, defer, release or "
        "rescue, or ends as SUCCEEDED, FAILED or CANCELED. An operator can pause a pending or failed job, resume it, "
        "reschedule a pending job, cancel a job, and retry a failed job manually.",
    )
    pending, running = (205, 215), (475, 215)
    paused, failed = (205, 360), (475, 360)
    # CANCELED, above.
    picture.state(475, 62, "CANCELED", "mute")
    picture.edge(elbow([(130, 360), (34, 360), (34, 50), (399, 50)]))
    picture.text(300, 43, "cancel")
    picture.edge(elbow([(146, 190), (146, 74), (399, 74)]))
    picture.text(300, 92, "cancel")
    picture.edge("M475 190L475 88")
    picture.text(484, 130, "cancel", anchor="start")
    # PENDING and RUNNING.
    picture.dot(82, 215)
    picture.edge("M88 215L129 215")
    picture.text(92, 204, "submit")
    picture.state(*pending, "PENDING", "wait")
    picture.state(*running, "RUNNING", "run")
    picture.edge("M280 222L399 222")
    picture.text(340, 242, "claim")
    picture.edge("M440 190C420 132 276 132 256 189")
    picture.text(344, 172, "retry, defer,", "note")
    picture.text(344, 188, "release, rescue", "note")
    picture.edge("M178 190C172 150 232 150 226 189")
    picture.text(202, 146, "reschedule")
    picture.state(700, 215, "SUCCEEDED", "ok")
    picture.edge("M550 215L624 215")
    picture.text(587, 205, "succeed")
    # PAUSED and FAILED.
    picture.state(*paused, "PAUSED", "held")
    picture.state(*failed, "FAILED", "bad", note="dead letter")
    picture.edge("M170 240L170 334")
    picture.text(162, 292, "pause", anchor="end")
    picture.edge("M212 335L212 241")
    picture.text(220, 314, "resume", anchor="start")
    picture.edge("M400 349L281 349")
    picture.text(340, 341, "pause")
    picture.edge("M280 372L399 372")
    picture.text(340, 392, "resume")
    picture.edge("M475 240L475 334")
    picture.text(484, 292, "fail", anchor="start")
    picture.edge("M430 335L258 241")
    picture.text(362, 288, "retry manually", anchor="start")
    picture.lines(590, 346, ["A paused job resumes to the", "state it was paused from."], "faint", "start")
    return picture


def road():
    picture = Picture(
        820, 250, "The path of a run",
        "A run passes eight stages: claim, resolve, guard, run, classify, decide, settle and publish. Claim reads from "
        "the store and settle writes to it in one commit. The stage run calls the middleware and the handler of the "
        "application.",
    )
    stages = [
        ("claim", ["takes jobs", "that are due"], "run"),
        ("resolve", ["finds the job", "by its name"], "plain"),
        ("guard", ["allow-list,", "arguments"], "plain"),
        ("run", ["middleware,", "your handler"], "wait"),
        ("classify", ["from error", "to failure"], "plain"),
        ("decide", ["from outcome", "to verdict"], "plain"),
        ("settle", ["all in one", "commit"], "run"),
        ("publish", ["events,", "metrics, logs"], "plain"),
    ]
    picture.box(12, 16, 796, 50, "mute")
    picture.text(410, 46, "store", "name mute-text")
    width, gap = 84, 17.5
    for index, (name, note, style) in enumerate(stages):
        x = 12 + index * (width + gap)
        picture.box(x, 134, width, 44, style)
        picture.text(x + width / 2, 161, name, f"name {style}-text" if style != "plain" else "name")
        picture.lines(x + width / 2, 202, note, "faint", step=17)
        if index:
            picture.edge(f"M{x - gap} 156L{x - 1} 156")
    picture.edge("M54 66L54 133")
    picture.text(64, 104, "due jobs, tokens", "note", "start")
    settle = 12 + 6 * (width + gap) + width / 2
    picture.edge(f"M{settle} 134L{settle} 67")
    picture.text(settle - 10, 104, "settlement with the token", "note", "end")
    return picture


def lease():
    picture = Picture(
        820, 392, "A worker that freezes, and its rescuer",
        "Node A claims a job and renews its lease every five seconds. It freezes at twelve seconds. Fifteen seconds "
        "after its last heartbeat the lease expires. Node B returns the job to its queue, claims it and runs it. Node "
        "A continues at thirty-one seconds and settles with its old token, which changes nothing.",
    )
    left, scale = 92, 17.2

    def x(seconds):
        return round(left + seconds * scale, 1)

    for lane, y in (("node A", 66), ("store", 196), ("node B", 306)):
        picture.text(16, y + 5, lane, "name", "start")
    # Node A.
    picture.box(x(0), 46, round(x(12) - x(0), 1), 40, "run")
    picture.text(x(6), 71, "run 1, token v1", "note run-text")
    picture.add(
        f'<rect class="box mute dashed" x="{x(12)}" y="46" width="{round(x(31) - x(12), 1)}" height="40" rx="8"/>'
    )
    picture.text(x(21.5), 71, "frozen", "note mute-text")
    picture.text(x(31) + 8, 62, "continues,", "note", "start")
    picture.text(x(31) + 8, 78, "settles with v1", "note", "start")
    for seconds in (5, 10):
        picture.edge(f"M{x(seconds)} 86L{x(seconds)} 133")
    picture.text(x(7.5), 114, "heartbeat", "note")
    picture.edge(f"M{x(31)} 86L{x(31)} 167", "bad")
    picture.text(x(31) + 9, 128, "refused: v1 is older,", "note bad-text", "start")
    picture.text(x(31) + 9, 144, "nothing changes", "note bad-text", "start")
    # Store: the lease, and the state of the job.
    picture.box(x(0), 134, round(x(25) - x(0), 1), 24, "held", 6)
    picture.text(x(12.5), 151, "lease of node A: 15 s after the last heartbeat", "note held-text")
    picture.text(x(25) + 6, 151, "expires", "note held-text", "start")
    spans = [(0, 25.8, "RUNNING", "v1", "run"), (25.8, 29.6, "PENDING", "v2", "wait"),
             (29.6, 36.8, "RUNNING", "v3", "run"), (36.8, 41.5, "SUCCEEDED", "v4", "ok")]
    for start, end, name, version, style in spans:
        middle = round((x(start) + x(end)) / 2, 1)
        picture.box(x(start), 168, round(x(end) - x(start), 1), 56, style, 6)
        picture.text(middle, 192, name, f"small {style}-text")
        picture.text(middle, 211, version, f"name {style}-text")
    # Node B.
    picture.edge(f"M{x(25.8)} 306L{x(25.8)} 225")
    picture.text(x(25.8) - 8, 268, "rescue", "note", "end")
    picture.edge(f"M{x(29.6)} 225L{x(29.6)} 285")
    picture.text(x(29.6) + 8, 260, "claim", "note", "start")
    picture.box(x(29.6), 286, round(x(36.8) - x(29.6), 1), 40, "run")
    picture.text(x(33.2), 311, "run 2, token v3", "note run-text")
    picture.edge(f"M{x(36.8)} 286L{x(36.8)} 225", "ok")
    picture.text(x(36.8) + 8, 260, "settle", "note ok-text", "start")
    picture.dot(x(25.8), 308, 5)
    # Time.
    picture.add(f'<line class="edge" x1="{x(0)}" y1="352" x2="{x(41.5)}" y2="352"/>')
    for seconds in (0, 5, 10, 15, 20, 25, 30, 35, 40):
        picture.add(f'<line class="edge" x1="{x(seconds)}" y1="348" x2="{x(seconds)}" y2="356"/>')
        picture.text(x(seconds), 374, f"{seconds} s", "faint")
    return picture


def breaker():
    picture = Picture(
        810, 330, "The states of a circuit breaker",
        "A closed breaker opens when the failure rate is reached, or when an operator opens it. After open_for it is "
        "half-open and admits probes. If all probes succeed it closes. If one fails it opens again. An operator can "
        "close it at any time.",
    )
    picture.state(150, 76, "closed", "ok", 200, 60, "all runs are admitted")
    picture.state(640, 76, "open", "bad", 200, 60, "no job is claimed")
    picture.state(395, 262, "half-open", "wait", 200, 60, "probes are admitted")
    picture.edge("M250 62L539 62")
    picture.text(395, 32, "failure_rate is reached after min_calls,")
    picture.text(395, 50, "or an operator opens it")
    picture.edge("M540 92L251 92")
    picture.text(395, 112, "an operator closes it")
    picture.edge(elbow([(590, 106), (590, 250), (496, 250)]))
    picture.lines(580, 180, ["open_for", "has passed"], "", "end")
    picture.edge(elbow([(495, 276), (690, 276), (690, 107)]))
    picture.lines(700, 172, ["a probe fails,", "or an operator", "opens it"], "", "start")
    picture.edge(elbow([(295, 262), (150, 262), (150, 107)]))
    picture.lines(160, 180, ["all probes succeed,", "or an operator closes it"], "", "start")
    return picture


def workflow():
    picture = Picture(
        820, 250, "A workflow for an order",
        "Step charge has succeeded. Its condition is_large holds, so review ran and has succeeded. The edge otherwise "
        "from charge to ship did not fire. Step ship waits for any of both, and has failed. The edge on failure from "
        "ship to refund fired, and refund has succeeded.",
    )
    width, height = 140, 54
    steps = [("charge", 86, 60, "ok", "SUCCEEDED"), ("review", 306, 60, "ok", "SUCCEEDED"),
             ("ship", 526, 150, "bad", "FAILED"), ("refund", 736, 150, "ok", "SUCCEEDED")]
    for name, cx, cy, style, state in steps:
        picture.state(cx, cy, name, style, width, height, state)
    picture.edge("M156 60L235 60", "ok")
    picture.text(195, 48, "is_large")
    picture.edge(elbow([(376, 60), (526, 60), (526, 122)]), "ok")
    picture.text(440, 50, "after")
    picture.edge(elbow([(86, 87), (86, 150), (455, 150)]), dashed=True)
    picture.text(270, 140, "otherwise (did not fire)", "note")
    picture.edge("M596 150L665 150", "ok")
    picture.lines(630, 126, ["after", "failure"], "", step=15)
    picture.text(526, 196, "any(): the first of both suffices", "faint")
    picture.text(16, 236, "Order 13 of examples/src/bin/order_workflow.rs. A green edge has fired.", "faint", "start")
    return picture


def deploy():
    picture = Picture(
        820, 318, "The order of a rolling upgrade",
        "First the schema is migrated. Then new workers start beside the old ones. Then the old workers stop and let "
        "their runs finish. Last, the processes that submit jobs are replaced.",
    )
    left, right = 128, 804
    marks = [(250, "1", "migrate"), (390, "2", "start new workers"), (540, "3", "stop old workers"),
             (690, "4", "replace submitters")]
    for at, number, name in marks:
        picture.guide(at, 58, at, 296)
        picture.add(f'<circle class="box run" cx="{at}" cy="24" r="13"/>')
        picture.text(at, 29, number, "name run-text")
        picture.text(at, 53, name, "note")
    lanes = [
        ("schema", [(left, 250, "version n", "mute"), (250, right, "version n + 1", "ok")]),
        ("old workers", [(left, 540, "claim and run jobs", "mute"), (540, 620, "finish", "wait")]),
        ("new workers", [(390, right, "claim and run jobs, also those of a newer version", "ok")]),
        ("submitters", [(left, 690, "old: submit jobs of the old version", "mute"), (690, right, "new", "ok")]),
    ]
    for index, (name, bars) in enumerate(lanes):
        y = 72 + index * 58
        picture.text(12, y + 25, name, "name", "start")
        for start, end, words, style in bars:
            picture.box(start + 1, y, end - start - 2, 40, style)
            picture.text((start + end) / 2, y + 25, words, f"{style}-text")
    return picture


FIGURES = {"life": life, "road": road, "lease": lease, "breaker": breaker, "workflow": workflow, "deploy": deploy}


def main():
    folder = Path(__file__).resolve().parent
    stale = []
    for name, draw in FIGURES.items():
        path, svg = folder / f"{name}.svg", draw().svg()
        if "--check" in sys.argv[1:]:
            if not path.exists() or path.read_text(encoding="utf-8") != svg:
                stale.append(path.name)
        else:
            path.write_text(svg, encoding="utf-8")
    if stale:
        print(f"run docs/site/figures/draw.py: {', '.join(stale)} differ", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
