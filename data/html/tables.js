/* Tables: what is summed by name, sorted by any column. */
const ROWS_FIRST = 20;

class Sum {
  constructor() { this.count = 0; this.total = 0; this.low = Infinity; this.high = 0; this.bytes = 0; this.modelled = 0; this.times = []; }
  add(length) {
    this.count++;
    this.total += length;
    if (length < this.low) this.low = length;
    if (length > this.high) this.high = length;
    this.times.push(length);
  }
  get mean() { return this.total / this.count; }
  get median() {
    if (this.middle === undefined) {
      const sorted = Float64Array.from(this.times).sort(), half = sorted.length >> 1;
      this.middle = sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
      this.times = null;
    }
    return this.middle;
  }
}

/* Where the page has only the longest records: sums of all of them, which it was given. */
function sumsRead(kinds) {
  const first = new Map();
  for (let e = 0; e < events.count; e++) if (!first.has(events.name[e])) first.set(events.name[e], e);
  return croc.extra.sum.filter((s) => kinds.includes(s.kind)).map((s) => {
    const sum = new Sum();
    Object.assign(sum, {name: textNumber(s.name), kind: s.kind, of: s.of, count: Number(s.count), total: Number(s.total), low: Number(s.low), high: Number(s.high), middle: NaN, bytes: NaN, modelled: Number(s.modelled || 0)});
    const event = first.get(sum.name);
    if (event !== undefined && events.kinds[events.kind[event]] === s.kind) sum.event = event;
    return sum;
  });
}

/* One sum for each name of the events of these kinds; `of` may part them further. */
function sumsMake(kinds, of) {
  if (croc.extra.sum.length) return sumsRead(kinds);
  const sums = new Map(), isWanted = events.kinds.map((kind) => kinds.includes(kind));
  for (let e = 0; e < events.count; e++) {
    if (!isWanted[events.kind[e]]) continue;
    const kind = events.kinds[events.kind[e]], key = of ? of(kind, e) : events.name[e];
    let sum = sums.get(key);
    if (!sum) { sum = new Sum(); sum.name = events.name[e]; sum.kind = kind; sum.event = e; sums.set(key, sum); }
    sum.add(events.length[e]);
    if (kind === "kernel" || kind === "counted") sum.modelled += croc.streams[kind].get("modelled", events.row[e]);
    if (kind === "copy") sum.bytes += croc.streams.copy.get("bytes", events.row[e]);
  }
  return [...sums.values()];
}

/* columns: {title, value(row), show(value, row), words}. The first one is the name. */
function tableShow(id, columns, rows, sortBy = 2, falling = true) {
  const table = $(id).querySelector("table"), state = {column: sortBy, falling, limit: ROWS_FIRST};
  const head = make("tr", {}, ...columns.map((column, i) => make("th", {scope: "col", class: column.words ? "words" : ""},
    make("button", {type: "button", onclick: () => { state.falling = state.column === i ? !state.falling : !column.words; state.column = i; fill(); }}, column.title))));
  const body = make("tbody", {});
  const more = make("button", {type: "button", class: "more", onclick: () => { state.limit *= 10; fill(); }});
  function fill() {
    const column = columns[state.column], sign = state.falling ? -1 : 1;
    const sorted = rows.map((row) => [column.value(row), row]);
    sorted.sort(([a], [b]) => sign * (typeof a === "string" ? a.localeCompare(b) : (Number.isFinite(a) ? a : -Infinity) - (Number.isFinite(b) ? b : -Infinity)));
    [...head.children].forEach((th, i) => th.setAttribute("aria-sort", i !== state.column ? "none" : state.falling ? "descending" : "ascending"));
    body.replaceChildren(...sorted.slice(0, state.limit).map(([, row]) => make("tr", {}, ...columns.map((c) => {
      const cell = make("td", c.words ? {class: "words"} : {}, c.show(c.value(row), row));
      if (c.hint) cell.title = c.hint(row);
      return cell;
    }))));
    more.hidden = rows.length <= state.limit;
    more.textContent = "Show more of " + countText(rows.length);
  }
  table.replaceChildren(make("thead", {}, head), body);
  table.after(more);
  $(id).hidden = false;
  fill();
}

function nameColumn(title, textOf) {
  return {title, words: true, value: textOf, hint: textOf, show: (text) => make("button", {type: "button", onclick: () => {
    $("search").value = text;
    search(text);
    $("timeline").scrollIntoView({behavior: "smooth"});
  }}, shortText(text, 90))};
}
const timeColumn = (title, value) => ({title, value, show: timeText});
const countColumn = (title, value) => ({title, value, show: countText});
const textOf = (sum) => croc.texts[sum.name] || "unknown";

function timeColumns(rows) {
  const all = rows.reduce((sum, row) => sum + row.total, 0) || 1;
  return [countColumn("Calls", (s) => s.count), timeColumn("Total", (s) => s.total),
    {title: "Share", value: (s) => s.total / all, show: (v) => make("span", {}, make("span", {class: "share", style: `width:${(v * 60).toFixed(1)}px`}), (v * 100).toFixed(1) + "\u202f%")},
    timeColumn("Mean", (s) => s.mean), timeColumn("Median", (s) => s.median), timeColumn("Min", (s) => s.low), timeColumn("Max", (s) => s.high)];
}

const boundOf = (s) => (croc.facts.find((f) => f.name === textOf(s)) || {}).bound || "";

function kernelsShow() {
  const rows = sumsMake(["kernel", "counted"]);
  croc.kernels = rows;
  if (!rows.length) return;
  const at = (name) => (s) => s.event === undefined ? NaN : croc.streams[s.kind].get(name, events.row[s.event]);
  const bounds = croc.facts.some((f) => f.bound)
    ? [{title: "Bound by", words: true, value: boundOf, show: (v) => v.replace(/^Bound by ([^:,]*).*$/s, "$1"), hint: boundOf}] : [];
  // A device's own model ranks, where it has one: its other times are of something else.
  const modelled = rows.some((s) => s.modelled) ? [timeColumn("Modelled", (s) => s.modelled)] : [];
  tableShow("kernels", [nameColumn("Kernel", textOf), ...bounds, ...modelled, ...timeColumns(rows),
    countColumn("VGPRs", at("vgprs")), countColumn("SGPRs", at("sgprs")), {title: "LDS", value: at("lds"), show: bytesText},
    {title: "Scratch", value: at("scratch"), show: bytesText}], rows, modelled.length ? 1 + bounds.length : 2 + bounds.length);
}

function callsShow() {
  const rows = sumsMake(["api", "marker"], (kind, e) => events.name[e] * 65536 + croc.streams[kind].get("domain", events.row[e]));
  croc.calls = rows;
  if (!rows.length) return;
  tableShow("api", [nameColumn("Name", textOf), ...timeColumns(rows),
    {title: "Of", words: true, value: (s) => s.of ? s.of.replace(/_stats$/, "") : croc.streams[s.kind].text("domain", events.row[s.event]), show: (v) => v.replace(/_API(_EXT)?$/, "").replaceAll("_", " ").toLowerCase()}], rows);
}

function copiesShow() {
  const rows = sumsMake(["copy"]);
  croc.copies = rows;
  if (!rows.length) return;
  tableShow("copies", [nameColumn("Direction", textOf), ...timeColumns(rows), {title: "Bytes", value: (s) => s.bytes, show: bytesText},
    {title: "Rate", value: (s) => s.total ? s.bytes / s.total * 1e9 : NaN, show: (v) => Number.isFinite(v) ? rateText(v) + "B/s" : "-"}], rows);
}

/* What the device did for them: calls that record events stand among the calls. */
function hipEventsShow() {
  const rows = sumsMake(["event"]);
  croc.hip_events = rows;
  if (rows.length) tableShow("hip_events", [nameColumn("Event", textOf), ...timeColumns(rows)], rows);
}

/* As crocprof's tables have them: "~" before an approximation, "-" for what the device does not count. */
const qualityOf = (counter) => (croc.extra.quality.find((q) => q.counter === counter) || {}).class || "";
const counterTitle = (counter) => (qualityOf(counter) === "approximate" ? "~" : "") + counter;
const counterText = (counter) => qualityOf(counter) === "not counted" ? () => "-" : valueText;

/* Values of one dispatch, for its details: the rows of counters are looked through. */
function countersOf(process, dispatch) {
  const s = croc.streams.counter, out = [];
  for (let r = 0; r < s.rows && out.length < 400; r++)
    if (s.get("dispatch", r) === dispatch && s.get("process", r) === process) out.push([counterTitle(s.text("counter", r)), counterText(s.text("counter", r))(s.get("value", r))]);
  return out;
}

function countersShow() {
  const s = croc.streams.counter, kernels = new Map(), names = new Map();
  for (let r = 0; r < s.rows; r++) {
    const kernel = s.get("name", r), counter = s.get("counter", r);
    if (!kernels.has(kernel)) kernels.set(kernel, {name: kernel, values: new Map(), launches: 0});
    if (!names.has(counter)) names.set(counter, names.size);
    const values = kernels.get(kernel).values, value = values.get(counter) || {sum: 0, count: 0};
    value.sum += s.get("value", r);
    value.count++;
    values.set(counter, value);
  }
  croc.counted = [...kernels.values()];
  if (!croc.counted.length) return;
  const mean = (counter) => (row) => { const v = row.values.get(counter); return v ? v.sum / v.count : NaN; };
  tableShow("counters", [nameColumn("Kernel", textOf), countColumn("Launches", (row) => Math.max(...[...row.values.values()].map((v) => v.count))),
    ...[...names.keys()].map((counter) => ({title: counterTitle(croc.texts[counter]), value: mean(counter), show: counterText(croc.texts[counter])}))], croc.counted, 1);
  const has = (what) => croc.extra.quality.some((q) => q.class === what);
  $("counter_notes").textContent = (has("approximate") ? "~ by the device's own word an approximation. " : "") + (has("not counted") ? "- the device says that it does not count this." : "");
}
