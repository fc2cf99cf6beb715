/* Draws what is in view, once a frame at most. */
const HEAD = 20, LANE = 18, GAP = 6, AXIS = 22;
const view = {t0: 0, t1: 1, width: 0, height: 0, selected: -1, hover: -1, range: null};
croc.view = view;
croc.drawn = {frames: 0, shapes: 0, ms: 0};
const dark = matchMedia("(prefers-color-scheme: dark)");
let theme = {}, colors = new Map(), isDue = false;

const hues = {marker: [120, 165], api: [185, 245], kernel: [-15, 45], counted: [-15, 45], copy: [265, 310], event: [75, 115], scratch: [325, 345], allocation: [50, 70]};

function themeRead() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["back", "panel", "text", "quiet", "line", "accent", "mark", "track"])
    theme[name] = style.getPropertyValue("--" + name).trim();
  theme.dark = dark.matches;
  colors = new Map();
}

/* One colour for a name, of its kind's part of the circle. */
function colorOf(event) {
  const kind = events.kind[event], key = events.name[event] * 16 + kind;
  let color = colors.get(key);
  if (color) return color;
  let hash = 2166136261;
  for (const c of croc.texts[events.name[event]] || "") hash = Math.imul(hash ^ c.codePointAt(0), 16777619);
  hash = Math.imul(hash ^ hash >>> 15, 0x2c1b3c6d) >>> 8;
  const [low, high] = hues[events.kinds[kind]];
  const hue = (low + hash % 997 / 997 * (high - low) + 360) % 360, light = (theme.dark ? 38 : 66) + (hash >>> 12) % 9;
  color = `hsl(${hue.toFixed(0)} ${theme.dark ? 42 : 58}% ${light}%)`;
  colors.set(key, color);
  return color;
}

function layoutMake() {
  let y = AXIS;
  for (const track of tracks) {
    track.y = y;
    y += HEAD + track.lanes.length * LANE + GAP;
  }
  $("spacer").style.height = y + "px";
  $("scroll").style.maxHeight = y + 2 + "px";
}

function sizeRead() {
  const scroll = $("scroll"), ratio = devicePixelRatio || 1;
  for (const [canvas, height] of [[$("canvas"), scroll.clientHeight], [$("overview"), 34]]) {
    canvas.width = Math.round(scroll.clientWidth * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = scroll.clientWidth + "px";
    canvas.style.height = height + "px";
    canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
  }
  view.width = scroll.clientWidth;
  view.height = scroll.clientHeight;
  overview.image = null;
}

const pixelOf = (time) => (time - view.t0) / (view.t1 - view.t0) * view.width;
const timeOf = (pixel) => view.t0 + pixel / view.width * (view.t1 - view.t0);

function drawSoon() {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => { isDue = false; draw(); });
}

function textDraw(c, event, x, width, y) {
  const left = Math.max(x, 0), room = Math.min(x + width, view.width) - left - 8;
  if (room < 22) return;
  c.fillStyle = theme.dark ? "#f2f4f5" : "#16191c";
  c.fillText(shortText(croc.texts[events.name[event]] || "unknown", Math.floor(room / 6.3)), left + 4, y + 12.5);
}

/* Behind the events that begin in this pixel; a long one that begins last in it stays to be drawn. */
function pixelEnd(lane, i, time, scale) {
  let low = i + 1, high = lane.list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (events.start[lane.list[middle]] < time) low = middle + 1;
    else high = middle;
  }
  return low > i + 1 && events.length[lane.list[low - 1]] * scale >= 1.5 ? low - 1 : low;
}

function laneDraw(c, lane, y) {
  const scale = view.width / (view.t1 - view.t0), list = lane.list;
  for (let i = laneFind(lane, view.t0); i < list.length;) {
    const event = list[i], start = events.start[event], x = (start - view.t0) * scale, width = events.length[event] * scale;
    if (start > view.t1) break;
    croc.drawn.shapes++;
    c.fillStyle = colorOf(event);
    if (width >= 1.5) {
      const left = Math.max(x, -2), right = Math.min(x + width, view.width + 2);
      c.fillRect(left, y, Math.max(right - left - .5, 1), LANE - 2);
      textDraw(c, event, x, width, y);
      i++;
      continue;
    }
    const pixel = Math.max(Math.floor(x), 0), next = pixelEnd(lane, i, view.t0 + (pixel + 1) / scale, scale);
    const busy = (lane.busy[next] - lane.busy[i]) * scale, alpha = c.globalAlpha;
    c.globalAlpha = alpha * Math.min(Math.max(busy, .4), 1);
    c.fillRect(pixel, y, 1, LANE - 2);
    c.globalAlpha = alpha;
    i = next;
  }
}

/* What the search found, over the faded rest. */
function matchesDraw(c, lane, y) {
  const scale = view.width / (view.t1 - view.t0), found = lane.found;
  let low = 0, high = found.length;
  const first = laneFind(lane, view.t0);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (found[middle] < first) low = middle + 1;
    else high = middle;
  }
  let drawnTo = -1;
  for (let i = low; i < found.length; i++) {
    const event = lane.list[found[i]], x = (events.start[event] - view.t0) * scale, width = Math.max(events.length[event] * scale, 1);
    if (x > view.width) break;
    if (x + width <= drawnTo) {
      i = matchSkip(lane, i, view.t0 + drawnTo / scale) - 1;
      continue;
    }
    const left = Math.max(x, -2), right = Math.min(x + width, view.width + 2);
    croc.drawn.shapes++;
    c.fillStyle = width < 3 ? theme.mark : colorOf(event);
    c.fillRect(left, y, Math.max(right - left, 1), LANE - 2);
    if (width >= 3) textDraw(c, event, x, width, y);
    drawnTo = Math.floor(right) + 1;
  }
}

/* The first match behind `i` that ends after the time. */
function matchSkip(lane, i, time) {
  let low = i + 1, high = lane.found.length;
  while (low < high) {
    const middle = (low + high) >> 1, event = lane.list[lane.found[middle]];
    if (events.start[event] + events.length[event] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

function axisStep(span, width) {
  const rough = span / Math.max(width / 110, 2), power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((m) => m * power).find((step) => step >= rough);
}

function axisDraw(c) {
  const span = view.t1 - view.t0, step = axisStep(span, view.width), zero = croc.span[0];
  c.fillStyle = theme.panel;
  c.fillRect(0, 0, view.width, AXIS);
  c.fillStyle = theme.quiet;
  c.strokeStyle = theme.line;
  c.beginPath();
  for (let t = Math.ceil((view.t0 - zero) / step) * step; t <= view.t1 - zero; t += step) {
    const x = Math.round(pixelOf(t + zero)) + .5;
    c.moveTo(x, AXIS - 6);
    c.lineTo(x, view.height);
    c.fillText(axisText(t, step), x + 4, 14);
  }
  c.moveTo(0, AXIS - .5);
  c.lineTo(view.width, AXIS - .5);
  c.stroke();
}

/* As many decimals as neighbouring labels need to differ. */
function axisText(t, step) {
  const size = Math.max(Math.abs(t), step), i = size >= 1e9 ? 3 : size >= 1e6 ? 2 : size >= 1e3 ? 1 : 0;
  const unit = 1000 ** i, decimals = Math.min(Math.max(0, -Math.floor(Math.log10(step / unit) + 1e-9)), 9);
  return (t / unit).toFixed(decimals) + "\u202f" + ["ns", "\u00b5s", "ms", "s"][i];
}

/* Where an event is on the canvas, when its track is drawn or not. */
function placeOf(event) {
  const track = tracks.byNumber[events.track[event]], middle = events.start[event] + events.length[event] / 2;
  for (let l = 0; l < track.lanes.length; l++) {
    const lane = track.lanes[l];
    for (let i = Math.max(laneFind(lane, middle) - 2, 0); i < lane.list.length && events.start[lane.list[i]] <= middle; i++)
      if (lane.list[i] === event) return {x: pixelOf(events.start[event]), width: events.length[event] / (view.t1 - view.t0) * view.width,
        y: track.y + HEAD + l * LANE - $("scroll").scrollTop};
  }
  return null;
}

function selectedDraw(c) {
  const place = view.selected >= 0 && placeOf(view.selected);
  if (!place) return;
  c.strokeStyle = theme.text;
  c.lineWidth = 2;
  c.strokeRect(Math.max(place.x, -4), place.y - 1, Math.min(Math.max(place.width, 2), view.width + 8 - Math.max(place.x, -4)), LANE);
  c.strokeStyle = theme.mark;
  c.lineWidth = 1.5;
  for (const other of view.related || []) {
    const to = placeOf(other);
    if (!to) continue;
    const [from, until] = events.start[other] < events.start[view.selected] ? [to, place] : [place, to];
    c.beginPath();
    c.moveTo(from.x, from.y + LANE / 2);
    const bend = Math.min(Math.max(Math.abs(until.x - from.x) / 2, 20), 160);
    c.bezierCurveTo(from.x + bend, from.y + LANE / 2, until.x - bend, until.y + LANE / 2, until.x, until.y + LANE / 2);
    c.stroke();
  }
  c.lineWidth = 1;
}

function trackDraw(c, track, y) {
  c.globalAlpha = 1;
  c.fillStyle = theme.quiet;
  const process = croc.processes > 1 ? capital(processText(track.process)) + " \u00b7 " : "";
  c.fillText(process + track.title + " \u00b7 " + countText(track.count), 6, y + 14);
  track.lanes.forEach((lane, l) => {
    const at = y + HEAD + l * LANE;
    if (at > view.height || at + LANE < AXIS) return;
    c.globalAlpha = croc.found ? .18 : 1;
    laneDraw(c, lane, at);
    c.globalAlpha = 1;
    if (croc.found && lane.found) matchesDraw(c, lane, at);
  });
}

function draw() {
  const began = performance.now(), c = $("canvas").getContext("2d"), top = $("scroll").scrollTop;
  if (!theme.panel) themeRead();
  croc.drawn.shapes = 0;
  c.font = "11.5px system-ui, sans-serif";
  c.fillStyle = theme.panel;
  c.fillRect(0, 0, view.width, view.height);
  axisDraw(c);
  c.save();
  c.beginPath();
  c.rect(0, AXIS, view.width, view.height);
  c.clip();
  for (const track of tracks) {
    const y = track.y - top, height = HEAD + track.lanes.length * LANE + GAP;
    if (y < view.height && y + height > AXIS) trackDraw(c, track, y);
  }
  selectedDraw(c);
  if (view.range) {
    const [a, b] = view.range.map(pixelOf);
    c.fillStyle = theme.accent;
    c.globalAlpha = .2;
    c.fillRect(Math.min(a, b), AXIS, Math.abs(b - a), view.height);
  }
  c.restore();
  c.globalAlpha = 1;
  overview.draw();
  croc.drawn.frames++;
  croc.drawn.ms = performance.now() - began;
}

/* The whole recording: how busy devices are above, and threads below; the view's frame. */
const overview = {
  image: null,
  busy(lane, time) {
    const i = laneFind(lane, time), event = lane.list[i];
    return lane.busy[i] + (event === undefined ? 0 : Math.min(Math.max(time - events.start[event], 0), events.length[event]));
  },
  rows(width) {
    const rows = [new Float64Array(width), new Float64Array(width)], [first, last] = croc.span, step = (last - first) / width;
    for (const track of tracks) {
      const row = rows[track.kind === "kernel" || track.kind === "copy" ? 0 : 1], lane = track.lanes[0];
      if (track.kind === "marker" || !lane) continue;
      let before = 0;
      for (let x = 0; x < width; x++) {
        const until = this.busy(lane, first + (x + 1) * step);
        row[x] = Math.max(row[x], (until - before) / step);
        before = until;
      }
    }
    return rows;
  },
  picture(width) {
    const picture = make("canvas", {width, height: 34}), c = picture.getContext("2d"), rows = this.rows(width);
    ["hsl(18 60% 55%)", "hsl(205 45% 55%)"].forEach((color, r) => {
      c.fillStyle = color;
      for (let x = 0; x < width; x++) {
        const height = Math.min(rows[r][x], 1) * 15;
        if (height > 0) c.fillRect(x, (r ? 33 : 16) - height, 1, Math.max(height, 1));
      }
    });
    return picture;
  },
  draw() {
    const c = $("overview").getContext("2d"), width = Math.floor(view.width), [first, last] = croc.span;
    if (!this.image || this.image.width !== width) this.image = this.picture(width);
    c.fillStyle = theme.panel;
    c.fillRect(0, 0, width, 34);
    c.drawImage(this.image, 0, 0);
    const x0 = (view.t0 - first) / (last - first) * width, x1 = (view.t1 - first) / (last - first) * width;
    c.fillStyle = theme.back;
    c.globalAlpha = .7;
    c.fillRect(0, 0, x0, 34);
    c.fillRect(x1, 0, width - x1, 34);
    c.globalAlpha = 1;
    c.strokeStyle = theme.accent;
    c.strokeRect(Math.max(x0, 0) + .5, .5, Math.max(Math.min(x1, width) - Math.max(x0, 0) - 1, 2), 33);
  },
};
