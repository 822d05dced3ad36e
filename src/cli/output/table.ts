import { styleText } from "node:util";
import Table from "cli-table3";

const NO_LINES = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: "   ",
};

export type Alignment = "left" | "right";

/** A table with aligned columns, without lines. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  alignments: readonly Alignment[] = [],
): string {
  const drawn = new Table({
    head: head.map((title) => style("bold", title)),
    chars: NO_LINES,
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
    colAligns: head.map((_, column) => alignments[column] ?? "left"),
  });
  drawn.push(...rows.map((row) => [...row]));
  return withoutTrailingBlanks(drawn.toString());
}

/** Names with their values, one per line. */
export function facts(pairs: readonly (readonly [string, string])[], values: Alignment = "left"): string {
  const drawn = new Table({
    chars: NO_LINES,
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
    colAligns: ["left", values],
  });
  drawn.push(...pairs.map(([name, value]) => [style("dim", name), value]));
  return withoutTrailingBlanks(drawn.toString());
}

/** In colour where stdout is a terminal that wants it. */
export function style(format: Parameters<typeof styleText>[0], text: string): string {
  return styleText(format, text, { stream: process.stdout });
}

/** Text from outside as one line, without a terminal's control characters. */
export function printable(text: string, maxCharacters = 255): string {
  const line = text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/gu, "·");
  const characters = [...line];
  return characters.length > maxCharacters ? `${characters.slice(0, maxCharacters - 1).join("")}…` : line;
}

function withoutTrailingBlanks(text: string): string {
  return text
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}
