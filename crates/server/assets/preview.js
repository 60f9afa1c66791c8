
// Change detection: previews the effect of the settings while typing.
(() => {
  const form = document.querySelector("form[data-preview]");
  if (!form) return;
  const DELAY = 400;
  const frame = form.parentElement;
  let timer = 0, request = null;

  async function preview() {
    request?.abort();
    request = new AbortController();
    const fields = new URLSearchParams(new FormData(form));
    fields.set("do", "preview");
    frame.classList.add("waiting");
    try {
      const response = await fetch(form.action, { method: "POST", body: fields, signal: request.signal, credentials: "same-origin" });
      if (!response.headers.get("content-type")?.startsWith("text/html")) return;
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      if (!page.querySelector("form[data-preview]")) return;
      for (const old of document.querySelectorAll("[data-swap]")) {
        const updated = page.getElementById(old.id);
        if (!updated || updated.isEqualNode(old)) continue;
        const open = [...old.querySelectorAll("details")].map((it) => it.open);
        [...updated.querySelectorAll("details")].forEach((it, at) => { it.open = open[at] ?? it.open; });
        old.replaceWith(document.importNode(updated, true));
      }
      for (const field of form.querySelectorAll("[aria-invalid]")) {
        field.setAttribute("aria-invalid", page.getElementById(field.id)?.getAttribute("aria-invalid") ?? "false");
      }
    } catch {
      // Superseded by a newer preview, or the service is unreachable. The button still works.
    } finally {
      if (!request.signal.aborted) frame.classList.remove("waiting");
    }
  }

  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(preview, DELAY);
  });
})();
