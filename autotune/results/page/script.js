(() => {
"use strict";
const all = (query, node = document) => [...node.querySelectorAll(query)];
const make = (name, values = {}, ...inner) => {
  const node = Object.assign(document.createElement(name), values);
  node.append(...inner);
  return node;
};
const live = make("div", { className: "spoken" });
live.setAttribute("aria-live", "polite");
document.body.append(live);
const say = text => { live.textContent = text; };

// sort
const key = (row, column) => {
  const cell = row.cells[column];
  if (cell.dataset.v !== undefined) return +cell.dataset.v;
  const text = cell.textContent.trim();
  return text === "-" || text === "" ? null : text.toLowerCase();
};
const order = (a, b) => typeof a === typeof b ? (a < b ? -1 : +(a > b))
  : typeof a === "number" ? -1 : 1;
const sort = (table, head) => {
  const column = head.cellIndex, body = table.tBodies[0];
  const down = head.getAttribute("aria-sort") === "ascending";
  for (const other of all("thead th", table)) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const keyed = [...body.rows].map((row, place) => [key(row, column), place, row]);
  keyed.sort(([a, i], [b, j]) =>
    a === null || b === null ? (a === null) - (b === null) || i - j
      : (down ? -1 : 1) * order(a, b) || i - j);
  body.append(...keyed.map(entry => entry[2]));
  if (shown.has(table)) filter(table);
  say(`sorted by ${head.textContent}, ${down ? "descending" : "ascending"}`);
};
for (const table of all("table.sorts")) for (const head of all("thead th", table)) {
  const button = make("button", { type: "button" }, ...head.childNodes);
  button.addEventListener("click", () => sort(table, head));
  head.append(button);
}

// points of figures, by the row that they link to
const points = new Map();
for (const link of all(".plot a")) {
  const name = link.getAttribute("href").slice(1);
  if (!points.has(name)) points.set(name, []);
  points.get(name).push(link);
}
const mark = (row, name, on) => {
  for (const link of points.get(row.id) || []) link.classList.toggle(name, on);
};

// filter; of many rows only the first are laid out, until the others are asked for
const LOT = 300;
const shown = new Map();
const number = count => count.toLocaleString("en");
const filter = table => {
  const { text, measured, count, more, most } = shown.get(table);
  const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = table.tBodies[0].rows;
  let left = 0;
  for (const row of rows) {
    if (words.length) row.words ??= row.textContent.toLowerCase();
    const out = (measured.checked && row.classList.contains("idle"))
      || !words.every(word => row.words.includes(word));
    left += !out;
    const hide = out || left > most;
    if (row.hidden !== hide) row.hidden = hide;
    if ((row.out ?? false) !== out) { row.out = out; mark(row, "out", out); }
  }
  const some = left < rows.length ? `${number(left)} of ` : "";
  count.textContent = `${some}${number(rows.length)} rows`;
  more.hidden = left <= most;
  more.textContent = `Show all ${number(left)} rows, not only the first ${number(most)}`;
};
const limit = (table, most) => { shown.get(table).most = most; filter(table); };
for (const table of all("table.filters")) {
  const text = make("input", { type: "search", placeholder: "words that a row must contain" });
  const measured = make("input", { type: "checkbox" });
  const count = make("output");
  const more = make("button", { type: "button", className: "more" });
  shown.set(table, { text, measured, count, more, most: LOT });
  let waiting = 0;
  const later = () => { clearTimeout(waiting); waiting = setTimeout(() => filter(table), 60); };
  text.addEventListener("input", later);
  text.addEventListener("change", () => filter(table));
  measured.addEventListener("change", () => filter(table));
  more.addEventListener("click", () => limit(table, Infinity));
  const tools = make("div", { className: "tools" }, make("label", {}, "Filter ", text));
  if (table.querySelector("tr.idle")) tools.append(make("label", {}, measured, " measured only"));
  tools.append(count);
  table.parentNode.before(tools);
  table.parentNode.after(more);
  filter(table);
}

// permalinks: a row that is folded away or filtered out is shown again
const reveal = () => {
  const target = location.hash.length > 1
    && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let node = target; node; node = node.parentElement)
    if (node.localName === "details") node.open = true;
  const table = target.closest("table");
  if (target.hidden && shown.has(table)) {
    shown.get(table).text.value = "";
    shown.get(table).measured.checked = false;
    limit(table, Math.max(shown.get(table).most, target.sectionRowIndex + 50));
  }
  target.scrollIntoView({ block: "center" });
};
addEventListener("hashchange", reveal);

// hover: what a mark of a figure says, or the row that it links to
const tip = make("div", { id: "tip", hidden: true });
document.body.append(tip);
const describe = row => {
  const heads = all("thead th", row.closest("table")).map(head => head.textContent);
  const lines = [...row.cells].map((cell, place) => [heads[place], cell])
    .filter(([, cell], place) => place && cell.classList.contains("r")
      && !["", "-"].includes(cell.textContent.trim()))
    .map(([head, cell]) => `${head}: ${cell.textContent.trim()}`);
  return [row.cells[0].firstChild.textContent, ...lines].join("\n");
};
const words = mark => {
  const title = mark.querySelector(":scope > title");
  if (title) { mark.dataset.w = title.textContent; title.remove(); } // or it shows twice
  const row = mark.localName === "a"
    && document.getElementById(mark.getAttribute("href").slice(1));
  return [mark.dataset.w, row && describe(row)].filter(Boolean).join("\n");
};
let hot = null;
document.addEventListener("pointerover", event => {
  const mark = event.target.closest(".plot a, .plot g");
  const row = event.target.closest("tbody tr[id]");
  if (hot) for (const node of hot) node.classList.remove("hot");
  hot = row ? points.get(row.id) || null
    : mark && mark.localName === "a" ? points.get(mark.getAttribute("href").slice(1)) || null : null;
  if (hot) for (const node of hot) node.classList.add("hot");
  const text = mark ? words(mark) : "";
  tip.hidden = !text;
  tip.textContent = text;
});
document.addEventListener("pointermove", event => {
  if (tip.hidden) return;
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 4))}px`;
  tip.style.top = `${event.clientY + 18 + height > innerHeight
    ? Math.max(4, event.clientY - height - 10) : event.clientY + 18}px`;
});
addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });

// copy
const copy = async (text, source) => {
  try {
    await navigator.clipboard.writeText(text);
  } catch { // no permission, or no secure context
    getSelection().selectAllChildren(source);
    document.execCommand("copy");
  }
};
for (const pre of all("pre[data-copy]")) {
  const button = make("button", { type: "button" }, "Copy");
  button.addEventListener("click", async () => {
    await copy(pre.textContent.trim(), pre);
    button.textContent = "Copied";
    say("copied");
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  const box = make("div", { className: "copies" });
  pre.replaceWith(box);
  box.append(pre, button);
}

addEventListener("beforeprint", () => {
  for (const node of all("details")) node.open = true;
  for (const table of shown.keys()) limit(table, Infinity);
});
addEventListener("afterprint", () => { for (const table of shown.keys()) limit(table, LOT); });
reveal();
performance.mark("interactive");
})();
