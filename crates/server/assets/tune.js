
// The tuner: what would be compared, as one types.
(() => {
  const form = document.querySelector("form[data-preview]");
  if (!form) return;
  const PAUSE = 400;
  const frame = form.parentElement;
  let timer = 0, asked = null;

  async function look() {
    asked?.abort();
    asked = new AbortController();
    const fields = new URLSearchParams(new FormData(form));
    fields.set("do", "preview");
    frame.classList.add("waiting");
    try {
      const answer = await fetch(form.action, { method: "POST", body: fields, signal: asked.signal, credentials: "same-origin" });
      if (!answer.headers.get("content-type")?.startsWith("text/html")) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (!page.querySelector("form[data-preview]")) return;
      for (const old of document.querySelectorAll("[data-swap]")) {
        const fresh = page.getElementById(old.id);
        if (!fresh || fresh.isEqualNode(old)) continue;
        const open = [...old.querySelectorAll("details")].map((it) => it.open);
        [...fresh.querySelectorAll("details")].forEach((it, at) => { it.open = open[at] ?? it.open; });
        old.replaceWith(document.importNode(fresh, true));
      }
      for (const field of form.querySelectorAll("[aria-invalid]")) {
        field.setAttribute("aria-invalid", page.getElementById(field.id)?.getAttribute("aria-invalid") ?? "false");
      }
    } catch {
      // Something newer is asked for, or the service is gone: the button still works.
    } finally {
      if (!asked.signal.aborted) frame.classList.remove("waiting");
    }
  }

  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(look, PAUSE);
  });
})();
