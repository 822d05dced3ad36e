import superjson from "superjson";
import { isoText } from "../../domain/iso-text.ts";

/**
 * Returns what `JSON.stringify(superjson.serialize(value))` does, at a quarter of its cost if dates are the
 * only values that JSON lacks, as in nearly every response.
 */
export function superJsonText(value: unknown): string {
  const copying: Copying = { dates: [], copied: new Set(), isComplete: true };
  const json = copyOf(value, "", copying);
  if (!copying.isComplete) return JSON.stringify(superjson.serialize(value));
  const text = JSON.stringify(json);
  const { dates } = copying;
  return dates.length === 0 ? `{"json":${text}}` : `{"json":${text},"meta":{"values":{${dates}},"v":1}}`;
}

type Copying = {
  /** Their paths, as members of superjson's annotations. */
  dates: string[];
  copied: Set<object>;
  /** False when something is left to superjson. */
  isComplete: boolean;
};

/** With dates as text. @param prefix of the paths below the value */
function copyOf(value: unknown, prefix: string, copying: Copying): unknown {
  if (typeof value !== "object") {
    if (!isScalar(value)) copying.isComplete = false;
    return value;
  }
  if (value === null) return null;
  // superjson also records objects that occur twice.
  if (copying.copied.has(value)) copying.isComplete = false;
  if (!copying.isComplete) return null;
  copying.copied.add(value);
  if (Array.isArray(value)) {
    const list = new Array(value.length);
    for (let index = 0; index < list.length; index++)
      list[index] = copyOf(value[index], `${prefix}${index}.`, copying);
    return list;
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype === Object.prototype) return copyOfObject(value, prefix, copying);
  if (prototype === Date.prototype && prefix !== "" && !Number.isNaN((value as Date).getTime())) {
    copying.dates.push(`${JSON.stringify(prefix.slice(0, -1))}:["Date"]`);
    return isoText(value as Date);
  }
  copying.isComplete = false;
  return null;
}

function copyOfObject(object: object, prefix: string, copying: Copying): object {
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(object)) {
    if (REFUSED.has(name)) copying.isComplete = false;
    const path = name.includes(".") || name.includes("\\") ? escaped(name) : name;
    copy[name] = copyOf((object as Record<string, unknown>)[name], `${prefix}${path}.`, copying);
  }
  return copy;
}

/** Whether JSON has such values. */
function isScalar(value: unknown): boolean {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0);
    default:
      return false;
  }
}

/** superjson throws. */
const REFUSED = new Set(["__proto__", "constructor", "prototype"]);

function escaped(name: string): string {
  return name.replaceAll("\\", "\\\\").replaceAll(".", "\\.");
}
