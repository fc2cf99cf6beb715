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
  ], rows, 1);
}
