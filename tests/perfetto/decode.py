"""Reads a Perfetto trace through protoc and puts its slices together as Perfetto does."""
import re
import subprocess

TOKEN = re.compile(r'\s*(?:(\w+)\s*(?:(\{)|:\s*("(?:[^"\\]|\\.)*"|[^\s{}]+))|(\}))')


def unquote(text):
    """A protobuf text literal: C escapes over bytes."""
    raw = text[1:-1].encode().decode("unicode_escape").encode("latin-1")
    return raw.decode("utf-8", "replace")


def number(text):
    return int(text, 0) if re.fullmatch(r"-?\d+|0x[0-9a-f]+", text) else float(text)


def parse(text):
    """Protobuf text format -> nested dictionaries; every field is a list of values."""
    root = {}
    stack = [root]
    position = 0
    while True:
        match = TOKEN.match(text, position)
        if not match:
            break
        position = match.end()
        name, opens, value, closes = match.groups()
        if closes:
            stack.pop()
        elif opens:
            child = {}
            stack[-1].setdefault(name, []).append(child)
            stack.append(child)
        else:
            value = unquote(value) if value[0] == '"' else \
                number(value) if re.match(r"-?\d|0x", value) else value
            stack[-1].setdefault(name, []).append(value)
    rest = text[position:].strip()
    assert not rest and len(stack) == 1, "not protobuf text: %r" % rest[:80]
    return root


def one(message, field, default=None):
    values = message.get(field, [])
    assert len(values) <= 1, (field, values)
    return values[0] if values else default


class Trace:
    """slices: dicts of track, name, category, begin, end, depth, parent (name), notes, flow, ends.
    values: (name of the counter's track, time, value) in the order of time.
    tracks: uuid -> dict of name, parent, pid, tid. flows: id -> names in the order of time."""

    def __init__(self, path, proto):
        with open(path, "rb") as f:
            text = subprocess.run(
                ["protoc", "--proto_path=" + proto.rsplit("/", 1)[0],
                 "--decode=perfetto.protos.Trace", proto],
                stdin=f, capture_output=True, text=True, check=True).stdout
        unknown = re.search(r"^\s*\d+:? .*", text, re.M)
        assert not unknown, "a field that trace.proto does not name: %r" % unknown.group(0)
        self.tracks, self.slices, self.instants, self.unfinished = {}, [], [], []
        self.values = []
        self.texts = {"event_names": {}, "event_categories": {}, "debug_annotation_names": {}}
        events = []
        packets = parse(text).get("packet", [])
        assert one(packets[0], "sequence_flags") == 1 and one(packets[0], "first_packet_on_sequence")
        for order, packet in enumerate(packets):
            assert one(packet, "trusted_packet_sequence_id") == 1
            if "track_descriptor" in packet:
                self._track(one(packet, "track_descriptor"))
            if "interned_data" in packet:
                self._texts(one(packet, "interned_data"))
            if "track_event" in packet:
                events.append((one(packet, "timestamp"), order, self._event(packet)))
        self._nest(sorted(events, key=lambda e: e[:2]))
        self.flows = {}
        for s in sorted(self.slices, key=lambda s: s["begin"]):
            if s["flow"] is not None:
                self.flows.setdefault(s["flow"], []).append(s["name"])

    def _track(self, track):
        process, thread = one(track, "process", {}), one(track, "thread", {})
        counter = one(track, "counter")
        uuid = one(track, "uuid")
        if uuid in self.tracks and "process_labels" in process:
            assert self.tracks[uuid]["pid"] == one(process, "pid")
            self.tracks[uuid]["labels"] = process["process_labels"]
            return
        assert uuid and uuid not in self.tracks
        parent = one(track, "parent_uuid")
        assert parent is None or parent in self.tracks
        self.tracks[uuid] = {
            "name": one(track, "name") or one(thread, "thread_name") or
            one(process, "process_name"),
            "parent": parent, "pid": one(process, "pid") or one(thread, "pid"),
            "tid": one(thread, "tid"), "is_process": "process" in track,
            "counter": counter is not None, "unit": one(counter or {}, "unit_name")}

    def _texts(self, data):
        for kind, texts in self.texts.items():
            for entry in data.get(kind, []):
                iid = one(entry, "iid")
                assert iid and iid not in texts
                texts[iid] = one(entry, "name", "")

    def _event(self, packet):
        event = one(packet, "track_event")
        assert one(event, "track_uuid") in self.tracks
        name = one(event, "name_iid")
        category = one(event, "category_iids")
        notes = {self.texts["debug_annotation_names"][one(n, "name_iid")]:
                 one(n, "string_value", one(n, "uint_value"))
                 for n in event.get("debug_annotations", [])}
        flow = one(event, "flow_ids")
        last = one(event, "terminating_flow_ids")
        return {"type": one(event, "type"), "track": one(event, "track_uuid"),
                "name": self.texts["event_names"][name] if name else None,
                "category": self.texts["event_categories"][category] if category else None,
                "value": one(event, "double_counter_value"), "notes": notes, "flow": flow if flow is not None else last,
                "ends": last is not None}

    def _nest(self, events):
        stacks = {}
        for time, _, event in events:
            stack = stacks.setdefault(event["track"], [])
            kind = event.pop("type")
            assert self.tracks[event["track"]]["counter"] == (kind == "TYPE_COUNTER"), event
            if kind == "TYPE_COUNTER":
                self.values.append((self.tracks[event["track"]]["name"], time, float(event["value"])))
                continue
            if kind == "TYPE_SLICE_END":
                done = stack.pop()
                done["end"] = time
                self.slices.append(done)
                continue
            event.update(begin=time, end=None, depth=len(stack),
                         parent=stack[-1]["name"] if stack else None)
            if kind == "TYPE_SLICE_BEGIN":
                stack.append(event)
            else:
                assert kind == "TYPE_INSTANT"
                self.instants.append(event)
        self.unfinished = [s for stack in stacks.values() for s in stack]
