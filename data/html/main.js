function headShow() {
  const run = croc.run, span = croc.span[1] - croc.span[0];
  const records = Object.values(croc.streams).reduce((sum, s) => sum + s.rows, 0);
  document.title = (run.program || "Crocprof") + " \u2013 Crocprof";
  $("program").textContent = run.program || "Crocprof";
  $("command").textContent = run.command || "";
  const gpus = croc.agents.filter((a) => a.Agent_Type === "GPU").map((a) => (a.Product_Name || "GPU") + " (" + a.Name + ")");
  const facts = [["processes", croc.extra.process.length > 1 ? countText(croc.extra.process.length) : ""], ["process", croc.extra.process.length > 1 ? "" : run.process], ["host", croc.extra.process.length > 1 ? "" : run.host], ["when", run.time_s ? new Date(run.time_s * 1000).toLocaleString() : ""],
    ["device", [...new Set(gpus)].map((g) => { const n = gpus.filter((o) => o === g).length; return (n > 1 ? n + " \u00d7 " : "") + g; }).join(", ")],
    ["records", countText(records)], ["span", events.count ? timeText(span) : ""]];
  $("facts").replaceChildren(...facts.filter(([, value]) => value).map(([name, value]) => make("li", {}, make("span", {class: "quiet"}, name + " "), make("b", {}, value))));
  croc.records = records;
}

function statusShow() {
  const words = [];
  if (!croc.complete) words.push("The program was ended before its recording was complete: what had been written is shown.");
  if (croc.damaged) words.push(countText(croc.damaged) + " parts of this file cannot be read and are left out.");
  if (croc.extra.sum.length) words.push("Of so many records the timeline shows the longest ones of each rank; tables count all of them.");
  if (!events.count) words.push("Nothing was recorded.");
  $("status").textContent = words.join(" ");
  $("status").hidden = !words.length;
}

function navShow() {
  const sections = [...document.querySelectorAll("main section")].filter((s) => !s.hidden);
  $("nav").replaceChildren(...sections.map((s) => make("a", {href: "#" + s.id}, s.querySelector("h2").textContent)));
}

async function main() {
  const began = performance.now();
  await dataRead((part) => { $("status").textContent = "Reading the recording: " + Math.round(part * 100) + "\u202f%"; });
  croc.read_ms = performance.now() - began;
  tracksMake();
  tracks.byNumber = [];
  for (const track of tracks) tracks.byNumber[track.number] = track;
  croc.processes = new Set(tracks.map((t) => t.process).filter(Boolean)).size;
  headShow();
  if (events.count) {
    $("timeline").hidden = false;
    layoutMake();
    sizeRead();
    controlsFollow();
    foundShow();
    showAll();
  }
  for (const show of [ranksShow, factsShow, kernelsShow, callsShow, copiesShow, hipEventsShow, countersShow, occupancyShow, rooflineShow, memoryShow, deviceShow]) show();
  statusShow();
  navShow();
  croc.load_ms = performance.now() - began;
  croc.ready = true;
  document.documentElement.dataset.ready = "1";
}

document.addEventListener("DOMContentLoaded", () => main().catch((error) => {
  $("status").textContent = "This page could not draw itself: " + error;
  croc.error = String(error && error.stack || error);
}));
