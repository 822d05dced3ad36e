import type { Finding, State } from "../../doctor/finding.ts";
import { printable, style, table } from "./table.ts";

export function doctorText(findings: readonly Finding[]): string {
  const overview = table(
    ["", "check", "result"],
    findings.map(({ check, state, detail }) => [mark(state), check, printable(detail, 160)]),
  );
  const todo = findings.filter(({ remedy }) => remedy !== null);
  if (todo.length === 0) return `${overview}\n\nNothing to do.`;
  const list = todo.map(({ check, remedy }) => `  ${style("bold", check)}: ${printable(remedy ?? "", 500)}`);
  return `${overview}\n\nTo do:\n${list.join("\n")}`;
}

function mark(state: State): string {
  switch (state) {
    case "good":
      return style("green", "ok");
    case "warning":
      return style("yellow", "warning");
    case "broken":
      return style("red", "broken");
    case "skipped":
      return style("dim", "-");
    default:
      return state satisfies never;
  }
}
