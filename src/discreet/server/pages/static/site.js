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
  const titles = new Map(
    [...pick.querySelectorAll("input[name=v]")].map((box) => [box.value, box.dataset.title]),
  );
  const titled = (margin) =>
    margin
      .map((name) => titles.get(name) ?? name)
      .reduce((a, b) => pick.dataset.by.replace("{a}", () => a).replace("{b}", () => b));
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
      const asked = new URLSearchParams({
        variables: names.join(","),
        lang: document.documentElement.lang,
      });
      const response = await fetch(`${pick.dataset.status}?${asked}`, {
        headers: { Accept: "application/json" },
      });
      const body = await response.json();
      if (turn !== last) return;
      if (response.ok) show(body, names);
      else fail(body.error.message);
    } catch {
      if (turn === last) fail(pick.dataset.silent);
    }
  }

  function show(found, names) {
    answer.classList.remove("busy", "released", "possible", "gone");
    if (found) answer.classList.add(found.status);
    at(".hint").hidden = Boolean(found);
    at(".what").hidden = at(".why").hidden = !found;
    at(".what").textContent = found ? titled(found.margin) : "";
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
    at(".offers").hidden = !found || !found.instead.length;
    at(".offered").replaceChildren(...(found ? found.instead.map(offer) : []));
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
    a.textContent = titled(near.margin);
    item.append(a);
    return item;
  }

  function offer(one) {
    const item = link(one);
    item.firstChild.href = `${base}?${new URLSearchParams(one.margin.map((name) => ["v", name]))}`;
    if (!one.known) {
      const said = document.createElement("span");
      said.className = "muted";
      said.textContent = pick.dataset.unknown;
      item.append(" ", said);
    }
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

// Arranging a table: variables are dragged, or moved by arrow keys; the form does the rest.

const arrange = document.getElementById("arrange");

if (arrange) {
  const zones = [...arrange.querySelectorAll(".zone")].filter((zone) => zone.dataset.zone);
  const chips = zones.flatMap((zone) => [...zone.querySelectorAll(".chip")]);
  let held = null;

  arrange.querySelector(".drags").hidden = false;
  for (const chip of chips) {
    const grip = document.createElement("button");
    Object.assign(grip, { type: "button", className: "grip", textContent: "⠿" });
    grip.setAttribute("aria-label", chip.dataset.grip);
    grip.addEventListener("keydown", (event) => step(chip, event));
    chip.querySelector(".who").prepend(grip);
    chip.draggable = true;
    chip.addEventListener("dragstart", (event) => {
      held = chip;
      chip.classList.add("held");
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", chip.dataset.name);
    });
    chip.addEventListener("dragend", () => {
      chip.classList.remove("held");
      for (const zone of zones) zone.classList.remove("over");
      held = null;
    });
  }
  for (const zone of zones) {
    zone.addEventListener("dragover", (event) => {
      if (!held) return;
      event.preventDefault();
      zone.classList.add("over");
    });
    zone.addEventListener("dragleave", (event) => {
      if (!zone.contains(event.relatedTarget)) zone.classList.remove("over");
    });
    zone.addEventListener("drop", (event) => {
      if (!held) return;
      event.preventDefault();
      const list = zone.querySelector("ul");
      const next = [...list.children].find(
        (other) => other !== held && event.clientY < middle(other),
      );
      move(held, zone, next ?? null);
    });
  }

  function middle(element) {
    const box = element.getBoundingClientRect();
    return box.top + box.height / 2;
  }

  function step(chip, event) {
    const zone = chip.closest(".zone");
    const at = zones.indexOf(zone);
    const goes = {
      ArrowUp: () => chip.previousElementSibling && move(chip, zone, chip.previousElementSibling),
      ArrowDown: () =>
        chip.nextElementSibling && move(chip, zone, chip.nextElementSibling.nextElementSibling),
      ArrowLeft: () => at > 0 && move(chip, zones[at - 1], null),
      ArrowRight: () => at < zones.length - 1 && move(chip, zones[at + 1], null),
    }[event.key];
    if (!goes) return;
    event.preventDefault();
    goes();
  }

  function move(chip, zone, before) {
    zone.querySelector("ul").insertBefore(chip, before);
    chip.querySelector("select[name=at]").value = `${zone.dataset.zone}:${chip.dataset.name}`;
    sessionStorage.setItem("moved", chip.dataset.name);
    arrange.requestSubmit();
  }

  const moved = sessionStorage.getItem("moved");
  sessionStorage.removeItem("moved");
  chips.find((chip) => chip.dataset.name === moved)?.querySelector(".grip").focus();
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
