import { editDistance } from "../config/edit-distance.ts";
import { Variables } from "../config/variables.ts";
import { type Finding, warning } from "./finding.ts";

const KNOWN = Object.keys(Variables.shape);
/** Of a name without underscores. Shorter ones resemble those of other programs: APP_URL and API_URL. */
const MIN_LENGTH = 7;
/** Of so many characters one may be wrong: three in TRUSTED_PROXY, but BASE_URL is not AI_BASE_URL. */
const CHARACTERS_PER_SLIP = 4.6;
const MAX_SLIPS = 3;

/** The start ignores a misspelt variable (but for `RATE_LIMIT_*`): its default silently stays in force. */
export function checkVariableNames(variables: Record<string, string | undefined>): Finding[] {
  const isSet = (name: string) => (variables[name] ?? "").trim() !== "";
  return Object.keys(variables).flatMap((name) => {
    if (!isSet(name) || KNOWN.includes(name)) return [];
    const [meant] = KNOWN.map((known) => ({ known, slips: slipsBetween(name, known) }))
      .filter(({ known, slips }) => slips <= allowedSlips(known))
      .toSorted((a, b) => a.slips - b.slips)
      .map(({ known }) => known);
    if (meant === undefined || isSet(meant)) return [];
    const detail = `${name} is not a variable of Tollgate, and ${meant} is not set`;
    return [warning("variables", detail, `Call it ${meant}, if that is meant.`)];
  });
}

function allowedSlips(known: string): number {
  const { length } = withoutUnderscores(known);
  return length < MIN_LENGTH ? -1 : Math.min(MAX_SLIPS, Math.floor(length / CHARACTERS_PER_SLIP));
}

function slipsBetween(name: string, known: string): number {
  return editDistance(withoutUnderscores(name), withoutUnderscores(known));
}

function withoutUnderscores(name: string): string {
  return name.replaceAll("_", "").toUpperCase();
}
