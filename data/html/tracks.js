/*
 * Events of all streams in columns, on tracks (a thread, a queue ...), whose lanes hold events that do
 * not overlap. A lane is sorted by time, and knows how much of it is busy up to each event, so that
 * drawing costs what is seen, not what is there.
 */
const LANES_MAX = 48;
const events = {count: 0};
const tracks = [];

/* fields: what parts the events of a process into tracks. */
const trackKinds = {
  marker: {order: 0, fields: ["thread"], title: (s, r) => "Markers of thread " + s.get("thread", r)},
  api: {order: 1, fields: ["thread"], title: (s, r) => "Thread " + s.get("thread", r)},
  kernel: {order: 2, fields: ["queue", "agent"], title: (s, r) => capital(agentText(s.get("agent", r))) + ", queue " + s.get("queue", r)},
  event: {order: 3, fields: ["queue", "agent"], title: (s, r) => capital(agentText(s.get("agent", r))) + ", queue " + s.get("queue", r) + ", events"},
  copy: {order: 4, fields: ["destination"], title: (s, r) => "Copies to " + agentText(s.get("destination", r))},
  scratch: {order: 5, fields: ["agent"], title: (s, r) => "Scratch memory of " + agentText(s.get("agent", r))},
  allocation: {order: 6, fields: ["thread"], title: (s, r) => "Allocations of thread " + s.get("thread", r)},
};
trackKinds.counted = trackKinds.kernel;

/* Numbers of agents carry their type in the upper half, where the user wants that. */
function agentText(number) {
  if (!(number >= 0) || number > 2 ** 40) return "host";
  const type = Math.floor(number / 2 ** 32), rest = number % 2 ** 32;
  return (type === 1 ? "CPU " : type === 2 ? "GPU " : "agent ") + rest;
}

/* Of a job its rank, else what the system called it. */
function processText(number) {
  const known = croc.extra.process.find((p) => Number(p.number) === number);
  return !known ? "process " + number : known.rank ? "rank " + known.rank : "process " + known.pid;
}
/* Ranks in their order, then the others. */
function processOrder(number) {
  const known = croc.extra.process.find((p) => Number(p.number) === number);
  return known && known.rank ? Number(known.rank) : 2 ** 52 + number;
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);

/* Which counted dispatches were not traced too: those are there already. */
function countedNew() {
  const kernels = croc.streams.kernel, counted = croc.streams.counted;
  const key = (s, r) => s.get("process", r) * 2 ** 31 + s.get("dispatch", r);
  const news = new Set();
  for (let r = 0; r < counted.rows; r++) news.add(key(counted, r));
  if (news.size) for (let r = 0; r < kernels.rows; r++) news.delete(key(kernels, r));
  return (r) => news.delete(key(counted, r));
}

/* Finds or makes the track of a row. Most rows are of few tracks: a list for each first field's value. */
function trackFinder(kind, processes) {
  const rule = trackKinds[kind], stream = croc.streams[kind], hasProcess = !!stream.by.process;
  const columns = rule.fields.map((name) => stream.by[name]), thread = stream.by.thread, process = stream.by.process;
  const same = (track, values, of) => track.process === of && track.order === rule.order && values.every((v, i) => v === track.values[i]);
  const lists = new Map();
  let last = null;
  return (r) => {
    const of = hasProcess ? process.get(r) : processes.get(thread.get(r)) || processes.values().next().value || Number(croc.run.process);
    const first = columns[0].get(r), second = columns.length > 1 ? columns[1].get(r) : 0;
    if (last && last.process === of && last.values[0] === first && (columns.length === 1 || last.values[1] === second)) return last;
    const values = columns.length > 1 ? [first, second] : [first];
    let list = lists.get(first);
    if (!list) lists.set(first, list = tracks.filter((track) => track.order === rule.order && track.values[0] === first));
    last = list.find((track) => same(track, values, of));
    if (last) return last;
    if (hasProcess) processes.set(thread.get(r), of);
    last = {number: tracks.length, order: rule.order, kind: kind === "counted" ? "kernel" : kind, process: of, values, count: 0, lanes: [], title: rule.title(stream, r)};
    list.push(last);
    tracks.push(last);
    return last;
  };
}

function kindAdd(kind, number, at, processes) {
  const stream = croc.streams[kind], {start, length, name} = stream.by, isNew = kind === "counted" ? countedNew() : null;
  const trackOf = trackFinder(kind, processes);
  for (let r = 0; r < stream.rows; r++) {
    if (isNew && !isNew(r)) continue;
    const track = trackOf(r);
    events.start[at] = start.get(r);
    events.length[at] = Math.max(length.get(r), 0);
    events.name[at] = name.get(r);
    events.row[at] = r;
    events.kind[at] = number;
    events.track[at] = track.number;
    track.count++;
    at++;
  }
  return at;
}

function eventsMake() {
  const kinds = Object.keys(trackKinds), capacity = kinds.reduce((sum, kind) => sum + croc.streams[kind].rows, 0);
  Object.assign(events, {start: new Float64Array(capacity), length: new Float64Array(capacity), name: new Uint32Array(capacity),
    row: new Uint32Array(capacity), kind: new Uint8Array(capacity), track: new Uint32Array(capacity), kinds});
  const processes = new Map(); // of threads
  kinds.forEach((kind, number) => { events.count = kindAdd(kind, number, events.count, processes); });
}

/* Rows come nearly in order of their ends: few of them move far. */
function sortByStart(list) {
  const start = events.start, length = events.length;
  const before = (a, b) => start[a] - start[b] || length[b] - length[a];
  let budget = 16 * list.length + 1000;
  for (let i = 1; i < list.length; i++) {
    const event = list[i];
    let j = i - 1;
    for (; j >= 0 && before(list[j], event) > 0; j--, budget--) list[j + 1] = list[j];
    list[j + 1] = event;
    if (budget < 0) { list.sort(before); return; }
  }
}

function lanesMake(track, list) {
  const ends = [], laneOf = new Uint8Array(list.length), counts = [];
  for (let i = 0; i < list.length; i++) {
    const event = list[i], start = events.start[event];
    let lane = 0;
    while (lane < ends.length && lane < LANES_MAX - 1 && ends[lane] > start) lane++;
    if (lane === ends.length) { ends.push(0); counts.push(0); }
    ends[lane] = start + events.length[event];
    laneOf[i] = lane;
    counts[lane]++;
  }
  track.lanes = counts.map((count) => ({list: new Uint32Array(count), busy: new Float64Array(count + 1), used: 0}));
  for (let i = 0; i < list.length; i++) {
    const lane = track.lanes[laneOf[i]];
    lane.list[lane.used] = list[i];
    lane.busy[lane.used + 1] = lane.busy[lane.used] + events.length[list[i]];
    lane.used++;
  }
}

function tracksMake() {
  eventsMake();
  const lists = tracks.map((track) => new Uint32Array(track.count)), used = new Uint32Array(tracks.length);
  let first = Infinity, last = -Infinity;
  for (let e = 0; e < events.count; e++) {
    const t = events.track[e];
    lists[t][used[t]++] = e;
    first = Math.min(first, events.start[e]);
    last = Math.max(last, events.start[e] + events.length[e]);
  }
  tracks.forEach((track, t) => {
    sortByStart(lists[t]);
    lanesMake(track, lists[t]);
  });
  tracks.sort((a, b) => processOrder(a.process) - processOrder(b.process) || a.order - b.order || (a.title < b.title ? -1 : 1));
  croc.span = events.count ? [first, Math.max(last, first + 1)] : [0, 1];
  croc.tracks = tracks;
  croc.events = events;
}

/* The first place in the lane whose event ends behind the time. */
function laneFind(lane, time, low = 0) {
  let high = lane.list.length;
  while (low < high) {
    const middle = (low + high) >> 1, event = lane.list[middle];
    if (events.start[event] + events.length[event] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
