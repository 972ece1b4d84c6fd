"use strict";

// Picking variables: the status follows at once. Without this script the form does the same.

const pick = document.getElementById("pick");
const answer = document.getElementById("answer");

if (pick && answer) {
  const at = (selector) => answer.querySelector(selector);
  const base = new URL(pick.action).pathname;
  const page = (margin) =>
    `${base}/t/${margin.map((name) => encodeURIComponent(name).replace(/\*/g, "%2A")).join("*")}`;
  const chosen = () => [...pick.querySelectorAll("input[name=v]:checked")].map((box) => box.value);
  let last = 0;
  let waiting;

  pick.querySelector(".look").hidden = true;
  const clear = pick.querySelector(".clear");
  clear.addEventListener("click", (event) => {
    event.preventDefault();
    for (const box of pick.querySelectorAll("input[name=v]:checked")) box.checked = false;
    changed();
  });
  pick.addEventListener("change", (event) => {
    if (event.target.name === "v") changed();
  });

  function changed() {
    clearTimeout(waiting);
    waiting = setTimeout(look, 120);
  }

  async function look() {
    const names = chosen();
    const turn = ++last;
    const query = new URLSearchParams(names.map((name) => ["v", name]));
    history.replaceState(null, "", names.length ? `${base}?${query}` : base);
    if (!names.length) return show(null, names);
    answer.classList.add("busy");
    try {
      const asked = new URLSearchParams({ variables: names.join(",") });
      const response = await fetch(`${pick.dataset.status}?${asked}`, {
        headers: { Accept: "application/json" },
      });
      const body = await response.json();
      if (turn !== last) return;
      if (response.ok) show(body, names);
      else fail(body.error.message);
    } catch {
      if (turn === last) fail("The server did not answer. Try again.");
    }
  }

  function show(found, names) {
    answer.classList.remove("busy", "released", "possible", "gone");
    if (found) answer.classList.add(found.status);
    at(".hint").hidden = Boolean(found);
    at(".what").hidden = at(".why").hidden = !found;
    at(".what").textContent = found ? found.margin.join(" by ") : "";
    at(".why").textContent = found ? found.message : "";
    for (const kind of answer.querySelectorAll(".kind"))
      kind.hidden = !found || kind.dataset.kind !== found.status;
    const open = at(".open");
    open.hidden = !found || !found.address;
    if (found && found.address) open.querySelector("a").href = page(found.margin);
    const ask = at(".ask");
    if (ask) {
      ask.hidden = !found || !found.candidate;
      ask.querySelector(".asked").replaceChildren(...names.map(hidden));
    }
    at(".nearest").hidden = !found || !found.near.length;
    at(".near").replaceChildren(...(found ? found.near.map(link) : []));
  }

  function fail(message) {
    show(null, []);
    at(".hint").hidden = true;
    at(".why").hidden = false;
    at(".why").textContent = message;
  }

  function hidden(name) {
    const field = document.createElement("input");
    Object.assign(field, { type: "hidden", name: "v", value: name });
    return field;
  }

  function link(near) {
    const item = document.createElement("li");
    const a = document.createElement("a");
    a.href = page(near.margin);
    a.textContent = near.margin.join(" by ");
    item.append(a);
    return item;
  }

  const filter = document.getElementById("filter");
  if (filter) {
    filter.closest(".filter").hidden = false;
    filter.addEventListener("input", () => {
      const wanted = filter.value.trim().toLowerCase();
      for (const item of pick.querySelectorAll(".choices li"))
        item.hidden = !item.textContent.toLowerCase().includes(wanted);
    });
    filter.addEventListener("keydown", (event) => {
      if (event.key === "Enter") event.preventDefault();
    });
  }
}

// A form is sent once: a second click on a slow day does not ask twice.
for (const form of document.querySelectorAll("form[method=post]")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
}
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});
