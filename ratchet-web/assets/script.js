// Keeps pages up to date, adds shortcuts and buttons that copy. Pages work without it.
"use strict";
(() => {
  const script = document.currentScript;
  const liveUrl = script && script.dataset.live;
  const main = document.getElementById("main");
  const indicator = document.getElementById("live-state");
  let source = null;
  let busy = false;
  let again = false;

  // Copying

  function addCopyButtons(within) {
    if (!navigator.clipboard) return;
    for (const element of within.querySelectorAll("[data-copy]")) {
      if (element.nextElementSibling && element.nextElementSibling.classList.contains("copy")) continue;
      if (element.closest("a")) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "copy";
      button.textContent = "copy";
      button.setAttribute("aria-label", "Copy " + element.textContent);
      element.after(button);
    }
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest && event.target.closest("button.copy");
    if (!button) return;
    navigator.clipboard.writeText(button.previousElementSibling.dataset.copy).then(
      () => say(button, "copied"),
      () => say(button, "failed"),
    );
  });

  function say(button, word) {
    button.textContent = word;
    setTimeout(() => { button.textContent = "copy"; }, 1200);
  }

  // On a narrow screen the navigation scrolls, and shows the section of the page.

  const section = document.querySelector(".side [aria-current]");
  const sections = section && section.closest("nav");
  if (sections) sections.scrollLeft = section.offsetLeft - sections.offsetLeft - (sections.clientWidth - section.offsetWidth) / 2;

  // Live updates: the page is fetched again, and parts with an id and `data-live` are replaced.

  function withoutCopyButtons(element) {
    const clone = element.cloneNode(true);
    for (const button of clone.querySelectorAll("button.copy")) button.remove();
    return clone;
  }

  // What the operator focuses, selects or has opened is left alone.
  function isInUse(element) {
    if (element.contains(document.activeElement)) return true;
    if (element.querySelector("details[open], input:checked")) return true;
    const selection = document.getSelection();
    if (!selection || selection.isCollapsed) return false;
    for (let at = 0; at < selection.rangeCount; at += 1) {
      if (selection.getRangeAt(at).intersectsNode(element)) return true;
    }
    return false;
  }

  function patch(fresh) {
    for (const old of document.querySelectorAll("[data-live][id]")) {
      const next = fresh.getElementById(old.id);
      if (!next || isInUse(old)) continue;
      if (withoutCopyButtons(old).isEqualNode(next)) continue;
      const adopted = document.adoptNode(next);
      old.replaceWith(adopted);
      addCopyButtons(adopted);
    }
    // A part that was not on the page needs a place among its neighbors, so it appears with the next full load.
  }

  async function refresh() {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const answer = await fetch(location.href, { headers: { "X-Ratchet-Live": "1" }, redirect: "error" });
      if (answer.ok && !document.hidden) {
        patch(new DOMParser().parseFromString(await answer.text(), "text/html"));
        show(true);
      } else if (answer.status === 401 || answer.status === 403) {
        stop();
        show(false);
      }
    } catch (_) {
      show(false);
    }
    busy = false;
    if (again) { again = false; setTimeout(refresh, 500); }
  }

  function show(connected) {
    if (!indicator) return;
    indicator.hidden = false;
    indicator.classList.toggle("off", !connected);
    indicator.textContent = connected ? "live" : "not connected";
  }

  function start() {
    if (source || !liveUrl || !main || !main.hasAttribute("data-live-page")) return;
    source = new EventSource(liveUrl);
    source.addEventListener("open", () => show(true));
    source.addEventListener("error", () => show(false));
    source.addEventListener("change", refresh);
  }

  function stop() {
    if (source) source.close();
    source = null;
  }

  // A hidden tab has no connection and costs nothing.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { stop(); return; }
    start();
    if (source) refresh();
  });
  addEventListener("pagehide", stop);
  addEventListener("pageshow", (event) => { if (event.persisted) start(); });

  // Shortcuts

  let afterG = false;

  function isTyping(element) {
    return element && (element.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName));
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && isTyping(document.activeElement)) { document.activeElement.blur(); return; }
    if (isTyping(event.target)) return;
    if (event.key === "/") {
      const filter = document.getElementById("filter");
      if (filter) { event.preventDefault(); filter.focus(); filter.select(); }
      return;
    }
    const wanted = event.key === "?" ? "?" : afterG ? event.key : null;
    afterG = event.key === "g" && !afterG;
    if (!wanted) return;
    for (const link of document.querySelectorAll(".side [data-key]")) {
      if (link.dataset.key === wanted) { event.preventDefault(); link.click(); return; }
    }
  });

  // Times in the zone of the viewer, beside UTC.

  document.addEventListener("mouseover", (event) => {
    const time = event.target.closest && event.target.closest("time[datetime]");
    if (!time || time.dataset.local) return;
    time.dataset.local = "1";
    const at = new Date(time.getAttribute("datetime"));
    if (!Number.isNaN(at.getTime())) time.title += " · " + at.toLocaleString() + " here";
  });

  addCopyButtons(document);
  if (!document.hidden) start();
})();
