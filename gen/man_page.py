"""A manual page: a text of ours, and the options that --help prints, from the same lists.

usage: man_page.py ROWS_PROGRAM TEMPLATE VERSION OUTPUT

ROWS_PROGRAM prints a row for each option, ended by NUL: section, name, letter, value, default,
environment variable, help, between tabs. In the template a line @SECTION@ stands for the options of a
section, @ENVIRONMENT@ for their variables, @VERSION@ for the version, @COMMANDS@ for commands: rows
of the section COMMAND, whose value is what follows the options, and those of "COMMAND name", their options.
"""
import subprocess
import sys
import textwrap

COLUMNS = ("section", "name", "letter", "value", "default", "variable", "help")


def rows_read(program):
    text = subprocess.run([program], check=True, capture_output=True, encoding="utf-8").stdout
    rows = []
    for line in text.split("\0")[:-1]:
        fields = line.split("\t")
        if len(fields) != len(COLUMNS):
            sys.exit(f"man_page: {program}: {len(fields)} fields in {line!r}")
        rows.append(dict(zip(COLUMNS, fields)))
    return rows


def prose(text):
    """Text as roff takes it: short lines none of which is a request, quotes as they were typed."""
    text = text.replace("\\", "\\e").replace("'", "\\(aq").replace("--", "\\-\\-")
    lines = textwrap.wrap(text, 78, break_long_words=False, break_on_hyphens=False)
    return "\n".join("\\&" + line if line.startswith(".") else line for line in lines)


def literal(text):
    return "\\fB" + text.replace("\\", "\\e").replace("-", "\\-") + "\\fR"


def spellings(row):
    """Every way to write an option: with its letter, in full, and switched off."""
    name = row["name"]
    names = [name]
    if name.startswith("[no-]"):
        name = name.removeprefix("[no-]")
        names = [name, "no-" + name]
    words = ["-" + row["letter"]] if row["letter"] else []
    words += ["--" + name for name in names]
    value = " \\fI" + row["value"].replace("-", "\\-").replace("|", "|\\:") + "\\fR" if row["value"] else ""
    return ", ".join(literal(word) + value for word in words)


def option(row):
    default = f" (default: {row['default']})" if row["default"] else ""
    return f".TP\n{spellings(row)}\n{prose(row['help'] + default)}\n"


def variable(row):
    name = row["name"].removeprefix("[no-]")
    what = prose(row["value"].replace("|", " | ")) if row["value"] else "1 or 0"
    return f".TP\n{literal(row['variable'])}\n{what}: as {literal('--' + name)}\n"


def command(row, rows):
    options = [other for other in rows if other["section"] == "COMMAND " + row["name"]]
    operands = " \\fR" + row["value"].replace("-", "\\-").replace("|", "|\\:") + "\\fR" if row["value"] else ""
    words = " [\\fIoptions\\fR]" if options else ""
    made = f".TP\n{literal(row['name'])}{words}{operands}\n{prose(row['help'])}\n"
    return made + (".RS\n" + "".join(option(other) for other in options) + ".RE\n" if options else "")


def expand(line, rows, version):
    word = line.strip()
    if not (word.startswith("@") and word.endswith("@")):
        return line.replace("@VERSION@", version)
    if word == "@ENVIRONMENT@":
        made = [variable(row) for row in rows if row["variable"]]
    elif word == "@COMMANDS@":
        made = [command(row, rows) for row in rows if row["section"] == "COMMAND"]
    else:
        made = [option(row) for row in rows if "@" + row["section"] + "@" == word]
    if not made:
        sys.exit(f"man_page: nothing is known of {word}")
    return "".join(made)


def main():
    program, template, version, output = sys.argv[1:]
    rows = rows_read(program)
    with open(template, encoding="utf-8") as file:
        lines = file.readlines()
    sections = {"@" + ("COMMANDS" if row["section"].startswith("COMMAND") else row["section"]) + "@" for row in rows}
    missing = sections - {line.strip() for line in lines}
    if missing:
        sys.exit(f"man_page: {template} has no line {', '.join(sorted(missing))}")
    text = "".join(expand(line, rows, version) for line in lines)
    with open(output, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
