// What makes the pages comfortable. They can be read and used without it.
"use strict";

// Pages that change by themselves: when something happens, the page is fetched again, and what is
// marked with data-live takes the place of what was there.
(() => {
  const light = document.getElementById("connection");
  const news = document.getElementById("news");
  if (!light || !news || !document.querySelector("[data-live]")) return;
  let source = null, cursor = null, due = false, busy = false;

  const say = (state, words) => {
    light.hidden = false;
    light.dataset.state = state;
    light.title = words;
    light.setAttribute("aria-label", words);
  };

  // In words as well, if it lasts: a page that stands still looks like one on which nothing happens.
  const LOST = "The connection is lost; it is tried again";
  const lost = () => {
    if (source?.readyState !== EventSource.OPEN && !document.hidden) news.textContent = LOST;
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
          // It has become another page: there were no sources yet, for one.
          main.replaceWith(document.importNode(other, true));
        }
        for (const old of document.querySelectorAll("[data-live]")) {
          const fresh = page.getElementById(old.id);
          if (!fresh || isUsed(old) || fresh.isEqualNode(old)) continue;
          const open = [...old.querySelectorAll("details")].map((it) => it.open);
          [...fresh.querySelectorAll("details")].forEach((it, at) => { it.open = open[at] ?? it.open; });
          old.replaceWith(document.importNode(fresh, true));
        }
        // Forms that stay in place are of the service that runs now.
        const key = page.querySelector("input[name=key]")?.value;
        if (key) for (const old of document.querySelectorAll("input[name=key]")) old.value = key;
        document.dispatchEvent(new Event("refreshed"));
      }
    } catch {
      // The stream says when there is a service again.
    }
    busy = false;
    if (due) { due = false; setTimeout(refresh, 1000); }
  }

  function connect() {
    if (source || document.hidden) return;
    source = new EventSource("/live");
    source.onopen = () => {
      say("on", "This page updates by itself");
      if (news.textContent === LOST) { news.textContent = ""; refresh(); }
    };
    source.onerror = () => {
      say("off", LOST);
      setTimeout(lost, 2000);
      // A browser gives up on an answer that is no stream, such as the login after a restart: the page
      // itself finds out what it is.
      if (source?.readyState !== EventSource.CLOSED) return;
      source = null;
      setTimeout(() => { connect(); refresh(); }, 3000);
    };
    source.addEventListener("change", (event) => {
      const now = Number(event.data);
      if (cursor !== null && now > cursor) {
        const count = now - cursor;
        news.textContent = count === 1 ? "1 new change" : `${count} new changes`;
        setTimeout(() => { news.textContent = ""; }, 4000);
      }
      cursor = now;
      refresh();
    });
    source.addEventListener("beat", (event) => { cursor = Number(event.data); refresh(); });
  }

  // A browser has few connections to one host: pages that nobody sees hold none.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      source?.close();
      source = null;
      say("off", "This page rests while nobody looks");
    } else {
      connect();
      refresh();
    }
  });
  window.addEventListener("pagehide", () => { source?.close(); source = null; });
  // Back to a page that the browser had kept as it was.
  window.addEventListener("pageshow", (event) => { if (event.persisted) { connect(); refresh(); } });
  connect();
})();

// What was told once is not told again when the page is loaded again.
(() => {
  const address = new URL(location.href);
  if (!address.searchParams.has("said")) return;
  address.searchParams.delete("said");
  history.replaceState(null, "", address);
})();

// Charts: the numbers under the pointer, from the table behind the picture.
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

// A box that ticks all others of its form that have its name.
document.addEventListener("change", (event) => {
  const all = event.target.closest?.("input[data-all]");
  if (!all) return;
  for (const box of document.querySelectorAll(`input[type=checkbox][name="${CSS.escape(all.dataset.all)}"]`)) {
    box.checked = all.checked;
  }
});

// Moments in the reader's own time, where they are marked as such.
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

// What if: the numbers of each place of the slider are in the page.
(() => {
  const slider = document.getElementById("slider");
  const rows = [...document.querySelectorAll("#budgets li")];
  if (!slider || rows.length === 0) return;
  slider.hidden = false;
  slider.addEventListener("input", () => {
    const row = rows[Number(slider.value)];
    if (!row) return;
    for (const place of document.querySelectorAll("#what-if [data-show]")) {
      place.textContent = row.dataset[place.dataset.show];
    }
    document.getElementById("chosen").textContent = row.dataset.budget;
    document.getElementById("budget").value = row.dataset.said;
    const apply = document.getElementById("apply-budget");
    if (apply) apply.value = row.dataset.said;
    slider.setAttribute("aria-valuetext", row.dataset.budget);
  });
})();
