/* What moves the view, and what is searched and selected. */
function viewSet(t0, t1) {
  const [first, last] = croc.span, whole = last - first, margin = whole * .02;
  let span = Math.min(Math.max(t1 - t0, 20), whole + 2 * margin);
  t0 = Math.min(Math.max(t0, first - margin), last + margin - span);
  view.t0 = t0;
  view.t1 = t0 + span;
  drawSoon();
}
function zoom(factor, pixel = view.width / 2) {
  const time = timeOf(pixel), span = (view.t1 - view.t0) / factor;
  viewSet(time - span * pixel / view.width, time + span * (1 - pixel / view.width));
}
function move(part) {
  const by = (view.t1 - view.t0) * part;
  viewSet(view.t0 + by, view.t1 + by);
}
const showAll = () => viewSet(...croc.span);
function showEvent(event, context = 8) {
  const length = Math.max(events.length[event], 10), middle = events.start[event] + events.length[event] / 2;
  viewSet(middle - length * context / 2, middle + length * context / 2);
  const place = placeOf(event), scroll = $("scroll");
  if (place && (place.y < AXIS + HEAD || place.y > view.height - 2 * LANE)) scroll.scrollTop += place.y - view.height / 2;
}
Object.assign(croc, {zoom, move, showAll, viewSet, showEvent});

/* ---- search: which names match, then which events have one of them */
function search(text) {
  const words = text.trim().toLowerCase(), names = new Uint8Array(croc.texts.length);
  croc.query = words;
  croc.found = null;
  croc.current = -1;
  if (words) {
    croc.texts.forEach((name, i) => { if (i && name.toLowerCase().includes(words)) names[i] = 1; });
    const found = [];
    for (const track of tracks)
      for (const lane of track.lanes) {
        const at = [];
        for (let i = 0; i < lane.list.length; i++) if (names[events.name[lane.list[i]]]) at.push(i);
        lane.found = Uint32Array.from(at);
        for (const i of at) found.push(lane.list[i]);
      }
    croc.found = Uint32Array.from(found).sort((a, b) => events.start[a] - events.start[b]);
  }
  foundShow();
  drawSoon();
  return croc.found ? croc.found.length : 0;
}
function foundShow() {
  const count = croc.found ? croc.found.length : 0;
  $("found").textContent = !croc.found ? "" : !count ? "no match" : (croc.current < 0 ? "" : countText(croc.current + 1) + " of ") + countText(count) + (count === 1 ? " match" : " matches");
  $("next").disabled = $("previous").disabled = !count;
}
/* The next match behind what is selected, or the view's middle. */
function step(by) {
  const found = croc.found;
  if (!found || !found.length) return;
  if (croc.current < 0) {
    let at = 0;
    while (at < found.length && events.start[found[at]] < view.t0) at++;
    croc.current = by > 0 ? at % found.length : (at - 1 + found.length) % found.length;
  } else croc.current = (croc.current + by + found.length) % found.length;
  select(found[croc.current]);
  showEvent(found[croc.current], Math.min(Math.max((view.t1 - view.t0) / Math.max(events.length[found[croc.current]], 10), 8), 1e9));
  foundShow();
}
Object.assign(croc, {search, step});

/* ---- one event */
const hiddenFields = new Set(["name", "start", "length", "domain"]);
function fieldText(name, value) {
  if (name === "bytes" || name === "lds" || name === "scratch") return bytesText(value);
  if (name === "address" || name === "event") return "0x" + value.toString(16);
  if (name === "agent" || name === "source" || name === "destination") return agentText(value);
  return String(value);
}
const fieldNames = {id: "correlation id", lds: "LDS", vgprs: "VGPRs", acc_vgprs: "accumulation VGPRs", sgprs: "SGPRs", source: "from", destination: "to", source_queue: "recorded on queue", event: "hipEvent_t"};

function detailsOf(event) {
  const stream = croc.streams[events.kinds[events.kind[event]]], row = events.row[event], out = [];
  const start = stream.get("start", row);
  out.push(["start", timeText(start - croc.span[0])], ["duration", timeText(stream.get("length", row))]);
  if (stream.by.domain) out.push(["domain", stream.text("domain", row)]);
  for (const column of stream.columns) {
    if (column.name === "modelled") { if (column.get(row)) out.push(["modelled duration", timeText(column.get(row))]); continue; }
    if (hiddenFields.has(column.name) || /^(grid|group)_/.test(column.name)) continue;
    const value = column.get(row);
    if (column.type === "t") { if (value) out.push([column.name, croc.texts[value]]); continue; }
    out.push([fieldNames[column.name] || column.name.replace("_", " "), fieldText(column.name, value)]);
  }
  if (stream.by.grid_x)
    for (const what of ["grid", "group"]) out.push([what === "grid" ? "grid" : "work-group", ["x", "y", "z"].map((d) => stream.get(what + "_" + d, row)).join(" \u00d7 ")]);
  if (stream.by.bytes && stream.get("length", row) > 0 && stream.kind === "copy")
    out.push(["rate", rateText(stream.get("bytes", row) / stream.get("length", row) * 1e9) + "B/s"]);
  out.push(["absolute start", (croc.first + BigInt(Math.round(start))).toString() + "\u202fns"]);
  if (stream.by.dispatch) out.push(...countersOf(stream.get("process", row), stream.get("dispatch", row)));
  return out;
}
/* Calls and what they caused have one id. */
function relatedOf(event) {
  const kind = events.kinds[events.kind[event]], stream = croc.streams[kind], row = events.row[event], out = [];
  const id = stream.get("id", row), process = stream.by.process ? stream.get("process", row) : -1, isCall = kind === "api";
  if (!id || kind === "marker") return out;
  for (let e = 0; e < events.count && out.length < 64; e++) {
    const other = events.kinds[events.kind[e]];
    if (e === event || other === "marker" || (other === "api") === isCall) continue;
    const s = croc.streams[other], r = events.row[e];
    if (s.get("id", r) === id && (process < 0 || !s.by.process || s.get("process", r) === process)) out.push(e);
  }
  return out;
}
function select(event) {
  view.selected = event;
  view.related = event < 0 ? [] : relatedOf(event);
  $("zoom_selected").disabled = event < 0;
  const list = event < 0 ? [] : [make("dl", {}, make("h3", {}, croc.texts[events.name[event]] || "unknown"),
    ...detailsOf(event).map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))))];
  $("details").replaceChildren(...list);
  drawSoon();
}
function eventAt(x, y) {
  const top = $("scroll").scrollTop, time = timeOf(x), near = (view.t1 - view.t0) / view.width * 2;
  for (const track of tracks) {
    const l = Math.floor((y + top - track.y - HEAD) / LANE), lane = track.lanes[l];
    if (y < AXIS || y + top < track.y + HEAD || !lane) continue;
    for (const slack of [0, near]) {
      const event = lane.list[laneFind(lane, time - slack)];
      if (event !== undefined && events.start[event] <= time + slack) return event;
    }
  }
  return -1;
}
Object.assign(croc, {select, eventAt, detailsOf});

/* ---- pointer, wheel, keys */
function pointersFollow(canvas) {
  const down = new Map();
  let moved = false, wide = 0;
  const at = (e) => { const box = canvas.getBoundingClientRect(); return [e.clientX - box.left, e.clientY - box.top]; };
  const spread = () => { const [a, b] = [...down.values()]; return Math.max(Math.abs(a[0] - b[0]), 10); };
  canvas.addEventListener("pointerdown", (e) => {
    if (e.button) return;
    down.set(e.pointerId, at(e));
    canvas.setPointerCapture(e.pointerId);
    moved = false;
    if (e.shiftKey) view.range = [timeOf(at(e)[0]), timeOf(at(e)[0])];
    if (down.size === 2) wide = spread();
  });
  canvas.addEventListener("pointermove", (e) => {
    const last = down.get(e.pointerId), [x, y] = at(e);
    if (!last) { tipShow(eventAt(x, y), e); return; }
    if (Math.abs(x - last[0]) < 3 && !moved) return;
    moved = true;
    tipShow(-1);
    down.set(e.pointerId, [x, y]);
    if (down.size === 2) {
      const now = spread(), [a, b] = [...down.values()];
      zoom(now / wide, (a[0] + b[0]) / 2);
      wide = now;
    } else if (view.range) { view.range[1] = timeOf(x); drawSoon(); }
    else { move((last[0] - x) / view.width); if (e.pointerType === "mouse") $("scroll").scrollTop += last[1] - y; }
  });
  const up = (e) => {
    if (!down.delete(e.pointerId)) return;
    const range = view.range;
    view.range = null;
    if (range && moved) viewSet(Math.min(...range), Math.max(...range));
    else if (!moved && e.type === "pointerup") select(eventAt(...at(e)));
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => tipShow(-1));
  canvas.addEventListener("dblclick", (e) => { const event = eventAt(...at(e)); if (event >= 0) showEvent(event, 1.4); });
  canvas.addEventListener("wheel", (e) => {
    const unit = e.deltaMode === 1 ? 16 : 1;
    if (e.ctrlKey || e.metaKey) zoom(Math.exp(-e.deltaY * unit * .004), at(e)[0]);
    else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) move((e.deltaX || e.deltaY) * unit / view.width);
    else return;
    e.preventDefault();
  }, {passive: false});
}
function tipShow(event, at) {
  view.hover = event;
  $("canvas").style.cursor = event >= 0 ? "pointer" : "grab";
  $("canvas").title = event < 0 || !at ? "" : shortText(croc.texts[events.name[event]] || "unknown", 200) + "\n" + timeText(events.length[event]);
}
function overviewFollow() {
  const canvas = $("overview");
  const go = (e) => {
    if (!(e.buttons & 1)) return;
    const part = e.offsetX / view.width, [first, last] = croc.span, half = (view.t1 - view.t0) / 2, time = first + part * (last - first);
    viewSet(time - half, time + half);
  };
  canvas.addEventListener("pointerdown", (e) => { canvas.setPointerCapture(e.pointerId); go(e); });
  canvas.addEventListener("pointermove", go);
}
const keys = {
  w: () => zoom(1.5), "+": () => zoom(1.5), "=": () => zoom(1.5), s: () => zoom(1 / 1.5), "-": () => zoom(1 / 1.5),
  a: () => move(-.2), d: () => move(.2), arrowleft: () => move(-.2), arrowright: () => move(.2), f: showAll,
  z: () => { if (view.selected >= 0) showEvent(view.selected, 1.4); }, n: () => step(1), "/": () => $("search").focus(),
  escape: () => { $("search").value = ""; search(""); select(-1); },
};
function keysFollow() {
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const isInput = e.target.tagName === "INPUT", key = e.key.toLowerCase();
    if (isInput && key === "enter") { e.preventDefault(); step(e.shiftKey ? -1 : 1); return; }
    if (isInput && key !== "escape") return;
    if (isInput) e.target.blur();
    if (key === "n" && e.shiftKey) { step(-1); return; }
    if (!keys[key]) return;
    e.preventDefault();
    keys[key]();
  });
}
function controlsFollow() {
  pointersFollow($("canvas"));
  overviewFollow();
  keysFollow();
  $("search").addEventListener("input", (e) => search(e.target.value));
  $("next").addEventListener("click", () => step(1));
  $("previous").addEventListener("click", () => step(-1));
  $("zoom_in").addEventListener("click", () => zoom(2));
  $("zoom_out").addEventListener("click", () => zoom(.5));
  $("zoom_all").addEventListener("click", showAll);
  $("zoom_selected").addEventListener("click", keys.z);
  $("scroll").addEventListener("scroll", drawSoon);
  new ResizeObserver(() => { sizeRead(); drawSoon(); }).observe($("scroll"));
  dark.addEventListener("change", () => { themeRead(); drawSoon(); });
}
