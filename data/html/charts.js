/* Charts, as SVG. */
function chartShow(id, svg) {
  $(id).querySelector(".chart").replaceChildren(svg);
  $(id).hidden = false;
}

/* ---- memory over time: what is allocated, by agent */
function memorySteps() {
  const s = croc.streams.allocation, live = new Map(), byAgent = new Map(), order = new Uint32Array(s.rows).map((_, i) => i);
  order.sort((a, b) => s.get("start", a) - s.get("start", b));
  for (const r of order) {
    const isFree = /FREE/.test(s.text("name", r)), address = s.get("address", r), bytes = s.get("bytes", r);
    const was = live.get(address), agent = isFree ? was && was.agent : s.get("agent", r);
    if (isFree && !was) continue;
    if (!byAgent.has(agent)) byAgent.set(agent, {agent, now: 0, high: 0, count: 0, times: [], values: []});
    const line = byAgent.get(agent);
    line.now += isFree ? -was.bytes : bytes;
    if (isFree) live.delete(address);
    else { live.set(address, {agent, bytes}); line.count++; }
    line.high = Math.max(line.high, line.now);
    line.times.push(s.get("start", r) + s.get("length", r));
    line.values.push(line.now);
  }
  return [...byAgent.values()].filter((line) => line.high > 0);
}

/* At most two points a pixel: the last and the highest. */
function stepPath(line, width, height, x0, y0) {
  const [first, last] = croc.span, points = [];
  const xOf = (t) => x0 + (t - first) / (last - first) * width, yOf = (v) => y0 + height - v / line.high * (height - 12);
  let pixel = -1, high = 0, y = yOf(0);
  const out = [`M${x0},${y}`];
  for (let i = 0; i < line.times.length; i++) {
    const x = Math.floor(xOf(line.times[i]));
    high = x === pixel ? Math.max(high, line.values[i]) : line.values[i];
    if (x !== pixel || i + 1 === line.times.length || Math.floor(xOf(line.times[i + 1])) !== x) {
      out.push(`H${x}V${yOf(high).toFixed(1)}V${yOf(line.values[i]).toFixed(1)}`);
      points.push(x);
    }
    pixel = x;
  }
  out.push(`H${x0 + width}`);
  return out.join("");
}

function memoryShow() {
  const lines = memorySteps(), width = 1000, row = 92;
  croc.memory = lines;
  if (!lines.length) return;
  const svg = make("svg:svg", {viewBox: `0 0 ${width} ${lines.length * row + 4}`, role: "img", "aria-label": "Allocated memory over time"});
  lines.forEach((line, i) => {
    const y = i * row, path = stepPath(line, width - 20, row - 26, 10, y + 20);
    svg.append(make("svg:text", {x: 10, y: y + 14}, `${capital(agentText(line.agent))}: ${bytesText(line.high)} at most, ${countText(line.count)} allocations, ${bytesText(line.now)} at the end`),
      make("svg:path", {class: "area", d: path + `V${y + row - 6}H10Z`}), make("svg:path", {class: "edge", d: path}),
      make("svg:line", {class: "axis", x1: 10, x2: width - 10, y1: y + row - 6, y2: y + row - 6}));
  });
  chartShow("memory", svg);
}

function deviceShow() {
  const rows = croc.agents.map((agent) => ({agent, value: (name) => Number(agent[name] || 0)}));
  if (!rows.length) { $("device").hidden = false; return; }
  tableShow("device", [
    {title: "Device", words: true, value: (r) => r.agent.Product_Name || r.agent.Name, show: (v) => v},
    {title: "Type", words: true, value: (r) => r.agent.Agent_Type + " " + r.agent.Node_Id, show: (v) => v},
    {title: "Architecture", words: true, value: (r) => r.agent.Name, show: (v) => v},
    countColumn("Compute units", (r) => r.value("Cu_Count") || r.value("Cpu_Cores_Count")),
    countColumn("Waves a SIMD", (r) => r.value("Max_Waves_Per_Simd")),
    {title: "LDS", value: (r) => r.value("Lds_Size_In_Kb") * 1024, show: bytesText},
    {title: "Clock", value: (r) => r.value("Max_Engine_Clk_Fcompute") || r.value("Max_Engine_Clk_Ccompute"), show: (v) => countText(v) + "\u202fMHz"},
    {title: "Memory", value: (r) => r.value("Local_Mem_Size"), show: (v) => v ? bytesText(v) : "-"},
    {title: "Its times", words: true, value: (r) => r.agent.Times || "-", show: (v) => v},
  ], rows, 1);
}

/* ---- what the analysis says of each kernel */
const number = (pairs, name) => pairs[name] === undefined ? NaN : Number(pairs[name]);
const limitNames = {slots: "wave slots", vgprs: "VGPRs", sgprs: "SGPRs", lds: "LDS", groups: "barriers"};

function factsShow() {
  croc.facts = croc.extra.kernel_facts.map((pairs) => ({name: pairs.name, bound: pairs.bound || "", limit: pairs.limit,
    node: pairs.node, cycles: number(pairs, "cycles"), seconds: number(pairs, "seconds"), flops: number(pairs, "flops"), bytes: number(pairs, "bytes"),
    waves: number(pairs, "waves"), most: number(pairs, "waves_max"), at_most: number(pairs, "waves_limit")}));
  croc.roofs = croc.extra.roof;
}

/* A bar of wave slots for each kernel: what fits, and what was there. */
function occupancyShow() {
  const rows = croc.facts.filter((f) => f.most > 0).slice(0, 12), width = 1000, row = 40;
  if (!rows.length) return;
  const svg = make("svg:svg", {viewBox: `0 0 ${width} ${rows.length * row + 4}`, role: "img", "aria-label": "Waves on a compute unit"});
  rows.forEach((f, i) => {
    const y = i * row, full = width - 20, part = (waves) => Math.max(waves / f.most * full, 0);
    const there = Number.isFinite(f.waves) ? `, ${f.waves.toFixed(1)} were there` : "";
    svg.append(make("svg:text", {x: 10, y: y + 15}, shortText(f.name, 70)),
      make("svg:text", {x: width - 10, y: y + 15, "text-anchor": "end", class: "quiet"}, `${f.at_most} of ${f.most} waves fit (${limitNames[f.limit]})${there}`),
      make("svg:rect", {x: 10, y: y + 21, width: full, height: 9, class: "full"}),
      make("svg:rect", {x: 10, y: y + 21, width: part(f.at_most), height: 9, class: "area"}),
      make("svg:rect", {x: 10, y: y + 21, width: part(f.waves || 0), height: 9, class: "bound"}));
  });
  chartShow("occupancy", svg);
}

/* Logarithmic both ways: operations a byte, operations a second. */
function rooflineShow() {
  const points = croc.facts.filter((f) => f.flops > 0 && f.bytes > 0 && f.seconds > 0)
    .map((f) => ({name: f.name, bound: f.bound, x: f.flops / f.bytes, y: f.flops / f.seconds}));
  const roof = croc.roofs.find((r) => number(r, "memory") > 0 && number(r, "fp32") > 0);
  croc.points = points;
  if (!points.length || !roof) return;
  const memory = number(roof, "memory"), tops = [["FP32", number(roof, "fp32")], ["FP64", number(roof, "fp64")], ["matrix FP16", number(roof, "matrix")]].filter(([, v]) => v > 0);
  const width = 1000, height = 420, left = 70, bottom = 40, log = Math.log10;
  const x0 = Math.floor(log(Math.min(.1, ...points.map((p) => p.x)))), x1 = Math.ceil(log(Math.max(1000, ...points.map((p) => p.x))));
  const y1 = Math.ceil(log(Math.max(...tops.map(([, v]) => v)))), y0 = Math.floor(log(Math.min(memory * 10 ** x0, ...points.map((p) => p.y))));
  const xOf = (v) => left + (log(v) - x0) / (x1 - x0) * (width - left - 20), yOf = (v) => 10 + (y1 - log(v)) / (y1 - y0) * (height - bottom - 10);
  const svg = make("svg:svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Roofline: operations a second over operations a byte"});
  for (let e = x0; e <= x1; e++) svg.append(make("svg:line", {class: "grid", x1: xOf(10 ** e), x2: xOf(10 ** e), y1: 10, y2: height - bottom}),
    make("svg:text", {class: "quiet", x: xOf(10 ** e), y: height - bottom + 16, "text-anchor": "middle"}, String(Number((10 ** e).toPrecision(1)))));
  for (let e = y0; e <= y1; e++) svg.append(make("svg:line", {class: "grid", x1: left, x2: width - 20, y1: yOf(10 ** e), y2: yOf(10 ** e)}),
    make("svg:text", {class: "quiet", x: left - 8, y: yOf(10 ** e) + 4, "text-anchor": "end"}, rateText(10 ** e)));
  svg.append(make("svg:text", {class: "quiet", x: width - 20, y: height - 6, "text-anchor": "end"}, "operations a byte of memory; upwards: operations a second"));
  const high = Math.max(...tops.map(([, v]) => v));
  svg.append(make("svg:path", {class: "roof", d: `M${xOf(10 ** x0)},${yOf(memory * 10 ** x0)}L${xOf(high / memory)},${yOf(high)}`}),
    make("svg:text", {x: xOf(Math.sqrt(10 ** x0 * high / memory)) - 8, y: yOf(memory * Math.sqrt(10 ** x0 * high / memory)) - 6, "text-anchor": "end"}, rateText(memory) + "B/s"));
  let before = "";
  for (const [name, top] of tops.sort((a, b) => b[1] - a[1])) {
    if (before === String(top)) continue;
    before = String(top);
    const names = tops.filter(([, v]) => v === top).map(([n]) => n).join(", ");
    svg.append(make("svg:path", {class: "roof" + (top < high ? " lower" : ""), d: `M${xOf(top / memory)},${yOf(top)}H${width - 20}`}),
      make("svg:text", {x: width - 24, y: yOf(top) - 5, "text-anchor": "end"}, `${names} ${rateText(top)}FLOP/s`));
  }
  points.forEach((p) => {
    const point = make("svg:circle", {class: "point", cx: xOf(p.x), cy: yOf(p.y), r: 6});
    point.append(make("svg:title", {}, `${p.name}\n${rateText(p.y)}FLOP/s, ${p.x.toPrecision(3)} operations a byte\n${p.bound}`));
    const isRight = xOf(p.x) > width * .7;
    svg.append(point, make("svg:text", {x: xOf(p.x) + (isRight ? -10 : 10), y: yOf(p.y) + 4, "text-anchor": isRight ? "end" : "start"}, shortText(p.name.replace("(anonymous namespace)::", ""), 28)));
  });
  chartShow("roofline", svg);
}
