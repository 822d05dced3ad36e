import { lexicographicSortSchema, printSchema } from "graphql";
import { builder } from "./builder.ts";
import "./queries.ts";
import "./mutations.ts";

export const schema = builder.toSchema();

/** What `schema.graphql` holds. */
export function printedSchema(): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`;
}
