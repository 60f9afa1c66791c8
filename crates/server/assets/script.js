// Live updates and previews. All pages work without scripts.
"use strict";

// Live pages: on an event, the page is fetched again and elements with data-live are replaced.
(() => {
  const indicator = document.getElementById("connection");
  const notice = document.getElementById("notice");
  if (!indicator || !notice || !document.querySelector("[data-live]")) return;
  let source = null, cursor = null, due = false, busy = false;

  const showState = (state, label) => {
    indicator.hidden = false;
    indicator.dataset.state = state;
    indicator.title = label;
    indicator.setAttribute("aria-label", label);
  };

  // A lasting outage is also announced as text.
  const LOST = "Connection lost. Reconnecting…";
  const lost = () => {
    if (source?.readyState !== EventSource.OPEN && !document.hidden) notice.textContent = LOST;
  };

  const isUsed = (element) =>
    element.contains(document.activeElement) && document.activeElement !== document.body;

  const parts = (page) => [...page.querySelectorAll("[data-live]")].map((it) => it.id).join(" ");

  async function refresh() {
    if (busy) { due = true; return; }
    busy = true;
    try {
      const answer = await fetch(location.href, { headers: { "X-Live": "1" }, credentials: "same-origin" });
      if (answer.redirected) { location.reload(); return; }
      if (answer.ok) {
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        const [main, other] = [document, page].map((it) => it.getElementById("main"));
        const isTyped = isUsed(main) && document.activeElement !== main;
        if (parts(page) !== parts(document) && !isTyped) {
          // The structure of the page has changed, for example after the first source was added.
          main.replaceWith(document.importNode(other, true));
        }
        for (const old of document.querySelectorAll("[data-live]")) {
          const fresh = page.getElementById(old.id);
          if (!fresh || isUsed(old) || fresh.isEqualNode(old)) continue;
          const open = [...old.querySelectorAll("details")].map((it) => it.open);
          [...fresh.querySelectorAll("details")].forEach((it, at) => { it.open = open[at] ?? it.open; });
          old.replaceWith(document.importNode(fresh, true));
        }
        // Forms that were not replaced need the key of the running process.
        const key = page.querySelector("input[name=key]")?.value;
        if (key) for (const old of document.querySelectorAll("input[name=key]")) old.value = key;
        document.dispatchEvent(new Event("refreshed"));
      }
    } catch {
      // The event stream reports when the service is back.
    }
    busy = false;
    if (due) { due = false; setTimeout(refresh, 1000); }
  }

  function connect() {
    if (source || document.hidden) return;
    source = new EventSource("/live");
    source.onopen = () => {
      showState("on", "Live updates");
      if (notice.textContent === LOST) { notice.textContent = ""; refresh(); }
    };
    source.onerror = () => {
      showState("off", LOST);
      setTimeout(lost, 2000);
      // Browsers give up on a response that is not a stream, such as the login page after a restart.
      // Loading the page follows the redirect.
      if (source?.readyState !== EventSource.CLOSED) return;
      source = null;
      setTimeout(() => { connect(); refresh(); }, 3000);
    };
    source.addEventListener("change", (event) => {
      const now = Number(event.data);
      if (cursor !== null && now > cursor) {
        const count = now - cursor;
        notice.textContent = count === 1 ? "1 new change" : `${count} new changes`;
        setTimeout(() => { notice.textContent = ""; }, 4000);
      }
      cursor = now;
      refresh();
    });
    source.addEventListener("beat", (event) => { cursor = Number(event.data); refresh(); });
  }

  // Browsers limit connections per host: hidden pages release theirs.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      source?.close();
      source = null;
      showState("off", "Live updates paused while hidden");
    } else {
      connect();
      refresh();
    }
  });
  window.addEventListener("pagehide", () => { source?.close(); source = null; });
  // The page was restored from the back-forward cache.
  window.addEventListener("pageshow", (event) => { if (event.persisted) { connect(); refresh(); } });
  connect();
})();

// Removes the ID of a flash message from the address after the message was shown.
(() => {
  const address = new URL(location.href);
  if (!address.searchParams.has("flash")) return;
  address.searchParams.delete("flash");
  history.replaceState(null, "", address);
})();

// Charts: a tooltip with the values at the pointer, from the data table.
(() => {
  const near = (rows, share) => {
    let best = null, least = Infinity;
    for (const row of rows) {
      const distance = Math.abs(Number(row.dataset.x) - share);
      if (distance < least) { least = distance; best = row; }
    }
    return best;
  };
  const leave = (chart) => {
    chart.querySelector(".tip")?.remove();
    chart.querySelector(".hair")?.remove();
  };
  document.addEventListener("pointermove", (event) => {
    const plot = event.target.closest?.(".plot");
    for (const chart of document.querySelectorAll(".chart:has(.tip)")) {
      if (!plot || !chart.contains(plot)) leave(chart);
    }
    if (!plot) return;
    const chart = plot.closest(".chart");
    const box = plot.getBoundingClientRect();
    const rows = chart?.querySelectorAll("tbody tr[data-x]");
    if (!rows || rows.length === 0) return;
    const row = near(rows, (100 * (event.clientX - box.left)) / box.width);
    leave(chart);
    const heads = [...chart.querySelectorAll("thead th")].map((it) => it.textContent.trim());
    const tip = document.createElement("div");
    tip.className = "tip";
    [...row.cells].forEach((cell, at) => {
      const line = document.createElement("div");
      line.textContent = at === 0 ? cell.textContent.trim() : `${heads[at]}: ${cell.textContent.trim()}`;
      tip.append(line);
    });
    chart.append(tip);
    const left = (Number(row.dataset.x) / 100) * box.width;
    const room = chart.getBoundingClientRect();
    const x = box.left - room.left + left;
    tip.style.left = `${x > room.width / 2 ? Math.max(0, x - tip.offsetWidth - 12) : x + 12}px`;
    tip.style.top = `${box.top - room.top + 8}px`;
    const hair = document.createElementNS("http://www.w3.org/2000/svg", "line");
    for (const [name, value] of [["class", "hair"], ["x1", `${row.dataset.x}%`], ["x2", `${row.dataset.x}%`],
      ["y1", "8"], ["y2", String(box.height - 22)]]) hair.setAttribute(name, value);
    plot.append(hair);
  });
  document.addEventListener("pointerleave", () => document.querySelectorAll(".chart").forEach(leave));
})();

// Select-all checkboxes.
document.addEventListener("change", (event) => {
  const all = event.target.closest?.("input[data-all]");
  if (!all) return;
  for (const box of document.querySelectorAll(`input[type=checkbox][name="${CSS.escape(all.dataset.all)}"]`)) {
    box.checked = all.checked;
  }
});

// Shows times in the local time zone as tooltips.
(() => {
  const local = () => {
    for (const time of document.querySelectorAll("time[datetime]:not([title])")) {
      const moment = new Date(time.dateTime);
      if (!Number.isNaN(moment.getTime())) time.title = moment.toLocaleString();
    }
  };
  local();
  document.addEventListener("refreshed", local);
})();

// Budget slider: the values of each position are in the page.
(() => {
  const slider = document.getElementById("slider");
  const rows = [...document.querySelectorAll("#budgets li")];
  if (!slider || rows.length === 0) return;
  slider.hidden = false;
  slider.addEventListener("input", () => {
    const row = rows[Number(slider.value)];
    if (!row) return;
    for (const place of document.querySelectorAll("#budget-preview [data-show]")) {
      place.textContent = row.dataset[place.dataset.show];
    }
    document.getElementById("selected").textContent = row.dataset.budget;
    document.getElementById("budget").value = row.dataset.value;
    const apply = document.getElementById("apply-budget");
    if (apply) apply.value = row.dataset.value;
    slider.setAttribute("aria-valuetext", row.dataset.budget);
  });
})();
