// The page of `prefs serve`. All text from suites is shown with textContent, never as HTML.
"use strict";

const byId = (id) => document.getElementById(id);
const rowHeight = 34;

// MARK: Elements

/** Creates an element with properties, attributes in `attributes`, and children, which are elements or plain text. */
function make(tag, properties = {}, ...children) {
  const { attributes = {}, ...rest } = properties;
  const element = Object.assign(document.createElement(tag), rest);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const shapes = {
  lock: "M4 7h8v6H4zM5.5 7V5a2.5 2.5 0 0 1 5 0v2",
  close: "m4 4 8 8m0-8-8 8",
};

function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", shapes[name]);
  svg.append(path);
  return svg;
}

function pill(source) {
  return make("span", { className: `pill ${source}` }, source === "managed" ? icon("lock") : null, source);
}

// MARK: The server

const token = takeToken();

/** Moves the token from the address to this tab's storage, which no other tab and no other port can read. */
function takeToken() {
  const given = new URLSearchParams(location.search).get("token");
  if (given) {
    sessionStorage.setItem("token", given);
    history.replaceState(null, "", "/");
  }
  return sessionStorage.getItem("token");
}

function request(path, options = {}) {
  return fetch(path, { ...options, headers: { Authorization: `Bearer ${token}`, ...options.headers }, cache: "no-store" });
}

/** Sends a change; throws an error with the server's message if the change is rejected. */
async function send(path, change = {}) {
  let response;
  try {
    response = await request(path, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(change),
    });
  } catch {
    throw new Error("prefs serve can't be reached; nothing was changed. Try again when the connection is restored");
  }
  const isJSON = response.headers.get("Content-Type")?.startsWith("application/json");
  const answer = isJSON ? await response.json() : { error: await response.text() };
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

/** Shows the server's changes until the page is closed. */
async function follow() {
  if (!token) return showSignpost();
  for (let wait = 250; ; wait = Math.min(wait * 2, 5000)) {
    try {
      const silence = new AbortController();
      const response = await request("/api/events", { signal: silence.signal });
      if (response.status === 403) return showEnd();
      if (!response.ok) throw new Error(await response.text());
      await readEvents(response.body, silence, () => { wait = 125; });
    } catch (error) {
      console.debug(error);
    }
    showBar("The connection to prefs serve is lost. The page shows the last known values and reconnects automatically.");
    await new Promise((resume) => setTimeout(resume, wait));
  }
}

/** Reads server-sent events; EventSource can't send the token in a header. */
async function readEvents(body, silence, began) {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = "";
  for (;;) {
    // The server sends a message or a comment every five seconds.
    const alarm = setTimeout(() => silence.abort(), 20_000);
    const { done, value } = await reader.read();
    clearTimeout(alarm);
    if (done) return;
    began();
    showBar(null);
    const messages = (rest + decoder.decode(value, { stream: true })).split("\n\n");
    rest = messages.pop();
    for (const message of messages) {
      if (message.startsWith("data: ")) applyChanges(JSON.parse(message.slice(6)));
    }
  }
}

function showSignpost() {
  byId("signpost").hidden = false;
  byId("page").hidden = true;
}

/** Reports that the token isn't valid for this server; values that are shown stay. */
function showEnd() {
  if (suites.size === 0) return showSignpost();
  showBar("The prefs serve of this page has ended, and another one answers. Open the link that it printed; this page is no longer updated.");
}

/** The texts of the bar: one on the connection, and a temporary note. */
const bar = { connection: null, note: null };

function showBar(text, kind = "connection") {
  bar[kind] = text;
  showMode();
  const shown = bar.connection ?? bar.note;
  byId("bar").hidden = shown === null;
  if (shown !== null && byId("bar").textContent !== shown) byId("bar").textContent = shown;
}

/** Says whether the shown values are those of now. */
function showMode() {
  byId("mode").textContent = bar.connection !== null ? "Not connected" : isReadOnly ? "Read-only" : "Live";
}

/** Returns text with the characters escaped that are invisible, or change the order of the others. */
const printable = (text) =>
  text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (found) => `\\u{${found.codePointAt(0).toString(16)}}`);

// MARK: Model

/** The suites by name: `info`, and `rows` by name. */
const suites = new Map();
let isReadOnly = false;
let lastEdit = null;

/** Applies the server's changes to the model, and shows them. */
function applyChanges(changes) {
  const isFirst = suites.size === 0;
  if (changes.server) {
    isReadOnly = changes.server.isReadOnly;
    document.body.classList.toggle("read-only", isReadOnly);
    showMode();
    const names = new Set((changes.suites ?? []).map((suite) => suite.name));
    for (const name of suites.keys()) if (!names.has(name)) suites.delete(name);
  }
  if ("undo" in changes) lastEdit = changes.undo;
  const changed = new Set();
  for (const suite of changes.suites ?? []) applySuite(suite, changed);
  if (isFirst && chosen === null) chosen = suites.size === 1 ? [...suites.keys()][0] : "";
  if (chosen && !suites.has(chosen)) chosen = "";
  byId("page").hidden = false;
  showSuites();
  showUndo();
  showList();
  if (isFirst) return;
  flash(changed);
  announce(changed);
}

function applySuite(update, changed) {
  if (update.gone) return suites.delete(update.name);
  const isNew = !suites.has(update.name);
  const suite = suites.get(update.name) ?? { name: update.name, info: {}, rows: new Map(), sorted: null };
  suites.set(update.name, suite);
  if (update.info) suite.info = update.info;
  const before = suite.rows;
  if (update.whole) suite.rows = new Map();
  for (const name of update.removed ?? []) suite.rows.delete(name);
  for (const row of update.rows ?? []) {
    const old = before.get(row.name);
    // A change of another layer counts even if the value stays the same.
    if (!isNew && (!old || old.text !== row.text || `${old.layers}` !== `${row.layers}`)) changed.add(key(suite, row));
    row.suite = update.name;
    const { title = "", section = "", description = "", formerly = [] } = row.schema ?? {};
    const texts = [row.name, row.hidden ? "" : row.text ?? "", title, section, description, ...formerly];
    row.words = texts.join("\n").toLowerCase();
    suite.rows.set(row.name, row);
  }
  suite.sorted = null;
}

const key = (suite, row) => `${suite.name}\n${row.name}`;
const keyOf = (row) => `${row.suite}\n${row.name}`;

/** Compares by UTF-16 code units, which is fast and doesn't depend on the locale. */
const byName = (left, right) => (left.name < right.name ? -1 : left.name > right.name ? 1 : 0);

function sortedRows(suite) {
  suite.sorted ??= [...suite.rows.values()].sort(byName);
  return suite.sorted;
}

function findRow(rowKey) {
  if (rowKey === null) return null;
  const end = rowKey.indexOf("\n");
  return suites.get(rowKey.slice(0, end))?.rows.get(rowKey.slice(end + 1)) ?? null;
}

const isDamaged = (suite) =>
  suite.info.damage?.length > 0 || Boolean(suite.info.failure) || sortedRows(suite).some((row) => row.problem);

/** Returns the reason why the user can't change a row, or null if the user can. */
function reasonHeld(row) {
  const { info } = suites.get(row.suite);
  if (row.hidden) return row.hidden;
  if (isReadOnly) return "This page was started with --read-only.";
  if (row.isManaged) return `An administrator manages this value${layerPath(info, "managed")}.`;
  if (info.unwritable) return `It can't be written: ${info.unwritable}.`;
  return null;
}

function layerPath(info, source) {
  const path = info.layers?.find((layer) => layer.source === source)?.path;
  return path ? ` in ${path}` : "";
}

/** Returns a value for display: a date or data, which is an object with one member in the file, is shown as plain text. */
function shownValue(text) {
  if (text === undefined || text === "") return "—";
  // A key of a dictionary that begins with `$` has a second `$`.
  if (/^\{"\$[^$]/.test(text)) {
    const [inner, ...others] = Object.values(JSON.parse(text));
    if (others.length === 0 && typeof inner === "string" && text.length < 4000) return inner === "" ? "(empty)" : inner;
  }
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

// MARK: Suites

/** The suite that is shown; "" for all. */
let chosen = null;

function showSuites() {
  const names = [...suites.keys()].sort();
  const total = [...suites.values()].reduce((sum, suite) => sum + suite.rows.size, 0);
  const entries = names.map((name) => ({ name, label: printable(name), count: suites.get(name).rows.size, damaged: isDamaged(suites.get(name)) }));
  if (names.length !== 1) entries.unshift({ name: "", label: "All suites", count: total, damaged: false });
  const focused = document.activeElement?.dataset?.suite;
  byId("suites").replaceChildren(...entries.map(suiteItem));
  if (focused !== undefined) [...byId("suites").querySelectorAll("button")].find((one) => one.dataset.suite === focused)?.focus();
  const select = byId("suite-select");
  // Replacing the options would close an open menu.
  if (document.activeElement !== select) {
    select.replaceChildren(...entries.map(({ name, label, damaged }) => make("option", { value: name }, damaged ? `${label} (damaged)` : label)));
  }
  select.value = chosen;
  document.title = chosen ? `${printable(chosen)} – Preferences` : "Preferences";
}

function suiteItem({ name, label, count, damaged }) {
  const button = make(
    "button", { type: "button", title: label, onclick: () => choose(name) },
    make("span", { className: "label" }, label),
    damaged ? make("span", { className: "dot", attributes: { role: "img", "aria-label": "damaged" } }) : null,
    make("span", { className: "count" }, String(count)),
  );
  button.dataset.suite = name;
  if (name === chosen) button.setAttribute("aria-current", "true");
  return make("li", {}, button);
}

function choose(name) {
  chosen = name;
  active = 0;
  byId("scroll").scrollTop = 0;
  showSuites();
  showList();
}

/** Shows the failure and the damage of the suite. */
function showNotices() {
  const shown = chosen ? [suites.get(chosen)] : [...suites.values()];
  const texts = shown.flatMap(({ name, info }) =>
    [info.failure, ...(info.damage ?? [])].filter(Boolean).map((text) => (chosen ? text : `${printable(name)}: ${text}`)),
  );
  const notices = byId("notices");
  if ([...notices.children].map((child) => child.textContent).join("\n") === texts.join("\n")) return;
  notices.replaceChildren(...texts.map((text) => make("p", {}, text)));
}

// MARK: List

/** The rows that pass search and filter, in order. */
let view = [];
/** The index of the row that the arrow keys move from. */
let active = 0;
/** The key of the row that the panel shows. */
let opened = null;
let filter = "all";
/** The elements of visible rows by their index. */
const elements = new Map();

const filters = {
  all: () => true,
  set: (row) => row.isSet,
  differs: (row) => row.differs,
  damaged: (row) => row.problem,
};

function showList() {
  const activeKey = view[active] ? keyOf(view[active]) : null;
  const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = chosen ? [suites.get(chosen)] : [...suites.keys()].sort().map((name) => suites.get(name));
  view = shown.flatMap(sortedRows).filter(
    (row) => filters[filter](row) && words.every((word) => row.words.includes(word) || (!chosen && row.suite.toLowerCase().includes(word))),
  );
  const place = view.findIndex((row) => keyOf(row) === activeKey);
  active = place >= 0 ? place : Math.min(active, Math.max(0, view.length - 1));
  byId("space").style.height = `${view.length * rowHeight}px`;
  byId("grid").setAttribute("aria-rowcount", view.length + 1);
  showFilters();
  showNotices();
  showEmpty();
  showRows();
  showDetail();
}

function showFilters() {
  for (const button of byId("filters").children) {
    button.setAttribute("aria-pressed", button.dataset.filter === filter);
  }
}

function showEmpty() {
  const texts = {
    all: suites.size === 0 ? "There is no suite yet. A suite is shown as soon as a program writes one." : "This suite has no values yet.",
    set: "No value is set.",
    differs: "No value is known to differ from its default.",
    damaged: "No value is damaged.",
  };
  byId("empty").hidden = view.length > 0;
  byId("empty").textContent = byId("search").value ? "Nothing matches the search." : texts[filter];
}

/** Shows the visible rows, and reuses the elements of rows that are no longer visible. */
function showRows() {
  const scroll = byId("scroll");
  const first = Math.max(0, Math.floor(scroll.scrollTop / rowHeight) - 8);
  const last = Math.min(view.length, Math.ceil((scroll.scrollTop + scroll.clientHeight) / rowHeight) + 8);
  const free = [];
  for (const [index, element] of elements) {
    if (index >= first && index < last) continue;
    elements.delete(index);
    free.push(element);
  }
  for (let index = first; index < last; index++) {
    let element = elements.get(index);
    if (!element) {
      element = free.pop() ?? scroll.appendChild(makeRow());
      elements.set(index, element);
    }
    fillRow(element, view[index], index);
  }
  for (const element of free) element.remove();
  const shown = elements.get(active);
  if (shown) byId("grid").setAttribute("aria-activedescendant", shown.id);
  else byId("grid").removeAttribute("aria-activedescendant");
}

function makeRow() {
  const cell = (name) => make("span", { className: `cell ${name}`, attributes: { role: "gridcell" } });
  const row = make("div", { attributes: { role: "row" } }, cell("name"), cell("value"), cell("source"));
  row.onclick = () => {
    active = row.index;
    open(view[row.index]);
  };
  return row;
}

function fillRow(element, row, index) {
  const isOpen = keyOf(row) === opened;
  element.classList.toggle("active", index === active);
  element.setAttribute("aria-selected", isOpen);
  if (element.index !== index) {
    element.index = index;
    element.id = `row-${index}`;
    element.style.transform = `translateY(${index * rowHeight}px)`;
    element.setAttribute("aria-rowindex", index + 2);
  }
  if (element.row === row && element.ofAll === !chosen) return;
  if (element.row && keyOf(element.row) !== keyOf(row)) for (const animation of element.getAnimations()) animation.cancel();
  element.row = row;
  element.ofAll = !chosen;
  element.className = "row";
  element.classList.toggle("active", index === active);
  for (const name of ["differs", "problem"]) element.classList.toggle(name, Boolean(row[name]));
  element.classList.toggle("unset", !row.isSet);
  const [name, value, source] = element.children;
  name.replaceChildren(...(chosen ? [] : [make("span", { className: "suite" }, `${printable(row.suite)} / `)]), printable(row.name));
  const title = row.schema?.title;
  if (title) name.append(make("span", { className: "title" }, ` ${printable(title)}`));
  value.replaceChildren(shownValue(row.text));
  if (row.differs) value.append(make("span", { className: "unseen" }, " (not the default)"));
  source.replaceChildren(pill(row.source));
}

/** Highlights changed rows for a moment. */
function flash(changed) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const color = getComputedStyle(document.documentElement).getPropertyValue("--flash");
  for (const element of elements.values()) {
    if (changed.has(keyOf(element.row))) element.animate([{ backgroundColor: color }, {}], { duration: 1400, easing: "ease-out" });
  }
}

/** Announces changes to screen readers. */
function announce(changed) {
  if (changed.size === 0) return;
  const [first] = changed;
  const row = findRow(first);
  byId("live").textContent = changed.size > 1
    ? `${changed.size} values changed`
    : row ? `${printable(row.name)} is now ${shownValue(row.text)}` : "";
}

// MARK: Panel of a preference

/** The open panel: `key`, `shape` and `row` of what it shows, its `control` and its other `parts`; null while it is closed. */
let panel = null;

function open(row) {
  opened = row ? keyOf(row) : null;
  showRows();
  showDetail();
}

function close() {
  open(null);
  byId("grid").focus();
}

/** Shows the opened row; while the user types, the control stays, even if the value is removed or gets another type. */
function showDetail() {
  const row = findRow(opened);
  const detail = byId("detail");
  const isTyped = panel !== null && panel.key === opened && panel.control.isDirty();
  if (row === null && isTyped) {
    if (panel.state !== null) showMessage("The value was removed while you typed; your text is kept.", false);
    panel.state = null;
    return;
  }
  detail.hidden = row === null;
  if (row === null) {
    panel = null;
    detail.replaceChildren();
    return;
  }
  const { info } = suites.get(row.suite);
  const state = JSON.stringify([info.layers, info.unwritable, isReadOnly, row]);
  const isSame = isTyped || (panel?.key === opened && panel.shape === shape(row));
  if (isSame && panel.state === state) return;
  if (!isSame) panel = makePanel(row);
  panel.state = state;
  fillPanel(row, isSame);
}

/** Returns the state that the control depends on; the control is replaced only if it changes. */
const shape = (row) => JSON.stringify([row.schema, row.kind, reasonHeld(row) ?? controlMaker(row).name]);

function makePanel(row) {
  const parts = Object.fromEntries(["value", "problem", "actions", "facts", "layers"].map((name) => [name, make("div")]));
  parts.message = make("p", { className: "message", attributes: { role: "alert" } });
  const held = reasonHeld(row);
  const control = held ? makeHeld(held) : controlMaker(row)(row);
  byId("detail").replaceChildren(
    make(
      "header", {},
      make("div", {}, make("h2", {}, printable(row.name)), make("p", { className: "dim" }, printable(row.suite))),
      make("button", { type: "button", className: "close", title: "Close (Escape)", onclick: close, attributes: { "aria-label": "Close" } }, icon("close")),
    ),
    ...(row.schema?.description ? [make("p", { className: "description" }, row.schema.description)] : []),
    control.element, parts.problem, parts.message, parts.actions, parts.facts, parts.layers,
  );
  return { key: keyOf(row), shape: shape(row), row, control, parts };
}

/** Updates the panel; `isSame` if its control wasn't replaced. */
function fillPanel(row, isSame) {
  const { control, parts } = panel;
  const held = reasonHeld(row);
  panel.row = row;
  parts.problem.replaceChildren(...(row.problem ? [make("p", { className: "message wrong" }, row.problem)] : []));
  if (isSame && control.isDirty()) {
    if (held) showMessage(`${held} Your text is kept, but can't be saved.`, false);
    else showMessage(row.text === panel.sent ? "" : `The value was changed to ${shownValue(row.text)} while you typed; your text is kept.`, false);
  } else {
    control.show(row);
    if (isSame) showMessage("", false);
  }
  fillActions(row, held);
  fillFacts(row);
  fillLayers(row);
}

function showMessage(text, isWrong) {
  if (!panel) return;
  panel.parts.message.textContent = text;
  panel.parts.message.classList.toggle("wrong", isWrong);
}

function fillActions(row, held) {
  const buttons = [];
  if (!held && row.isOwn) buttons.push(actionButton("Reset", "Remove your value", () => change("/api/delete", row)));
  // On a cluster, the command would need the options of `prefs serve`.
  if (row.source !== "etcd") buttons.push(actionButton("Copy command", readCommand(row), () => copyCommand(row)));
  const actions = make("div", { className: "actions" }, ...buttons);
  // The focus stays on the same button.
  const focused = [...panel.parts.actions.querySelectorAll("button")].indexOf(document.activeElement);
  panel.parts.actions.replaceChildren(actions);
  if (focused >= 0) (buttons[focused] ?? buttons[buttons.length - 1] ?? byId("detail").querySelector(".close")).focus();
}

function actionButton(text, title, onclick) {
  return make("button", { type: "button", className: "button", title, onclick }, text);
}

const quoted = (word) => (/^[\w.:@%+,\/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

const readCommand = (row) =>
  row.source === "file" ? `prefs read --file ${quoted(row.suite)} ${quoted(row.name)}` : `prefs read ${quoted(row.suite)} ${quoted(row.name)}`;

async function copyCommand(row) {
  try {
    await navigator.clipboard.writeText(readCommand(row));
    showMessage("Copied.", false);
  } catch {
    showMessage(readCommand(row), false);
  }
}

function fillFacts(row) {
  const { type, allowed, default: standard, required, title, section, deprecated, formerly } = row.schema ?? {};
  const texts = [["Type", type ?? row.kind], ["Title", title], ["Section", section], ["Required", required && "yes"]];
  if (deprecated !== undefined) texts.push(["Deprecated", deprecated || "yes"]);
  const values = [
    ["Allowed", allowed], ["Default", standard && shownValue(standard)], ["Formerly", formerly?.join(", ")], ["Stored as", row.storedAs],
  ];
  const entries = [[texts, ""], [values, "mono"]].flatMap(([facts, className]) =>
    facts.filter(([, text]) => text).flatMap(([name, text]) => [make("dt", {}, name), make("dd", { className }, text)]));
  panel.parts.facts.replaceChildren(make("dl", { className: "facts" }, ...entries));
}

/** Lists all layers in order of decreasing precedence, and marks the one in use. */
async function fillLayers(row) {
  const { info } = suites.get(row.suite);
  const winner = row.layers.findLastIndex((text) => text !== "");
  const items = row.layers.map((text, index) => {
    const { source = "", path = "" } = info.layers?.[index] ?? {};
    return layerItem(source, text, path, index === winner, text === "");
  });
  const standard = layerItem("default", row.schema?.default ?? "", info.schema ?? "", winner < 0, !row.schema?.default);
  panel.parts.layers.replaceChildren(
    make("h3", { id: "layers-title" }, "Origin"),
    make("ul", { className: "layers", attributes: { "aria-labelledby": "layers-title" } }, ...[standard, ...items].reverse()),
  );
  await showLines(row, items.map((item) => item.querySelector(".path")));
}

function layerItem(source, text, path, wins, isUnset) {
  return make(
    "li", { className: wins ? "winner" : "over" },
    make("span", {}, pill(source)),
    make("span", { className: "mono" }, isUnset ? "not set" : shownValue(text), wins && !isUnset ? make("span", { className: "wins" }, "in use") : null),
    path ? make("span", { className: "path" }, ...breakable(path)) : null,
  );
}

/** Returns a path that may be wrapped after each slash. */
const breakable = (path) => path.split(/(?<=\/)/).flatMap((part) => [part, make("wbr")]).slice(0, -1);

/** Adds the line numbers of the value in the layers' files, which the server looks up for one row at a time. */
async function showLines(row, paths) {
  try {
    const query = new URLSearchParams({ suite: row.suite, name: row.name });
    const response = await request(`/api/origin?${query}`);
    if (!response.ok) return;
    const { lines } = await response.json();
    lines.forEach((line, index) => {
      if (line > 0 && paths[index]) paths[index].append(`:${line}`);
    });
  } catch (error) {
    // Only the path is shown; the bar reports that the server can't be reached.
    console.debug(error);
  }
}

// MARK: Controls

/** Sends a change of a row, and shows below the control why it was rejected; returns whether it was accepted. */
async function change(path, row, text) {
  if (!panel) return false;
  const { control } = panel;
  const { typed } = control;
  panel.sent = text;
  try {
    await send(path, { suite: row.suite, name: row.name, text });
    if (panel?.control === control) {
      showMessage("", false);
      if (control.typed === typed) finishEdit(row, path === "/api/delete");
    }
    return true;
  } catch (error) {
    if (panel?.control === control) showMessage(error.message, true);
    return false;
  }
}

/** Ends an edit whose change was sent while `row` was shown. */
function finishEdit(row, isRemoved) {
  panel.control.finish();
  // The typed text stays until the server sends the new row, which may have arrived before its answer.
  if (panel.row !== row || isRemoved) panel.control.show(panel.row);
  if (findRow(opened)) showDetail();
}

/** Sends the choice of a control without text; if it is rejected, shows the stored value again. */
async function commit(control, text) {
  if (panel?.control !== control) return;
  if (!(await change("/api/write", panel.row, text)) && panel?.control === control) control.show(panel.row);
}

/**
 * Returns the function that creates the control for a row. A control has `element`, `show(row)`, `isDirty()`, `finish()`, which ends
 * an edit, and `typed`, the number of input events.
 */
function controlMaker(row) {
  const { kind, text } = row;
  // The server chooses the control for the declaration; a stored value may be of another kind, or have another form.
  const isNumber = (text === undefined || /^[-\d]/.test(text));
  const isPlainText = (kind ?? "string") === "string" && isOneLine(text);
  switch (row.control) {
    case "picker": return row.schema?.choices ? makeMenu : makeArea;
    case "toggle": return (kind ?? "boolean") === "boolean" ? makeSwitch : makeArea;
    case "stepper": case "slider":
      if (text === undefined || ((kind === "integer" || kind === "number") && Number.isFinite(Number(text)))) return makeSlider;
      return isNumber ? makeNumber : makeArea;
    case "number": return isNumber ? makeNumber : makeArea;
    case "date": return (kind ?? "date") === "date" && isPlainDate(text) ? makeDate : makeArea;
    case "text": return isPlainText ? makeText : makeArea;
    default: return makeArea;
  }
}

/** Returns whether a field of one line can show the text; browsers remove line breaks from it. */
const isOneLine = (text) => text === undefined || !/[\n\r]/.test(JSON.parse(text));

function makeHeld(reason) {
  const value = make("span", { className: "mono" });
  return {
    element: make("div", { className: "held" }, value, make("p", {}, icon("lock"), make("span", {}, reason))),
    show: (row) => { value.textContent = row.pretty ?? shownValue(row.text); },
    isDirty: () => false,
    finish: () => {},
    typed: 0,
  };
}

/** Creates a control whose changes are sent immediately. */
function makeSwitch(row) {
  const input = make("input", { type: "checkbox", className: "switch", attributes: { role: "switch", "aria-label": row.name } });
  const label = make("span", { className: "mono" });
  const show = (row) => {
    input.checked = row.text === "true";
    label.textContent = row.text ?? "not set";
  };
  const control = { element: make("div", { className: "control" }, input, label), show, isDirty: () => false, finish: () => {}, typed: 0 };
  input.onchange = () => commit(control, String(input.checked));
  return control;
}

function makeMenu(row) {
  const { choices } = row.schema;
  const select = make("select", { attributes: { "aria-label": row.name } });
  const show = (row) => {
    // A value that isn't one of the choices, or isn't set, is shown, too.
    const texts = choices.includes(row.text) ? choices : [row.text ?? "", ...choices];
    select.replaceChildren(...texts.map((text) => make("option", { value: text }, choiceTitle(text))));
    select.value = row.text ?? "";
  };
  const control = { element: make("div", { className: "control" }, select), show, isDirty: () => false, finish: () => {}, typed: 0 };
  select.onchange = () => commit(control, select.value);
  return control;
}

const choiceTitle = (text) => (text.startsWith('"') ? JSON.parse(text) || "(empty)" : text || "not set");

function makeSlider(row) {
  const { minimum, maximum } = row.schema;
  const type = row.schema.type ?? row.kind;
  const step = type === "integer" ? "1" : String((Number(maximum) - Number(minimum)) / 100);
  const slider = make("input", { type: "range", min: minimum, max: maximum, step, attributes: { "aria-label": row.name } });
  const field = make("input", { type: "text", inputMode: "decimal", className: "number mono", attributes: { "aria-label": `${row.name}, exactly` } });
  const control = makeForm(field, () => field.value.trim(), (row) => {
    slider.value = row.text ?? minimum;
    field.value = row.text ?? "";
  });
  control.element.prepend(slider);
  // Adding fractional steps leaves rounding errors in the last digits.
  const rounded = () => (type === "integer" ? slider.value : String(Number(Number(slider.value).toPrecision(12))));
  let isSliding = false;
  slider.oninput = () => {
    field.value = rounded();
    isSliding = true;
    control.typed += 1;
  };
  slider.onchange = () => { if (panel?.control === control) change("/api/write", panel.row, rounded()); };
  const isTyped = control.isDirty;
  const finishField = control.finish;
  return Object.assign(control, {
    isDirty: () => isSliding || isTyped(),
    finish: () => {
      isSliding = false;
      finishField();
    },
  });
}

/** Creates a control whose text is sent on Enter or with its button. */
function makeForm(input, read, show) {
  let isDirty = false;
  const save = make("button", { type: "submit", className: "button main", hidden: true }, "Save");
  const setDirty = (value) => {
    isDirty = value;
    save.hidden = !value;
  };
  const form = make("form", { className: "control" }, input, save);
  const control = { element: form, show, isDirty: () => isDirty, finish: () => setDirty(false), typed: 0 };
  input.oninput = () => {
    control.typed += 1;
    setDirty(true);
  };
  form.onsubmit = (event) => {
    event.preventDefault();
    if (panel?.control === control) change("/api/write", panel.row, read());
  };
  return control;
}

const makeNumber = (row) => makeField(row, (text) => text, (text) => text.trim(), "decimal");

const makeText = (row) => makeField(row, (text) => JSON.parse(text), (text) => JSON.stringify(text), "text");

function makeField(row, shown, stored, inputMode) {
  const input = make("input", { type: "text", inputMode, className: "mono", autocomplete: "off", spellcheck: false, attributes: { "aria-label": row.name } });
  return makeForm(input, () => stored(input.value), (row) => { input.value = row.text === undefined ? "" : shown(row.text); });
}

function makeArea(row) {
  const area = make("textarea", { spellcheck: false, attributes: { "aria-label": `${row.name}, as JSON` } });
  const control = makeForm(area, () => area.value, (row) => { area.value = row.pretty ?? row.text ?? ""; });
  area.onkeydown = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) control.element.requestSubmit();
  };
  return control;
}

/** Returns whether the control for dates can show the text: it has only milliseconds and years of four digits. */
const isPlainDate = (text) => text === undefined || /^\{"\$date":"(?!0000)\d{4}-[-\dT:]{14}(\.\d{1,3})?Z"\}$/.test(text);

function makeDate(row) {
  const input = make("input", { type: "datetime-local", step: "1", attributes: { "aria-label": `${row.name}, in local time` } });
  const read = () => {
    const date = new Date(input.value);
    // The server reports that other text isn't a date.
    return Number.isNaN(date.getTime()) ? input.value : JSON.stringify({ $date: date.toISOString().replace(/\.?0*Z$/, "Z") });
  };
  return makeForm(input, read, (row) => {
    if (row.text === undefined) return;
    const date = new Date(JSON.parse(row.text).$date);
    input.step = date % 1000 === 0 ? "1" : "0.001";
    input.value = new Date(date - date.getTimezoneOffset() * 60_000).toISOString().replace(/(\.000)?Z$/, "");
  });
}

// MARK: Undo

function showUndo() {
  const button = byId("undo");
  button.hidden = isReadOnly;
  button.disabled = lastEdit === null;
  button.title = lastEdit ? `Undo the change of ${printable(lastEdit.name)} (Ctrl-Z)` : "There is no edit of a page to undo";
}

async function undo() {
  if (isReadOnly || lastEdit === null) return;
  try {
    const { name } = await send("/api/undo");
    byId("live").textContent = `The change of ${printable(name)} was undone`;
  } catch (error) {
    if (panel) showMessage(error.message, true);
    byId("live").textContent = error.message;
    showNote(error.message);
  }
}

/** Shows a temporary note in the bar. */
function showNote(text) {
  showBar(text, "note");
  setTimeout(() => { if (bar.note === text) showBar(null, "note"); }, 6000);
}

// MARK: Keys

const isText = (element) => element?.matches?.("input:not([type=checkbox], [type=range]), textarea, select") ?? false;

function moveTo(index) {
  if (view.length === 0) return;
  active = Math.max(0, Math.min(view.length - 1, index));
  const scroll = byId("scroll");
  const top = active * rowHeight;
  if (top < scroll.scrollTop) scroll.scrollTop = top;
  if (top + rowHeight > scroll.scrollTop + scroll.clientHeight) scroll.scrollTop = top + rowHeight - scroll.clientHeight;
  // An open panel shows the new row.
  if (opened !== null) opened = keyOf(view[active]);
  showRows();
  showDetail();
}

function openActive() {
  if (!view[active]) return;
  open(view[active]);
  const detail = byId("detail");
  // In two steps, as the button stands before the control.
  (detail.querySelector(".control :is(input, select, textarea)") ?? detail.querySelector(".close"))?.focus();
}

byId("grid").addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const page = Math.max(1, Math.floor(byId("scroll").clientHeight / rowHeight) - 1);
  const moves = {
    ArrowDown: () => moveTo(active + 1), ArrowUp: () => moveTo(active - 1), Home: () => moveTo(0), End: () => moveTo(view.length - 1),
    PageDown: () => moveTo(active + page), PageUp: () => moveTo(active - page), Enter: openActive,
  };
  if (!moves[event.key]) return;
  event.preventDefault();
  moves[event.key]();
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    if (event.target === byId("search") && byId("search").value) return;
    if (opened !== null) close();
    else if (event.target === byId("search")) byId("grid").focus();
  } else if (event.key === "/" && !isText(event.target)) {
    event.preventDefault();
    byId("search").focus();
  } else if (event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !isText(event.target)) {
    event.preventDefault();
    undo();
  }
});

byId("search").addEventListener("keydown", (event) => {
  if (event.key !== "ArrowDown" && event.key !== "Enter") return;
  event.preventDefault();
  byId("grid").focus();
});
byId("search").addEventListener("input", () => { byId("scroll").scrollTop = 0; showList(); });
byId("filters").addEventListener("click", (event) => {
  if (!event.target.dataset.filter) return;
  filter = event.target.dataset.filter;
  byId("scroll").scrollTop = 0;
  showList();
});
byId("suite-select").addEventListener("change", (event) => choose(event.target.value));
byId("undo").addEventListener("click", undo);
byId("scroll").addEventListener("scroll", showRows, { passive: true });
new ResizeObserver(showRows).observe(byId("scroll"));

follow();
