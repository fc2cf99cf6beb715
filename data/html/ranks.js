/* The processes of a job: a row for each, how busy it was over time, and who was late or did more. */
const rankText = (r) => r.rank ? "rank " + r.rank : "process " + r.pid;

/* Parts of a stretch that were spent, as written: 0 to 63 in the digits of base64. */
const shares = (text) => Array.from(text || "", (c) => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".indexOf(c) / 63);

function ranksRead() {
  croc.ranks = croc.extra.rank.map((r) => ({...r, order: r.rank ? Number(r.rank) : 2 ** 52 + Number(r.pid), begin: Number(r.begin), lasted: Number(r.lasted),
    kernelTime: Number(r.kernel_time), modelled: Number(r.modelled || 0), calls: Number(r.calls), kernels: Number(r.kernels), shift: Number(r.shift), drift: Number(r.drift),
    offset: Number(r.offset), busy: {kernels: shares(r.busy_kernels), calls: shares(r.busy_calls), copies: shares(r.busy_copies)}}));
  croc.ranks.sort((a, b) => a.order - b.order);
}

function ranksChart() {
  const width = 1000, left = 130, kinds = [["kernels", "bound"], ["copies", "copy"], ["calls", "area"]], few = croc.ranks.length <= 64, lane = few ? 7 : 3;
  const row = 3 * lane + (few ? 5 : 1), head = 24, span = Math.max(...croc.ranks.map((r) => r.begin + r.lasted), 1), stretch = Number(croc.ranks[0].stretch);
  const xOf = (t) => left + t / span * (width - left - 10), height = head + croc.ranks.length * row + 22;
  const svg = make("svg:svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "How busy each rank was over time"});
  kinds.forEach(([kind, style], i) => svg.append(make("svg:rect", {class: style, x: left + i * 90, y: 5, width: 10, height: 10}), make("svg:text", {x: left + 15 + i * 90, y: 14}, kind)));
  croc.ranks.forEach((r, n) => {
    const y = head + n * row, host = r.host ? " \u00b7 " + r.host : "";
    if (few || n % Math.ceil(croc.ranks.length / 64) === 0) svg.append(make("svg:text", {x: 4, y: y + Math.max(2 * lane, 10)}, shortText(rankText(r) + host, 20)));
    svg.append(make("svg:rect", {class: "full", x: xOf(r.begin), y, width: Math.max(xOf(r.begin + r.lasted) - xOf(r.begin), .5), height: 3 * lane}));
    kinds.forEach(([kind, style], i) => {
      const path = [];
      r.busy[kind].forEach((share, s) => {
        if (!share) return;
        const begin = Math.max(r.offset + s * stretch, 0), end = Math.min(r.offset + (s + 1) * stretch, span), high = share * lane;
        path.push(`M${xOf(begin).toFixed(2)},${(y + (i + 1) * lane - high).toFixed(2)}h${Math.max(xOf(end) - xOf(begin), .3).toFixed(2)}v${high.toFixed(2)}h-${Math.max(xOf(end) - xOf(begin), .3).toFixed(2)}Z`);
      });
      svg.append(make("svg:path", {class: style, d: path.join("")}));
    });
  });
  const axis = head + croc.ranks.length * row + 2;
  for (let i = 0; i <= 4; i++) svg.append(make("svg:line", {class: "grid", x1: xOf(span * i / 4), x2: xOf(span * i / 4), y1: head, y2: axis}),
    make("svg:text", {class: "quiet", x: xOf(span * i / 4), y: axis + 14, "text-anchor": i === 4 ? "end" : i ? "middle" : "start"}, timeText(span * i / 4)));
  chartShow("ranks", svg);
}

function ranksShow() {
  ranksRead();
  if (!croc.ranks.length) return;
  ranksChart();
  // A device's own model tells ranks apart, where it has one: its other times are of something else.
  const isModelled = croc.ranks.some((r) => r.modelled) && croc.ranks.every((r) => r.modelled || !r.kernels), timeOfKernels = (r) => isModelled ? r.modelled : r.kernelTime;
  const mean = croc.ranks.reduce((sum, r) => sum + timeOfKernels(r), 0) / croc.ranks.length;
  tableShow("ranks", [
    {title: "Rank", words: true, value: (r) => r.order, show: (v, r) => rankText(r)},
    {title: "Host", words: true, value: (r) => r.host, show: (v) => v}, {title: "Process", value: (r) => Number(r.pid), show: String},
    timeColumn("Began", (r) => r.begin), timeColumn("Lasted", (r) => r.lasted), countColumn("Calls", (r) => r.calls), countColumn("Kernels", (r) => r.kernels),
    timeColumn("Kernel time", (r) => r.kernelTime), ...(isModelled ? [timeColumn("Modelled", (r) => r.modelled)] : []),
    {title: "Of the mean", value: (r) => mean ? timeOfKernels(r) / mean : NaN, show: (v) => Number.isFinite(v) ? v.toFixed(2) : "-"},
    {title: "Clock apart", value: (r) => r.shift, show: timeText}, {title: "Drift", value: (r) => r.drift, show: (v) => (v * 1e6).toFixed(1) + "\u202fppm"},
  ], croc.ranks, 0, false);
  $("notes").replaceChildren(...croc.extra.note.map((n) => make("li", {}, n.text)));
}
