#!/usr/bin/env python3
"""Makes the table of status names and messages from the status enum's own comments.

    status_texts.py include/rocprofiler-sdk/fwd.h OUT.inc

So the header, the name and the message cannot disagree. A status without a comment is an error.
"""
import re
import sys

from text_pool import TextPool


def entries(text):
    body = re.search(r"typedef enum rocprofiler_status_t \{(.*?)\} rocprofiler_status_t;", text,
                     re.S)[1]
    for name in re.findall(r"^\s*(ROCPROFILER_STATUS_\w+)", body, re.M):
        if name.endswith("_LAST"):
            continue
        comment = re.search(name + r"(?: = 0)?,\s*/\*\*<(.*?)\*/", body, re.S)
        if not comment:
            sys.exit("status_texts: %s has no text" % name)
        yield name, " ".join(comment[1].split())


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as f:
        rows = list(entries(f.read()))
    pool = TextPool()
    lines = ["    [%s] = {%d, %d}," % (name, pool.place(name), pool.place(t)) for name, t in rows]
    with open(sys.argv[2], "w", encoding="utf-8") as f:
        f.write("/* Made by gen/status_texts.py from rocprofiler-sdk/fwd.h. */\n")
        f.write(pool.array("static const char texts[]"))
        f.write("/* Places in `texts`. */\nstatic const struct {\n    uint16_t name, text;\n"
                "} statuses[] = {\n%s\n};\n" % "\n".join(lines))


if __name__ == "__main__":
    main()
