import { VARIABLE_DESCRIPTIONS } from "../../src/config/variable-descriptions.ts";
import { Variables } from "../../src/config/variables.ts";
import { code, table } from "./table.ts";

/** Described by one row for all scopes. */
const RATE_LIMIT = "RATE_LIMIT_<SCOPE>";

/** @throws Error for a variable without a description, and for a description without a variable */
export function variableRows(): string {
  const described = VARIABLE_DESCRIPTIONS.flatMap(({ names }) => names);
  const known = [...new Set(Object.keys(Variables.shape).map(describedAs))];
  const missing = known.filter((name) => !described.includes(name));
  const unknown = described.filter((name) => !known.includes(name));
  if (missing.length + unknown.length > 0) {
    const problem = `src/config/variable-descriptions.ts lacks [${missing}] and has unknown [${unknown}]`;
    throw new Error(problem);
  }
  return table(
    ["variable", "unset", "meaning"],
    VARIABLE_DESCRIPTIONS.map(({ names, unset, meaning }) => [
      `${names.map(code).join(", ")}${names[0]?.startsWith("PROVIDER_A_") ? " (B, C)" : ""}`,
      unset,
      meaning,
    ]),
  );
}

function describedAs(name: string): string {
  if (name.startsWith("RATE_LIMIT_") && name !== "RATE_LIMIT_MEMORY_KEYS") return RATE_LIMIT;
  return name.replace(/^PROVIDER_[BC]_/, "PROVIDER_A_");
}
