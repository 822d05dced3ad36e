import type { z } from "zod";

/** Mistakes in a file such as `plans.config.ts`, a line for each: the file, the place, and what is wrong. */
export class DefinitionError extends Error {
  override readonly name = "DefinitionError";
}

/** Checks what a file such as `plans.config.ts` defines. @throws DefinitionError */
export function parseDefinitions<Schema extends z.ZodType>(
  file: string,
  schema: Schema,
  definitions: z.input<Schema>,
): z.output<Schema> {
  const { data, error } = schema.safeParse(definitions);
  if (!error) return data;
  const lines = error.issues.map(({ path, message }) =>
    [file, ...(path.length > 0 ? [placeOf(definitions, path)] : []), message].join(": "),
  );
  const mistakes = new DefinitionError(lines.join("\n"));
  // Node prints it, and where we have found the mistakes is of no use.
  mistakes.stack = mistakes.message;
  throw mistakes;
}

/** What has an id is named by it: `pro.features.projects.value`. */
function placeOf(definitions: unknown, path: readonly PropertyKey[]): string {
  let at = definitions as Record<PropertyKey, unknown> | undefined;
  const names = path.map((part) => {
    at = at?.[part] as typeof at;
    return typeof at?.id === "string" ? at.id : String(part);
  });
  return names.join(".");
}
