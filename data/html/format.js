const $ = (id) => document.getElementById(id);

/* An element with attributes and children; texts are texts, never markup. */
function make(name, attributes, ...children) {
  const isSvg = name.startsWith("svg:");
  const element = isSvg ? document.createElementNS("http://www.w3.org/2000/svg", name.slice(4)) : document.createElement(name);
  for (const key in attributes || {})
    if (key.startsWith("on")) element.addEventListener(key.slice(2), attributes[key]);
    else element.setAttribute(key, attributes[key]);
  for (const child of children) if (child !== null) element.append(child);
  return element;
}

function digits(value) {
  const size = Math.abs(value);
  return value.toFixed(size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : 2);
}

function scaled(value, steps, units) {
  let i = 0, size = Math.abs(value);
  while (i < steps.length && size >= steps[i]) { size /= steps[i]; value /= steps[i]; i++; }
  return digits(value) + "\u202f" + units[i];
}

const timeText = (ns) => !Number.isFinite(ns) ? "-" : scaled(ns, [1000, 1000, 1000], ["ns", "\u00b5s", "ms", "s"]);
const bytesText = (n) => !Number.isFinite(n) ? "-" : scaled(n, [1024, 1024, 1024, 1024], ["B", "KiB", "MiB", "GiB", "TiB"]);
const rateText = (n) => scaled(n, [1000, 1000, 1000, 1000], ["", "k", "M", "G", "T"]);
const countText = (n) => !Number.isFinite(n) ? "-" : Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, "\u202f");
function valueText(value) {
  if (!Number.isFinite(value)) return "-";
  if (Number.isInteger(value)) return countText(value);
  return Math.abs(value) >= 1e6 ? countText(value) : value.toPrecision(5).replace(/\.?0+$/, "");
}

/* One line of it, the middle left out where it is long. */
function shortText(text, size) {
  const line = text.replace(/\s+/g, " ");
  if (line.length <= size) return line;
  const head = Math.ceil((size - 1) * .6);
  return line.slice(0, head) + "\u2026" + line.slice(line.length - (size - 1 - head));
}
