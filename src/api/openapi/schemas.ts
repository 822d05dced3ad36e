import { z } from "zod";

export type JsonSchema = Record<string, unknown>;

/**
 * Converts zod schemas to JSON Schema for one document; named schemas are described once, under `components`.
 */
export class Schemas {
  readonly components: Record<string, JsonSchema> = {};

  /** @param side `input`: request schemas, `output`: response schemas */
  of(schema: z.ZodType, side: "input" | "output"): JsonSchema {
    const {
      $defs = {},
      $schema: _,
      ...own
    } = z.toJSONSchema(schema, {
      io: side,
      unrepresentable: "any",
      override: ({ zodSchema, jsonSchema }) => {
        // Dates are serialized as ISO 8601 on every surface.
        if (zodSchema._zod.def.type === "date")
          Object.assign(jsonSchema, { type: "string", format: "date-time" });
        // The bounds of a double mean nothing to a reader.
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
        // Spectral and Prism want a schema for all items, and orval's types do not compile with one beside a
        // tuple.
        if (jsonSchema.prefixItems && (jsonSchema.items as unknown) === false)
          Object.assign(jsonSchema, { items: anyOfThem(jsonSchema.prefixItems), prefixItems: undefined });
        delete jsonSchema.id;
      },
    }) as JsonSchema & { $defs?: Record<string, JsonSchema> };
    for (const [name, definition] of Object.entries($defs)) this.components[name] = relinked(definition);
    return relinked(own);
  }
}

/** One schema for all entries of a tuple. */
function anyOfThem(entries: readonly unknown[]): unknown {
  const different = [...new Map(entries.map((entry) => [JSON.stringify(entry), entry])).values()];
  return different.length === 1 ? different[0] : { anyOf: different };
}

function relinked(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'));
}
