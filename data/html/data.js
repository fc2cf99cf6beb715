/* What the page holds, read from its chunks (tool/out/html/page.h says how they are written). */
const croc = {texts: [""], streams: {}, agents: [], run: {}, first: 0n, complete: false, damaged: 0};
window.croc = croc;

function bytesOf(base64) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/* Reads numbers and texts one after the other; beyond the end there are zeros. */
class Reader {
  constructor(bytes) { this.bytes = bytes; this.at = 0; this.view = new DataView(bytes.buffer); }
  get left() { return this.at < this.bytes.length; }
  number() {
    const b = this.bytes;
    let c = b[this.at++];
    if (!(c >= 128)) return c | 0;
    let value = c & 127, scale = 128;
    for (;;) {
      c = b[this.at++];
      value += (c & 127) * scale;
      if (!(c >= 128)) return value;
      scale *= 128;
    }
  }
  change() {
    const n = this.number();
    return n % 2 ? -(n + 1) / 2 : n / 2;
  }
  double() {
    const n = this.number();
    if (n % 2 === 0) return n / 2;
    this.at += 8;
    return this.at <= this.bytes.length ? this.view.getFloat64(this.at - 8, true) : NaN;
  }
  text() {
    const size = this.number();
    this.at += size;
    return decoder.decode(this.bytes.subarray(this.at - size, this.at));
  }
}
const decoder = new TextDecoder();

/* A column is one value until a second one comes: most of them never change. */
class Column {
  constructor(name, type) { this.name = name; this.type = type; this.value = 0; this.array = null; }
  get(row) { return this.array ? this.array[row] : this.value; }
  put(row, value, rows) {
    if (this.array !== null) { this.array[row] = value; return; }
    if (row === 0) this.value = value;
    if (value === this.value) return;
    this.array = this.type === "t" ? new Uint32Array(rows) : new Float64Array(rows);
    this.array.fill(this.value, 0, row);
    this.array[row] = value;
  }
}

class Stream {
  constructor(kind, fields) {
    this.kind = kind; this.rows = 0; this.capacity = 0;
    this.columns = fields.split(" ").map((field) => new Column(field.slice(1), field[0]));
    this.by = {};
    for (const column of this.columns) this.by[column.name] = column;
  }
  get(name, row) { const column = this.by[name]; return column ? column.get(row) : 0; }
  text(name, row) { return croc.texts[this.get(name, row)]; }
  /* `local` are the numbers of this stretch's texts among all. */
  read(reader, count, local) {
    const columns = this.columns, last = new Float64Array(columns.length);
    for (let r = 0; r < count && reader.left; r++) {
      const changed = reader.number(); // of at most 28 fields
      for (let f = 0; changed >> f; f++) {
        if (!(changed >> f & 1)) continue;
        last[f] = columns[f].type === "d" ? reader.double() : last[f] + reader.change();
      }
      for (let f = 0; f < columns.length; f++) {
        const column = columns[f], value = column.type === "t" ? local[last[f]] || 0 : last[f];
        if (column.array !== null) column.array[this.rows] = value;
        else if (this.rows === 0 || value !== column.value) column.put(this.rows, value, this.capacity);
      }
      this.rows++;
    }
  }
}

const numbers = new Map([["", 0]]);
function textNumber(text) {
  let number = numbers.get(text);
  if (number === undefined) {
    number = croc.texts.push(text) - 1;
    numbers.set(text, number);
  }
  return number;
}

function pairsRead(reader) {
  const pairs = {};
  while (reader.left) { const name = reader.text(); pairs[name] = reader.text(); }
  return pairs;
}

function chunkRead(kind, count, reader, local) {
  if (kind === "texts") while (reader.left) local.push(textNumber(reader.text()));
  else if (kind === "renew") local.length = 1;
  else if (kind === "run") croc.run = pairsRead(reader);
  else if (kind === "agent") croc.agents.push(pairsRead(reader));
  else if (kind === "time") croc.first = BigInt(pairsRead(reader).first_ns);
  else if (kind === "end") croc.complete = true;
  else if (croc.streams[kind]) croc.streams[kind].read(reader, count, local);
  else if (croc.extra[kind]) croc.extra[kind].push(pairsRead(reader));
}
croc.extra = {kernel_facts: [], roof: [], process: [], rank: [], note: [], sum: [], quality: []};

/* Reads all chunks, a few at a time, so that the browser lives on meanwhile. */
async function dataRead(progress) {
  const elements = [...document.querySelectorAll('script[type="application/x-croc"]')];
  const local = [0];
  for (const element of elements) {
    if (element.dataset.t !== "schema") continue;
    const reader = new Reader(bytesOf(element.textContent)), kind = reader.text();
    croc.streams[kind] = new Stream(kind, reader.text());
  }
  for (const element of elements) {
    const stream = croc.streams[element.dataset.t];
    if (stream) stream.capacity += Number(element.dataset.n);
  }
  let since = performance.now();
  for (let i = 0; i < elements.length; i++) {
    const element = elements[i];
    if (element.dataset.t === "schema") continue;
    try {
      chunkRead(element.dataset.t, Number(element.dataset.n), new Reader(bytesOf(element.textContent)), local);
    } catch (e) {
      croc.damaged++;
    }
    element.textContent = "";
    if (performance.now() - since > 40) {
      progress(i / elements.length);
      await new Promise((resolve) => setTimeout(resolve));
      since = performance.now();
    }
  }
}
