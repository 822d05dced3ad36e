import { z } from "zod";

export type JsonSchema = Record<string, unknown>;

/** JSON Schemas of zod's for one document: what has a name of its own is described once, under `components`. */
export class Schemas {
  readonly components: Record<string, JsonSchema> = {};

  /** @param side `input`: what may be sent, `output`: what comes back */
  of(schema: z.ZodType, side: "input" | "output"): JsonSchema {
    const {
      $defs = {},
      $schema: _,
      ...own
    } = z.toJSONSchema(schema, {
      io: side,
      unrepresentable: "any",
      override: ({ zodSchema, jsonSchema }) => {
        // Dates leave as ISO 8601, whatever the surface's JSON is made by.
        if (zodSchema._zod.def.type === "date")
          Object.assign(jsonSchema, { type: "string", format: "date-time" });
        // The bounds of a double say nothing to a reader.
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
        // Spectral and Prism do not know it as a schema; `maxItems` says the same.
        if (jsonSchema.prefixItems && (jsonSchema.items as unknown) === false) delete jsonSchema.items;
        delete jsonSchema.id;
      },
    }) as JsonSchema & { $defs?: Record<string, JsonSchema> };
    for (const [name, definition] of Object.entries($defs)) this.components[name] = relinked(definition);
    return relinked(own);
  }
}

function relinked(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'));
}
