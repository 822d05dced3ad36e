type JsonObject = Readonly<Record<string, unknown>>;

/** The former values of what has changed: of objects only the changed fields, of lists the whole list. */
export function previousAttributes(before: object, after: object): object {
  return changedFields(before as JsonObject, after as JsonObject);
}

function changedFields(before: JsonObject, after: JsonObject): JsonObject {
  const changed = Object.keys({ ...before, ...after }).filter(
    (key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]),
  );
  return Object.fromEntries(changed.map((key) => [key, formerValue(before[key], after[key])]));
}

function formerValue(before: unknown, after: unknown): unknown {
  if (isObject(before) && isObject(after)) return changedFields(before, after);
  return before ?? null;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
